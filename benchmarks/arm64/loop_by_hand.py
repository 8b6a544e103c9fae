"""The loop with loads and stores of `lanewise bench arm64`, in CUDA C++ that checks and counts nothing.

    python3 benchmarks/arm64/loop_by_hand.py

A round stands for the eight instructions that it has there. Needs CuPy and a GPU.
"""

import time

import cupy
import numpy as np

SOURCE = r"""
extern "C" __global__ void loop(unsigned long long* words, unsigned long long rounds, unsigned long long row,
                                unsigned long long mask, unsigned long long* out) {
  unsigned long long lane = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x, at = 0, seen = 0;
  words += lane;
  for (unsigned long long left = rounds; left; left--) {
    volatile unsigned long long* word = (unsigned long long*)((char*)words + at);
    unsigned long long value = *word + left;
    seen ^= value;
    *word = value;
    at = (at + row) & mask;
  }
  out[lane] = seen;
}
"""
INSTRUCTIONS, ROWS, GROUP, ROUNDS = 8, 8, 64, 20_000


def main() -> None:
    """The better of two runs for each number of lanes."""
    loop = cupy.RawKernel(SOURCE, "loop")
    for lanes in (65_536, 131_072, 262_144):
        row = 8 * lanes
        words, out = cupy.zeros(ROWS * lanes, cupy.uint64), cupy.zeros(lanes, cupy.uint64)
        given = (words, np.uint64(ROUNDS), np.uint64(row), np.uint64(ROWS * row - 1), out)
        taken = []
        for _ in range(2):
            cupy.cuda.Device().synchronize()
            started = time.perf_counter()
            loop((lanes // GROUP,), (GROUP,), given)
            cupy.cuda.Device().synchronize()
            taken.append(time.perf_counter() - started)
        rounds = ROUNDS * lanes / min(taken) / 1e12
        print(f"{lanes:>7,} lanes: {rounds * INSTRUCTIONS:.2f} T instr/s, {rounds * 8:.2f} TB/s stored")


if __name__ == "__main__":
    main()
