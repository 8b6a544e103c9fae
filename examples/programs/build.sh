#!/bin/sh
# Builds the programs of this folder: all of them, or those that are named. Each is built by the one line that is shown.
#
#     sh examples/programs/build.sh [NAME...]
#
# Debian 12: apt-get install rustc libstd-rust-dev-wasm32 clang-14 lld-14 wasi-libc libclang-rt-14-dev-wasm32. RUSTC names
# another rustc; one that rustup has brought needs `rustup target add wasm32-wasip1` and TARGET=wasm32-wasip1.
set -eu

cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- pi words lines
RUSTC=${RUSTC:-rustc}
TARGET=${TARGET:-wasm32-wasi}

rust() {
    set -x
    $RUSTC --edition 2021 --target "$TARGET" -C opt-level=s -C lto -C panic=abort -C strip=symbols -o "$1.wasm" "$1.rs"
}

c() {
    set -x
    clang-14 --target=wasm32-wasi -Os -Wall -Wextra -Wl,--strip-all -o "$1.wasm" "$1.c"
}

for name in "$@"; do
    if [ -e "$name.rs" ]; then (rust "$name"); else (c "$name"); fi
    chmod 644 "$name.wasm"
done
