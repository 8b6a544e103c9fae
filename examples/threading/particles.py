"""Simulation: one thread per particle moves it under gravity inside a box; host and device share one structure."""

import argparse

import numpy as np

import lanewise as lw
from lanewise.lang import Ptr, f32, kernel, struct, thread_id, u32

STEP = 0.01
GRAVITY = -9.81
BOUNCE = 0.8


@struct
class Particle:
    """Where a particle is and how fast it moves; the floor and the walls are at 0 and 1."""

    x: f32
    y: f32
    vx: f32
    vy: f32


@kernel
def move(particles: Ptr[Particle], steps: u32):
    p = particles + thread_id()
    for _ in range(steps):
        p.vy += GRAVITY * STEP
        p.x += p.vx * STEP
        p.y += p.vy * STEP
        if p.x < 0.0 or p.x > 1.0:
            p.x = min(max(p.x, 0.0), 1.0)
            p.vx = -p.vx
        if p.y < 0.0:
            p.y = 0.0
            p.vy = -p.vy * BOUNCE


def run(device: lw.Device, start: np.ndarray, steps: int) -> np.ndarray:
    """The particles after some steps; `start` is an array of Particle.dtype."""
    particles = device.array(start, Particle)
    move[particles.size](particles, steps)
    return particles.get()


def scatter(count: int) -> np.ndarray:
    """Particles at random places in the box, with random speeds."""
    random = np.random.default_rng(1)
    particles = np.empty(count, Particle.dtype)
    for field, low, high in (("x", 0, 1), ("y", 0, 1), ("vx", -1, 1), ("vy", -1, 1)):
        particles[field] = random.uniform(low, high, count)
    return particles


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda")
    parser.add_argument("--size", type=int, default=100_003)
    parser.add_argument("--steps", type=int, default=100)
    options = parser.parse_args()
    device = lw.device(options.device)
    start = scatter(options.size)
    end = run(device, start, options.steps)
    print(f"moved {options.size:,} particles by {options.steps} steps on {device}")
    print(f"mean height {start['y'].mean():.3f} before, {end['y'].mean():.3f} after")
