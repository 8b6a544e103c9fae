// Six bodies that attract each other, in f64: one round is one time step. `run` returns their energy.
#include "guest.h"

enum { BODIES = 6 };

struct body {
  f64 x, y, z, vx, vy, vz, mass;
};

static struct body bodies[BODIES];

static f64 next_fraction(void) { return (f64)next_number() / 4294967296.0; }

// One heavy body in the middle; the others circle it, each in its own direction.
static void place(void) {
  bodies[0] = (struct body){.mass = 40};
  for (int i = 1; i < BODIES; i++) {
    struct body *body = &bodies[i];
    f64 x = next_fraction() - 0.5, y = next_fraction() + 0.25, away = 0.6 + 1.1 * i;
    f64 scale = away / __builtin_sqrt(x * x + y * y), speed = __builtin_sqrt(bodies[0].mass / away);
    body->x = x * scale, body->y = y * scale, body->z = (next_fraction() - 0.5) * 0.25;
    body->vx = -body->y / away * speed, body->vy = body->x / away * speed, body->vz = 0;
    body->mass = 0.005 + 0.05 * next_fraction();
  }
}

static void advance(f64 time) {
  for (int i = 0; i < BODIES; i++) {
    struct body *a = &bodies[i];
    for (int j = i + 1; j < BODIES; j++) {
      struct body *b = &bodies[j];
      f64 x = a->x - b->x, y = a->y - b->y, z = a->z - b->z;
      f64 square = x * x + y * y + z * z;
      f64 pull = time / (square * __builtin_sqrt(square));
      a->vx -= x * b->mass * pull, a->vy -= y * b->mass * pull, a->vz -= z * b->mass * pull;
      b->vx += x * a->mass * pull, b->vy += y * a->mass * pull, b->vz += z * a->mass * pull;
    }
  }
  for (int i = 0; i < BODIES; i++) {
    struct body *body = &bodies[i];
    body->x += time * body->vx, body->y += time * body->vy, body->z += time * body->vz;
  }
}

static f64 energy(void) {
  f64 sum = 0;
  for (int i = 0; i < BODIES; i++) {
    const struct body *a = &bodies[i];
    sum += 0.5 * a->mass * (a->vx * a->vx + a->vy * a->vy + a->vz * a->vz);
    for (int j = i + 1; j < BODIES; j++) {
      const struct body *b = &bodies[j];
      f64 x = a->x - b->x, y = a->y - b->y, z = a->z - b->z;
      sum -= a->mass * b->mass / __builtin_sqrt(x * x + y * y + z * z);
    }
  }
  return sum;
}

f64 run(i32 rounds) {
  restart_numbers();
  place();
  for (i32 round = 0; round < rounds; round++) advance(0.001);
  return energy();
}
