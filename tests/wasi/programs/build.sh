#!/bin/sh
# Builds the programs of this folder: all of them, or those that are named.
#
#     sh tests/wasi/programs/build.sh [NAME...]
#
# Debian 12: apt-get install clang-14 lld-14 wasi-libc libclang-rt-14-dev-wasm32 rustc libstd-rust-dev-wasm32 wabt.
# With these the result is the same to the byte. CLANG, WASM_LD and RUSTC name others. clang links without -O, for else
# it would run wasm-opt where there is one.
set -eu

cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- $(ls ./*.rs ./*.c | sed 's/^..//; s/\.[a-z]*$//')
clang=${CLANG:-clang-14}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for name in "$@"; do
    case $name in
    threads_*)
        $clang --target=wasm32 -std=c11 -Os -ffreestanding -matomics -mbulk-memory -Wall -Wextra -Wno-unused-function \
            -c -o "$work/$name.o" "$name.c"
        $clang --target=wasm32 -matomics -c -o "$work/threads_start.o" threads_start.s
        "${WASM_LD:-wasm-ld-14}" --strip-all --import-memory --shared-memory --max-memory=1048576 --stack-first \
            -z stack-size=8192 -o "$work/$name.wasm" "$work/$name.o" "$work/threads_start.o"
        # wasm-ld 14 cannot export a memory that it imports, which WASI needs
        wasm2wat --enable-threads "$work/$name.wasm" |
            sed '/(import "env" "memory"/s/$/ (export "memory" (memory 0))/' |
            wat2wasm --enable-threads -o "$name.wasm" -
        ;;
    *)
        if [ -e "$name.c" ]; then
            $clang --target=wasm32-wasi -std=gnu11 -Os -Wall -Wextra -c -o "$work/$name.o" "$name.c"
            $clang --target=wasm32-wasi -Wl,--strip-all -o "$name.wasm" "$work/$name.o"
        else
            "${RUSTC:-/usr/bin/rustc}" --edition 2021 --target wasm32-wasi -C opt-level=s -C lto -C codegen-units=1 \
                -C panic=abort -C strip=symbols -o "$name.wasm" "$name.rs"
        fi
        ;;
    esac
    chmod 644 "$name.wasm"
done
