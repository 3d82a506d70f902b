// Native vectors of a machine with AVX2 and FMA: 4 doubles or 8 floats.
// There are no mask registers: a mask is a vector with all bits of a lane set or none.
#pragma once
#include <immintrin.h>

#include <cstdint>

#define INLINE inline __attribute__((always_inline))
#define NATIVE_REGISTERS 16
#define VECTOR_REGISTER "x"

extern "C" {
__m256d _ZGVdN4v_sin(__m256d);
__m256d _ZGVdN4v_cos(__m256d);
__m256d _ZGVdN4v_exp(__m256d);
__m256d _ZGVdN4vv_pow(__m256d, __m256d);
__m256 _ZGVdN8v_sinf(__m256);
__m256 _ZGVdN8v_cosf(__m256);
__m256 _ZGVdN8v_expf(__m256);
__m256 _ZGVdN8vv_powf(__m256, __m256);
}

INLINE __m256d fma(__m256d a, __m256d b, __m256d c) { return _mm256_fmadd_pd(a, b, c); }
INLINE __m256d fms(__m256d a, __m256d b, __m256d c) { return _mm256_fmsub_pd(a, b, c); }
INLINE __m256d fnma(__m256d a, __m256d b, __m256d c) { return _mm256_fnmadd_pd(a, b, c); }
INLINE __m256 fma(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
INLINE __m256 fms(__m256 a, __m256 b, __m256 c) { return _mm256_fmsub_ps(a, b, c); }
INLINE __m256 fnma(__m256 a, __m256 b, __m256 c) { return _mm256_fnmadd_ps(a, b, c); }

// Where lanes go when they are packed to the front, and where they come from when they are spread
// out again: eight indices of 32-bit lanes, cut from the identity by the bits.
INLINE __m256i packing(uint64_t byte_mask) {
  return _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(_pext_u64(0x0706050403020100u, byte_mask)));
}
INLINE __m256i spreading(uint64_t byte_mask) {
  return _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(_pdep_u64(0x0706050403020100u, byte_mask)));
}

struct Doubles {
  using T = double;
  using R = __m256d;
  using M = __m256d;
  static constexpr int W = 4;
  static constexpr unsigned FULL = 0xf;

  static INLINE R set(T a) { return _mm256_set1_pd(a); }
  static INLINE M first(int count) {
    return _mm256_castsi256_pd(
        _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3)));
  }
  static INLINE unsigned bits(M m) { return _mm256_movemask_pd(m); }
  static INLINE M mask(unsigned bits) {
    __m256i lane = _mm256_setr_epi64x(1, 2, 4, 8);
    return _mm256_castsi256_pd(
        _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(bits), lane), lane));
  }
  static INLINE R load(const T* p) { return _mm256_loadu_pd(p); }
  static INLINE R load(M m, const T* p) { return _mm256_maskload_pd(p, _mm256_castpd_si256(m)); }
  static INLINE void store(T* p, R a) { _mm256_storeu_pd(p, a); }
  static INLINE void store(M m, T* p, R a) {
    if (bits(m) == FULL) store(p, a);
    else _mm256_maskstore_pd(p, _mm256_castpd_si256(m), a);  // some 20 operations on AMD's cores
  }
  static INLINE R select(M m, R yes, R no) { return _mm256_blendv_pd(no, yes, m); }
  static INLINE M less(R a, R b) { return _mm256_cmp_pd(a, b, _CMP_LT_OQ); }
  static INLINE M less(M m, R a, R b) { return _mm256_and_pd(m, less(a, b)); }
  static INLINE uint64_t bytes(unsigned bits) { return _pdep_u64(bits, 0x0001000100010001u) * 0xffff; }
  static INLINE R pack(unsigned bits, R a) {
    if (bits == FULL) return a;
    return _mm256_castsi256_pd(
        _mm256_permutevar8x32_epi32(_mm256_castpd_si256(a), packing(bytes(bits))));
  }
  static INLINE R spread(unsigned bits, int count, const T* p, R old) {
    if (bits == FULL) return load(p);
    __m256i next = _mm256_castpd_si256(load(first(count), p));
    next = _mm256_permutevar8x32_epi32(next, spreading(bytes(bits)));
    return select(mask(bits), _mm256_castsi256_pd(next), old);
  }

  // What the polynomials of elementary.hpp need.
  static INLINE R nearest(R x) { return _mm256_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
  static INLINE __m256i integer(R k) {  // small whole numbers, in the low bits
    return _mm256_castpd_si256(_mm256_add_pd(k, set(0x1.8p52)));
  }
  static INLINE R negate_if_odd(R y, R k) {
    return _mm256_xor_pd(y, _mm256_castsi256_pd(_mm256_slli_epi64(integer(k), 63)));
  }
  static INLINE R times_power_of_two(R p, R k) {
    return _mm256_castsi256_pd(
        _mm256_add_epi64(_mm256_castpd_si256(p), _mm256_slli_epi64(integer(k), 52)));
  }
  static INLINE R split(R x, R* mantissa) {  // x = mantissa * 2^result, 0.75 <= mantissa < 1.5
    __m256i ix = _mm256_castpd_si256(x), bias = _mm256_set1_epi64x(1023ll << 52);
    __m256i from = _mm256_sub_epi64(ix, _mm256_set1_epi64x(0x3fe8000000000000ll));
    __m256i k = _mm256_srli_epi64(_mm256_add_epi64(from, bias), 52);  // exponent + 1023 > 0
    *mantissa = _mm256_castsi256_pd(
        _mm256_sub_epi64(ix, _mm256_sub_epi64(_mm256_slli_epi64(k, 52), bias)));
    __m256i number = _mm256_or_si256(k, _mm256_castpd_si256(set(0x1p52)));
    return _mm256_sub_pd(_mm256_castsi256_pd(number), set(0x1p52 + 1023));
  }
  static INLINE R rsqrt_estimate(R x) {  // 12 bits
    return _mm256_cvtps_pd(_mm_rsqrt_ps(_mm256_cvtpd_ps(x)));
  }
  static INLINE R sqrt(R x) { return _mm256_sqrt_pd(x); }
  static INLINE R sin(R x) { return _ZGVdN4v_sin(x); }
  static INLINE R cos(R x) { return _ZGVdN4v_cos(x); }
  static INLINE R exp(R x) { return _ZGVdN4v_exp(x); }
  static INLINE R pow(R x, R y) { return _ZGVdN4vv_pow(x, y); }
};

