// Harmonic oscillator, explicit Euler; every sample stops at the same t.
#include "arms.hpp"
#include "euler.hpp"

template <class V, bool>
struct Oscillator : Euler<V> {
  using R = typename V::R;
  static constexpr int NP = 1, NQ = 1;
  static constexpr bool OWN_END = false;
  static INLINE void prepare(const R* p, const R* shared, R* q) { q[0] = shared[0] * p[0] * p[0]; }
};

ARM_TABLE(
    SCALAR(Oscillator), PLAIN(Oscillator),
    VEC(Oscillator, 1), VEC(Oscillator, 2), VEC(Oscillator, 4), VEC(Oscillator, 6), VEC(Oscillator, 8),
#ifdef __AVX512F__
    CHUNK(Oscillator, 4, 16), CHUNK(Oscillator, 6, 16),
    LAST(Oscillator, 4, 16), LAST(Oscillator, 6, 16), LAST(Oscillator, 6, 32), LAST(Oscillator, 8, 16)
#else
    CHUNK(Oscillator, 3, 16), CHUNK(Oscillator, 4, 16),
    LAST(Oscillator, 3, 16), LAST(Oscillator, 4, 16), LAST(Oscillator, 4, 32)
#endif
)
