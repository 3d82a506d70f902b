// The native vectors of this machine, and a vector of one lane, so that a step is written once.
#pragma once
#ifdef __AVX512F__
#include "avx512.hpp"
#elif defined(__AVX2__) && defined(__FMA__)
#include "avx2.hpp"
#else
#error "the limit needs AVX2 and FMA (x86-64-v3)"
#endif

#include <cmath>

INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
INLINE double fms(double a, double b, double c) { return __builtin_fma(a, b, -c); }
INLINE double fnma(double a, double b, double c) { return __builtin_fma(-a, b, c); }
INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
INLINE float fms(float a, float b, float c) { return __builtin_fmaf(a, b, -c); }
INLINE float fnma(float a, float b, float c) { return __builtin_fmaf(-a, b, c); }

template <class Number>
struct OneLane {
  using T = Number;
  using R = Number;
  using M = bool;
  static constexpr int W = 1;
  static INLINE unsigned bits(M m) { return m; }
  static INLINE R select(M m, R yes, R no) { return m ? yes : no; }
  static INLINE M less(R a, R b) { return a < b; }
  static INLINE R set(T a) { return a; }
  static INLINE R sqrt(R x) { return std::sqrt(x); }
  static INLINE R sin(R x) { return std::sin(x); }
  static INLINE R cos(R x) { return std::cos(x); }
  static INLINE R exp(R x) { return std::exp(x); }
  static INLINE R pow(R x, R y) { return std::pow(x, y); }
};

// Keep the compiler from moving work of other vectors across this point: left alone, it
// interleaves so much of an unrolled loop that it runs out of registers.
template <class R>
INLINE void in_order(R& value) {
  asm volatile("" : "+" VECTOR_REGISTER(value));
}
