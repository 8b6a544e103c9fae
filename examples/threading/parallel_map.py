"""Parallel map: one thread per element, each reads its own input and writes its own output."""

import argparse

import numpy as np

import lanewise as lw
from lanewise.lang import Ptr, f32, kernel, thread_id


@kernel
def double(source: Ptr[f32], target: Ptr[f32]):
    i = thread_id()
    target[i] = source[i] * 2.0


def run(device: lw.Device, values: np.ndarray) -> np.ndarray:
    """Twice every value."""
    source = device.array(values, f32)
    target = device.empty(source.size, f32)
    double[source.size](source, target)
    return target.get()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda")
    parser.add_argument("--size", type=int, default=1_000_003)
    options = parser.parse_args()
    device = lw.device(options.device)
    values = np.random.default_rng(1).random(options.size, np.float32)
    same = np.array_equal(run(device, values), values * 2)
    print(f"doubled {options.size:,} values on {device}; {'equal to' if same else 'DIFFERENT FROM'} NumPy")
