// Native vectors of a machine with AVX-512 (F, VL, DQ): 8 doubles or 16 floats, masks of one bit a lane.
#pragma once
#include <immintrin.h>

#include <cstdint>

#define INLINE inline __attribute__((always_inline))
#define NATIVE_REGISTERS 32
#define VECTOR_REGISTER "v"

extern "C" {
__m512d _ZGVeN8v_sin(__m512d);
__m512d _ZGVeN8v_cos(__m512d);
__m512d _ZGVeN8v_exp(__m512d);
__m512d _ZGVeN8vv_pow(__m512d, __m512d);
__m512 _ZGVeN16v_sinf(__m512);
__m512 _ZGVeN16v_cosf(__m512);
__m512 _ZGVeN16v_expf(__m512);
__m512 _ZGVeN16vv_powf(__m512, __m512);
}

INLINE __m512d fma(__m512d a, __m512d b, __m512d c) { return _mm512_fmadd_pd(a, b, c); }
INLINE __m512d fms(__m512d a, __m512d b, __m512d c) { return _mm512_fmsub_pd(a, b, c); }
INLINE __m512d fnma(__m512d a, __m512d b, __m512d c) { return _mm512_fnmadd_pd(a, b, c); }
INLINE __m512 fma(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }
INLINE __m512 fms(__m512 a, __m512 b, __m512 c) { return _mm512_fmsub_ps(a, b, c); }
INLINE __m512 fnma(__m512 a, __m512 b, __m512 c) { return _mm512_fnmadd_ps(a, b, c); }

struct Doubles {
  using T = double;
  using R = __m512d;
  using M = __mmask8;
  static constexpr int W = 8;
  static constexpr unsigned FULL = 0xff;

  static INLINE R set(T a) { return _mm512_set1_pd(a); }
  static INLINE M first(int count) { return (M)((1u << count) - 1); }
  static INLINE unsigned bits(M m) { return m; }
  static INLINE M mask(unsigned bits) { return (M)bits; }
  static INLINE R load(const T* p) { return _mm512_loadu_pd(p); }
  static INLINE R load(M m, const T* p) { return _mm512_maskz_loadu_pd(m, p); }
  static INLINE void store(T* p, R a) { _mm512_storeu_pd(p, a); }
  static INLINE void store(M m, T* p, R a) { _mm512_mask_storeu_pd(p, m, a); }
  static INLINE R select(M m, R yes, R no) { return _mm512_mask_mov_pd(no, m, yes); }
  static INLINE M less(R a, R b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
  static INLINE M less(M m, R a, R b) { return _mm512_mask_cmp_pd_mask(m, a, b, _CMP_LT_OQ); }
  static INLINE R pack(unsigned bits, R a) { return _mm512_maskz_compress_pd((M)bits, a); }
  static INLINE R spread(unsigned bits, int, const T* p, R old) {
    return _mm512_mask_expandloadu_pd(old, (M)bits, p);
  }

  // What the polynomials of elementary.hpp need.
  static INLINE R nearest(R x) { return _mm512_roundscale_pd(x, 0); }
  static INLINE R negate_if_odd(R y, R k) {
    __m512i sign = _mm512_slli_epi64(_mm512_cvtpd_epi64(k), 63);
    return _mm512_castsi512_pd(_mm512_xor_si512(_mm512_castpd_si512(y), sign));
  }
  static INLINE R times_power_of_two(R p, R k) { return _mm512_scalef_pd(p, k); }
  static INLINE R split(R x, R* mantissa) {  // x = mantissa * 2^result, 0.75 <= mantissa < 1.5
    __m512i ix = _mm512_castpd_si512(x);
    __m512i k = _mm512_srai_epi64(_mm512_sub_epi64(ix, _mm512_set1_epi64(0x3fe8000000000000ll)), 52);
    *mantissa = _mm512_castsi512_pd(_mm512_sub_epi64(ix, _mm512_slli_epi64(k, 52)));
    return _mm512_cvtepi64_pd(k);
  }
  static INLINE R rsqrt_estimate(R x) { return _mm512_rsqrt14_pd(x); }  // 14 bits
  static INLINE R sqrt(R x) { return _mm512_sqrt_pd(x); }
  static INLINE R sin(R x) { return _ZGVeN8v_sin(x); }
  static INLINE R cos(R x) { return _ZGVeN8v_cos(x); }
  static INLINE R exp(R x) { return _ZGVeN8v_exp(x); }
  static INLINE R pow(R x, R y) { return _ZGVeN8vv_pow(x, y); }
};

struct Floats {
  using T = float;
  using R = __m512;
  using M = __mmask16;
  static constexpr int W = 16;
  static constexpr unsigned FULL = 0xffff;

  static INLINE R set(T a) { return _mm512_set1_ps(a); }
  static INLINE M first(int count) { return (M)((1u << count) - 1); }
  static INLINE unsigned bits(M m) { return m; }
  static INLINE M mask(unsigned bits) { return (M)bits; }
  static INLINE R load(const T* p) { return _mm512_loadu_ps(p); }
  static INLINE R load(M m, const T* p) { return _mm512_maskz_loadu_ps(m, p); }
  static INLINE void store(T* p, R a) { _mm512_storeu_ps(p, a); }
  static INLINE void store(M m, T* p, R a) { _mm512_mask_storeu_ps(p, m, a); }
  static INLINE R select(M m, R yes, R no) { return _mm512_mask_mov_ps(no, m, yes); }
  static INLINE M less(R a, R b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
  static INLINE M less(M m, R a, R b) { return _mm512_mask_cmp_ps_mask(m, a, b, _CMP_LT_OQ); }
  static INLINE R pack(unsigned bits, R a) { return _mm512_maskz_compress_ps((M)bits, a); }
  static INLINE R spread(unsigned bits, int, const T* p, R old) {
    return _mm512_mask_expandloadu_ps(old, (M)bits, p);
  }

  static INLINE R nearest(R x) { return _mm512_roundscale_ps(x, 0); }
  static INLINE R negate_if_odd(R y, R k) {
    __m512i sign = _mm512_slli_epi32(_mm512_cvtps_epi32(k), 31);
    return _mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(y), sign));
  }
  static INLINE R times_power_of_two(R p, R k) { return _mm512_scalef_ps(p, k); }
  static INLINE R split(R x, R* mantissa) {
    __m512i ix = _mm512_castps_si512(x);
    __m512i k = _mm512_srai_epi32(_mm512_sub_epi32(ix, _mm512_set1_epi32(0x3f400000)), 23);
    *mantissa = _mm512_castsi512_ps(_mm512_sub_epi32(ix, _mm512_slli_epi32(k, 23)));
    return _mm512_cvtepi32_ps(k);
  }
  static INLINE R rsqrt_estimate(R x) { return _mm512_rsqrt14_ps(x); }
  static INLINE R sqrt(R x) { return _mm512_sqrt_ps(x); }
  static INLINE R sin(R x) { return _ZGVeN16v_sinf(x); }
  static INLINE R cos(R x) { return _ZGVeN16v_cosf(x); }
  static INLINE R exp(R x) { return _ZGVeN16v_expf(x); }
  static INLINE R pow(R x, R y) { return _ZGVeN16vv_powf(x, y); }
};
