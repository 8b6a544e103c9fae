#!/bin/sh
# Builds the guests of this folder: all of them, or those that are named. Each is built by the one line that is shown.
#
#     sh examples/guests/build.sh [NAME...]
#
# Debian 12: apt-get install rustc libstd-rust-dev-wasm32 clang-14 lld-14. With these the result is the same to the
# byte. RUSTC names another rustc; one that rustup has brought needs `rustup target add wasm32-unknown-unknown`.
set -eu

cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- grayscale life mandelbrot maximum neighbours parallel_filter parallel_map parallel_reduce \
    particles two_phase_sum who
RUSTC=${RUSTC:-rustc}

rust() {
    set -x
    $RUSTC --edition 2021 --crate-type cdylib --target wasm32-unknown-unknown -C opt-level=s -C lto -C panic=abort \
        -C strip=symbols -C link-arg=-zstack-size=4096 -o "$1.wasm" "$1.rs"
}

c() {
    set -x
    clang-14 --target=wasm32 -O2 -ffreestanding -ffp-contract=off -Wall -Wextra -c -o "$1.o" "$1.c" &&
        wasm-ld-14 --no-entry --strip-all --stack-first -z stack-size=4096 -o "$1.wasm" "$1.o" && rm "$1.o"
}

for name in "$@"; do
    if [ -e "$name.rs" ]; then (rust "$name"); else (c "$name"); fi
    chmod 644 "$name.wasm"
done
