// One Euler step of the harmonic oscillator: x += dt * v, v -= c * x, t += dt.
#pragma once
#include "job.hpp"

// x + dt * v and v - c * x, both of the old x and v.
template <class R>
INLINE void exchange(const R& dt, const R& c, R& x, R& v) {
  R old = x;
  x = fma(dt, v, x);
  v = fnma(c, old, v);
}

#if NATIVE_REGISTERS == 16
// Four vectors fill the 16 registers if dt and c are read from memory (which is free) and x and v
// stay where they are. The compiler moves them about and spills one; its chain then waits for a
// store and a load, and the step takes 1.5 cycles a vector instead of 1.
#define EXCHANGE(R, SUFFIX)                                                                      \
  template <>                                                                                    \
  INLINE void exchange(const R& dt, const R& c, R& x, R& v) {                                    \
    R old;                                                                                       \
    asm("vmova" SUFFIX " %0, %2\n\tvfmadd231" SUFFIX " %3, %1, %0\n\tvfnmadd231" SUFFIX " %4, %2, %1" \
        : "+x"(x), "+x"(v), "=&x"(old) : "m"(dt), "m"(c));                                       \
  }
EXCHANGE(__m256d, "pd")
EXCHANGE(__m256, "ps")
#endif

template <class V>
struct Euler {
  using R = typename V::R;
  static constexpr int NS = 3;
  static INLINE void step(const R* s, const R* q, const R* shared, R* next) {
    next[0] = s[0];
    next[1] = s[1];
    exchange(shared[0], q[0], next[0], next[1]);
    next[2] = s[2] + shared[0];
  }
};