struct Floats {
  using T = float;
  using R = __m256;
  using M = __m256;
  static constexpr int W = 8;
  static constexpr unsigned FULL = 0xff;

  static INLINE R set(T a) { return _mm256_set1_ps(a); }
  static INLINE M first(int count) {
    return _mm256_castsi256_ps(_mm256_cmpgt_epi32(
        _mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)));
  }
  static INLINE unsigned bits(M m) { return _mm256_movemask_ps(m); }
  static INLINE M mask(unsigned bits) {
    __m256i lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_castsi256_ps(
        _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(bits), lane), lane));
  }
  static INLINE R load(const T* p) { return _mm256_loadu_ps(p); }
  static INLINE R load(M m, const T* p) { return _mm256_maskload_ps(p, _mm256_castps_si256(m)); }
  static INLINE void store(T* p, R a) { _mm256_storeu_ps(p, a); }
  static INLINE void store(M m, T* p, R a) {
    if (bits(m) == FULL) store(p, a);
    else _mm256_maskstore_ps(p, _mm256_castps_si256(m), a);  // some 20 operations on AMD's cores
  }
  static INLINE R select(M m, R yes, R no) { return _mm256_blendv_ps(no, yes, m); }
  static INLINE M less(R a, R b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
  static INLINE M less(M m, R a, R b) { return _mm256_and_ps(m, less(a, b)); }
  static INLINE uint64_t bytes(unsigned bits) { return _pdep_u64(bits, 0x0101010101010101u) * 0xff; }
  static INLINE R pack(unsigned bits, R a) {
    if (bits == FULL) return a;
    return _mm256_permutevar8x32_ps(a, packing(bytes(bits)));
  }
  static INLINE R spread(unsigned bits, int count, const T* p, R old) {
    if (bits == FULL) return load(p);
    R next = _mm256_permutevar8x32_ps(load(first(count), p), spreading(bytes(bits)));
    return select(mask(bits), next, old);
  }

  static INLINE R nearest(R x) { return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
  static INLINE R negate_if_odd(R y, R k) {
    return _mm256_xor_ps(y, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtps_epi32(k), 31)));
  }
  static INLINE R times_power_of_two(R p, R k) {
    return _mm256_castsi256_ps(_mm256_add_epi32(
        _mm256_castps_si256(p), _mm256_slli_epi32(_mm256_cvtps_epi32(k), 23)));
  }
  static INLINE R split(R x, R* mantissa) {
    __m256i ix = _mm256_castps_si256(x);
    __m256i k = _mm256_srai_epi32(_mm256_sub_epi32(ix, _mm256_set1_epi32(0x3f400000)), 23);
    *mantissa = _mm256_castsi256_ps(_mm256_sub_epi32(ix, _mm256_slli_epi32(k, 23)));
    return _mm256_cvtepi32_ps(k);
  }
  static INLINE R rsqrt_estimate(R x) { return _mm256_rsqrt_ps(x); }
  static INLINE R sqrt(R x) { return _mm256_sqrt_ps(x); }
  static INLINE R sin(R x) { return _ZGVdN8v_sinf(x); }
  static INLINE R cos(R x) { return _ZGVdN8v_cosf(x); }
  static INLINE R exp(R x) { return _ZGVdN8v_expf(x); }
  static INLINE R pow(R x, R y) { return _ZGVdN8vv_powf(x, y); }
};
