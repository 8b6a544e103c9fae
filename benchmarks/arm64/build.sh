#!/bin/sh
# Builds AArch64 programs without a library into FOLDER: all of them, or those that are named.
#
#     sh benchmarks/arm64/build.sh FOLDER [NAME...]
#
# Needs Debian's gcc-aarch64-linux-gnu; CC names another compiler. Sources are here and in benchmarks/wasm.
set -eu

[ $# -gt 0 ] || { echo "usage: build.sh FOLDER [NAME...]" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- mix sha256 matrix heapsort records mandelbrot json lz
cd "$(dirname "$0")"
for name in "$@"; do
    source=$name.c
    [ -f "$source" ] || source=../wasm/$name.c
    "${CC:-aarch64-linux-gnu-gcc}" -std=gnu11 -O2 -static -nostdlib -ffreestanding -fno-stack-protector -fno-pie -no-pie \
        -fno-math-errno -ffp-contract=off -fno-tree-loop-distribute-patterns -Wl,--build-id=none -Wl,-z,max-page-size=4096 -s -I../wasm \
        -o "$folder/$name" start.c "$source"
done
