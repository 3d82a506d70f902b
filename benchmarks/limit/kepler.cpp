// Mean places on an ellipse: Kepler's equation in each step, by Newton's method.
// inputs: motion, eccentricity, sqrt(1 - e^2). shared: dt, end, how small the last change is.
#include "arms.hpp"

template <class V, bool>
struct Kepler {
  using R = typename V::R;
  using M = typename V::M;
  static constexpr int NS = 3, NP = 3, NQ = 3;
  static constexpr bool OWN_END = false;
  static INLINE void prepare(const R* p, const R*, R* q) {
    for (int i = 0; i < 3; ++i) q[i] = p[i];
  }

  static INLINE void step(const R* s, const R* q, const R* shared, R* next) {
    R dt = shared[0], enough = shared[2], zero = V::set(0), one = V::set(1), e = q[1];
    R t = s[2] + dt, mean = q[0] * t;
    R anomaly = fma(e, V::sin(mean), mean);
    M more = V::less(enough, one + e);
    while (V::bits(more) != 0) {
      R change = (fnma(e, V::sin(anomaly), anomaly) - mean) / fnma(e, V::cos(anomaly), one);
      anomaly = V::select(more, anomaly - change, anomaly);
      R size = V::select(V::less(change, zero), -change, change);
      more = V::less(V::select(more, enough, one), V::select(more, size, zero));
    }
    next[0] = fma(dt, V::cos(anomaly) - e, s[0]);
    next[1] = fma(dt, q[2] * V::sin(anomaly), s[1]);
    next[2] = t;
  }
};

ARM_TABLE(
    SCALAR(Kepler), VEC(Kepler, 1), VEC(Kepler, 2), VEC(Kepler, 3), LAST(Kepler, 1, 8), LAST(Kepler, 2, 8)
)
