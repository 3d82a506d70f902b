// The harmonic oscillator, explicit Euler; every sample has a stop time of its own.
#include "arms.hpp"
#include "euler.hpp"

template <class V, bool>
struct Spread : Euler<V> {
  using R = typename V::R;
  static constexpr int NP = 2, NQ = 2;
  static constexpr bool OWN_END = true;
  static INLINE void prepare(const R* p, const R* shared, R* q) {
    q[0] = shared[0] * p[0] * p[0];
    q[1] = p[1];
  }
};

ARM_TABLE(
    SCALAR(Spread), PLAIN(Spread), VEC(Spread, 1), VEC(Spread, 2), VEC(Spread, 4),
#ifdef __AVX512F__
    REFILL(Spread, 1, 8), REFILL(Spread, 2, 8), REFILL(Spread, 2, 16), REFILL(Spread, 4, 8),
    REFILL(Spread, 4, 16), REFILL(Spread, 4, 32), REFILL(Spread, 6, 16), REFILL(Spread, 6, 32),
    CHUNKFILL(Spread, 4, 16),
    LASTFILL(Spread, 4, 8), LASTFILL(Spread, 4, 16), LASTFILL(Spread, 6, 16), LASTFILL(Spread, 6, 32)
#else
    REFILL(Spread, 2, 16), CHUNKFILL(Spread, 3, 16),
    LASTFILL(Spread, 2, 8), LASTFILL(Spread, 3, 8), LASTFILL(Spread, 4, 8), LASTFILL(Spread, 3, 16),
    LASTFILL(Spread, 4, 16), LASTFILL(Spread, 4, 32)
#endif
)
