// What nbody.c does, written by hand for a GPU: a thread for each seed, which has its six bodies in registers.
//
// Sums and products stand in the order of nbody.c and are not to be fused (-fmad=false): results must be the same to
// the bit.
#include "guest.cuh"

enum { BODIES = 6 };

struct Body {
  f64 x, y, z, vx, vy, vz, mass;
};

__device__ __forceinline__ f64 fraction(Numbers &numbers) { return numbers.next() / 4294967296.0; }

// One heavy body in the middle; the others circle it, each in its own direction.
__device__ __forceinline__ void place(Body (&bodies)[BODIES], i32 seed) {
  Numbers numbers(seed);
  bodies[0] = {0, 0, 0, 0, 0, 0, 40};
#pragma unroll
  for (int i = 1; i < BODIES; i++) {
    Body &body = bodies[i];
    f64 x = fraction(numbers) - 0.5;
    f64 y = fraction(numbers) + 0.25;
    f64 away = 0.6 + 1.1 * i, scale = away / sqrt(x * x + y * y), speed = sqrt(bodies[0].mass / away);
    body.x = x * scale, body.y = y * scale, body.z = (fraction(numbers) - 0.5) * 0.25;
    body.vx = -body.y / away * speed, body.vy = body.x / away * speed, body.vz = 0;
    body.mass = 0.005 + 0.05 * fraction(numbers);
  }
}

__device__ __forceinline__ void advance(Body (&bodies)[BODIES], f64 time) {
#pragma unroll
  for (int i = 0; i < BODIES; i++) {
    Body &a = bodies[i];
#pragma unroll
    for (int j = i + 1; j < BODIES; j++) {
      Body &b = bodies[j];
      f64 x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
      f64 square = x * x + y * y + z * z;
      f64 pull = time / (square * sqrt(square));
      a.vx -= x * b.mass * pull, a.vy -= y * b.mass * pull, a.vz -= z * b.mass * pull;
      b.vx += x * a.mass * pull, b.vy += y * a.mass * pull, b.vz += z * a.mass * pull;
    }
  }
#pragma unroll
  for (int i = 0; i < BODIES; i++) {
    Body &body = bodies[i];
    body.x += time * body.vx, body.y += time * body.vy, body.z += time * body.vz;
  }
}

__device__ __forceinline__ f64 energy(const Body (&bodies)[BODIES]) {
  f64 sum = 0;
#pragma unroll
  for (int i = 0; i < BODIES; i++) {
    const Body &a = bodies[i];
    sum += 0.5 * a.mass * (a.vx * a.vx + a.vy * a.vy + a.vz * a.vz);
#pragma unroll
    for (int j = i + 1; j < BODIES; j++) {
      const Body &b = bodies[j];
      f64 x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
      sum -= a.mass * b.mass / sqrt(x * x + y * y + z * z);
    }
  }
  return sum;
}

extern "C" __global__ void __launch_bounds__(GROUP)
    run(const i32 *__restrict__ seeds, f64 *__restrict__ results, i32 rounds, u32 count) {
  u32 at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= count) return;

  Body bodies[BODIES];
  place(bodies, seeds[at]);
#pragma unroll 1
  for (i32 round = 0; round < rounds; round++) advance(bodies, 0.001);
  results[at] = energy(bodies);
}
