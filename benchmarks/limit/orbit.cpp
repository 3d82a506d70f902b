// Two bodies, classical Runge-Kutta; every sample stops at the same t. shared: dt, end, mu, dt/2, dt/6.
#include "arms.hpp"
#include "elementary.hpp"

template <class V, bool FAST>
struct Orbit {
  using R = typename V::R;
  static constexpr int NS = 7, NP = 0, NQ = 0;
  static constexpr bool OWN_END = false;
  static INLINE void prepare(const R*, const R*, R*) {}

  static INLINE void acceleration(const R* r, R mu, R* a) {
    R k = -mu * inverse_cube<V, FAST>(fma(r[2], r[2], fma(r[0], r[0], r[1] * r[1])));
    for (int i = 0; i < 3; ++i) a[i] = k * r[i];
  }

  static INLINE void step(const R* s, const R*, const R* shared, R* next) {
    R dt = shared[0], mu = shared[2], half = shared[3], sixth = shared[4], two = V::set(2);
    R a[3], r[3], v[3], sum_v[3], sum_a[3];
    acceleration(s, mu, a);
    for (int i = 0; i < 3; ++i) {
      sum_v[i] = s[3 + i];
      sum_a[i] = a[i];
      r[i] = fma(half, s[3 + i], s[i]);
      v[i] = fma(half, a[i], s[3 + i]);
    }
    for (R h : {half, dt}) {
      acceleration(r, mu, a);
      for (int i = 0; i < 3; ++i) {
        sum_v[i] = fma(two, v[i], sum_v[i]);
        sum_a[i] = fma(two, a[i], sum_a[i]);
        r[i] = fma(h, v[i], s[i]);
        v[i] = fma(h, a[i], s[3 + i]);
      }
    }
    acceleration(r, mu, a);
    for (int i = 0; i < 3; ++i) {
      next[i] = fma(sixth, sum_v[i] + v[i], s[i]);
      next[3 + i] = fma(sixth, sum_a[i] + a[i], s[3 + i]);
    }
    next[6] = s[6] + dt;
  }
};

ARM_TABLE(
    SCALAR(Orbit), PLAIN(Orbit), VEC(Orbit, 1), VEC(Orbit, 2),
    FAST(Orbit, 1), FAST(Orbit, 2), FAST(Orbit, 3),
    CHUNK(Orbit, 2, 8), LAST(Orbit, 1, 8), LAST(Orbit, 2, 8), LAST(Orbit, 3, 8),
    FASTLAST(Orbit, 1, 8), FASTLAST(Orbit, 2, 8), FASTLAST(Orbit, 3, 8)
)
