// A damped oscillator, classical Runge-Kutta; t counts steps and every sample has its last one.
// shared: dt, unused, dt/2, dt/6.
#include "arms.hpp"

template <class V, bool>
struct Card {
  using R = typename V::R;
  static constexpr int NS = 3, NP = 3, NQ = 3;
  static constexpr bool OWN_END = true;
  static INLINE void prepare(const R* p, const R*, R* q) {
    q[0] = p[0] * p[0];
    q[1] = p[2];
    q[2] = (p[1] + p[1]) * p[0];
  }

  static INLINE void step(const R* s, const R* q, const R* shared, R* next) {
    R dt = shared[0], half = shared[2], sixth = shared[3], two = V::set(2);
    auto slope = [&](R x, R v) __attribute__((always_inline)) { return fms(-q[0], x, q[2] * v); };
    R a1 = slope(s[0], s[1]);
    R x2 = fma(half, s[1], s[0]), v2 = fma(half, a1, s[1]), a2 = slope(x2, v2);
    R x3 = fma(half, v2, s[0]), v3 = fma(half, a2, s[1]), a3 = slope(x3, v3);
    R x4 = fma(dt, v3, s[0]), v4 = fma(dt, a3, s[1]), a4 = slope(x4, v4);
    next[0] = fma(sixth, fma(two, v2 + v3, s[1]) + v4, s[0]);
    next[1] = fma(sixth, fma(two, a2 + a3, a1) + a4, s[1]);
    next[2] = s[2] + V::set(1);
  }
};

ARM_TABLE(
    SCALAR(Card), PLAIN(Card), VEC(Card, 1), VEC(Card, 2), VEC(Card, 3), VEC(Card, 4),
#ifdef __AVX512F__
    VEC(Card, 6), VEC(Card, 8), REFILL(Card, 1, 8), REFILL(Card, 2, 8), REFILL(Card, 2, 16), REFILL(Card, 3, 8),
    REFILL(Card, 3, 16), REFILL(Card, 4, 16), REFILL(Card, 4, 32), REFILL(Card, 6, 16),
    LAST(Card, 3, 16), LAST(Card, 4, 16),
    LASTFILL(Card, 3, 8), LASTFILL(Card, 3, 16), LASTFILL(Card, 4, 16)
#else
    REFILL(Card, 2, 16), CHUNK(Card, 3, 16), LAST(Card, 3, 16), LAST(Card, 4, 16),
    CHUNKFILL(Card, 3, 8), LASTFILL(Card, 3, 8), LASTFILL(Card, 4, 8), LASTFILL(Card, 3, 16), LASTFILL(Card, 4, 16)
#endif
)
