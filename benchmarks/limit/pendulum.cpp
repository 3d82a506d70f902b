// A damped, driven pendulum with one sin, exp and pow a step; every sample has its damping.
// shared: dt, end, drive, decay, the smallest speed squared, exponent.
#include "arms.hpp"
#include "elementary.hpp"

template <class V, bool FAST>
struct Pendulum {
  using R = typename V::R;
  static constexpr int NS = 3, NP = 1, NQ = 1;
  static constexpr bool OWN_END = false;
  static INLINE void prepare(const R* p, const R*, R* q) { q[0] = p[0]; }

  static INLINE void step(const R* s, const R* q, const R* shared, R* next) {
    R angle = s[0], speed = s[1], t = s[2], dt = shared[0];
    R drive = exponential<V, FAST>(-shared[3] * t);
    R drag = power<V, FAST>(fma(speed, speed, shared[4]), shared[5]);
    R a = fms(shared[2], drive, sine<V, FAST>(angle));
    a = fnma(q[0] * speed, drag, a);
    next[1] = fma(dt, a, speed);
    next[0] = fma(dt, next[1], angle);
    next[2] = t + dt;
  }
};

// Without FAST, sin, exp and pow are libmvec's, whose last bits are not those of libm's.
ARM_TABLE(
    SCALAR(Pendulum), PLAIN(Pendulum), VEC(Pendulum, 1), VEC(Pendulum, 2),
    FAST(Pendulum, 1), FAST(Pendulum, 2), FAST(Pendulum, 3), FAST(Pendulum, 4),
    LAST(Pendulum, 1, 16), FASTLAST(Pendulum, 1, 16), FASTLAST(Pendulum, 2, 16), FASTLAST(Pendulum, 3, 16)
)
