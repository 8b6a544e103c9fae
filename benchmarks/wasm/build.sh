#!/bin/sh
# Builds the guests into FOLDER: all of them, or those that are named.
#
#     sh benchmarks/wasm/build.sh FOLDER [NAME...]
#
# Needs clang and wasm-ld 14, rustc 1.63 with its wasm32-unknown-unknown library, and Python. CLANG, WASM_LD, RUSTC and
# PYTHON name others. Compiler and linker are called one by one: clang would run wasm-opt where there is one.
set -eu

[ $# -gt 0 ] || { echo "usage: build.sh FOLDER [NAME...]" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- blur dispatch editdist fib grow heapsort json lz mandelbrot mix nbody pbkdf2 phash pricing \
    regex scrypt sha256 ledger big
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# build_c NAME SOURCE LINKER_OPTION...
build_c() {
    name=$1 source=$2
    shift 2
    "${CLANG:-clang-14}" --target=wasm32 -std=c11 -O3 -ffreestanding -fno-math-errno -ffp-contract=off \
        -Wall -Wextra -I. -c -o "$work/$name.o" "$source"
    "${WASM_LD:-wasm-ld-14}" --no-entry --export=run --export=seed --stack-first -z stack-size=8192 "$@" \
        -o "$folder/$name.wasm" "$work/$name.o"
}

build_rust() {
    "${RUSTC:-rustc}" --edition 2021 --crate-type cdylib --target wasm32-unknown-unknown -C opt-level=z -C lto \
        -C codegen-units=1 -C panic=abort -C strip=symbols -C link-arg=-zstack-size=32768 -o "$folder/$1.wasm" "$1.rs"
}

for name in "$@"; do
    case $name in
    big) "${PYTHON:-python3}" big.py >"$work/big.c" && build_c big "$work/big.c" ;;
    ledger) build_rust ledger ;;
    grow) build_c grow grow.c --max-memory=524288 ;;
    scrypt) build_c scrypt scrypt.c --max-memory=196608 ;;
    *) build_c "$name" "$name.c" ;;
    esac
    chmod 644 "$folder/$name.wasm"
done
