// A fall through three layers of an atmosphere, each with a law of its own; every sample has its drag.
// shared: dt, end, g, the borders of the layers, lapse, exponent, scale.
#include "arms.hpp"

template <class V, bool>
struct Regimes {
  using R = typename V::R;
  using M = typename V::M;
  static constexpr int NS = 3, NP = 1, NQ = 1;
  static constexpr bool OWN_END = false;
  static INLINE void prepare(const R* p, const R*, R* q) { q[0] = p[0]; }

  // A law is computed only where some lane is in its layer.
  static INLINE void step(const R* s, const R* q, const R* shared, R* next) {
    R h = s[0], v = s[1], dt = shared[0], zero = V::set(0), one = V::set(1), density = zero;
    M low = V::less(h, shared[3]), below = V::less(h, shared[4]);
    if (V::bits(low) != V::bits(below)) {
      density = V::select(below, V::exp(-shared[7] * h), zero);
    }
    if (V::bits(low) != 0) {
      R base = V::select(low, fnma(shared[5], h, one), one);
      density = V::select(low, V::pow(base, shared[6]), density);
    }
    R speed = V::select(V::less(v, zero), -v, v);
    next[1] = fnma(dt, fma(q[0] * density * v, speed, shared[2]), v);
    next[0] = fma(dt, next[1], h);
    next[2] = s[2] + dt;
  }
};

ARM_TABLE(
    SCALAR(Regimes), VEC(Regimes, 1), VEC(Regimes, 2), VEC(Regimes, 3), LAST(Regimes, 1, 16), LAST(Regimes, 2, 16)
)
