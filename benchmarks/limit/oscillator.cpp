// Harmonic oscillator, explicit Euler; every sample stops at the same t.
#include "arms.hpp"

template <class V, bool>
struct Oscillator {
  using R = typename V::R;
  static constexpr int NS = 3, NP = 1, NQ = 1;
  static constexpr bool OWN_END = false;
  static INLINE void prepare(const R* p, const R* shared, R* q) { q[0] = shared[0] * p[0] * p[0]; }
  static INLINE void step(const R* s, const R* q, const R* shared, R* next) {
    next[0] = fma_of_loaded(shared[0], s[1], s[0]);
    next[1] = fnma_of_loaded(q[0], s[0], s[1]);
    next[2] = s[2] + shared[0];
  }
};

ARM_TABLE(
    SCALAR(Oscillator), PLAIN(Oscillator),
    VEC(Oscillator, 1), VEC(Oscillator, 2), VEC(Oscillator, 4), VEC(Oscillator, 6), VEC(Oscillator, 8),
#ifdef __AVX512F__
    CHUNK(Oscillator, 6, 16), LAST(Oscillator, 4, 16), LAST(Oscillator, 6, 16), LAST(Oscillator, 6, 32), LAST(Oscillator, 8, 16)
#else
    CHUNK(Oscillator, 3, 16), CHUNK(Oscillator, 4, 16), LAST(Oscillator, 3, 16), LAST(Oscillator, 4, 16), LAST(Oscillator, 4, 32)
#endif
)
