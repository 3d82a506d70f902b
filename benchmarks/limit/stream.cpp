// y = a * x + b: plain stores, and stores that go to memory without a look at the caches.
#include "vectors.hpp"

template <class V>
INLINE void store_past_caches(typename V::T* p, typename V::R r);
#ifdef __AVX512F__
template <> INLINE void store_past_caches<Doubles>(double* p, __m512d r) { _mm512_stream_pd(p, r); }
template <> INLINE void store_past_caches<Floats>(float* p, __m512 r) { _mm512_stream_ps(p, r); }
#else
template <> INLINE void store_past_caches<Doubles>(double* p, __m256d r) { _mm256_stream_pd(p, r); }
template <> INLINE void store_past_caches<Floats>(float* p, __m256 r) { _mm256_stream_ps(p, r); }
#endif

template <class T>
void plain(int64_t n, const T* x, double a, double b, T* y, int threads) {
  T slope = T(a), offset = T(b);
#pragma omp parallel for simd num_threads(threads) schedule(static)
  for (int64_t i = 0; i < n; ++i) y[i] = fma(slope, x[i], offset);
}

template <class V, class T = typename V::T>
void streaming(int64_t n, const T* x, double a, double b, T* y, int threads) {
  auto slope = V::set(T(a)), offset = V::set(T(b));
  // Such stores are to whole vectors at their own places.
  int64_t first = 0;
  while (first < n && reinterpret_cast<uintptr_t>(y + first) % sizeof(slope) != 0) ++first;
  int64_t whole = (n - first) / V::W;
  for (int64_t i = 0; i < first; ++i) y[i] = fma(T(a), x[i], T(b));
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t k = 0; k < whole; ++k) {
    int64_t i = first + k * V::W;
    store_past_caches<V>(y + i, fma(slope, V::load(x + i), offset));
  }
  _mm_sfence();
  for (int64_t i = first + whole * V::W; i < n; ++i) y[i] = fma(T(a), x[i], T(b));
}

#define LOOPS(T, V, WIDTH)                                                                                  \
  void stores_##WIDTH(int64_t n, T* x, double a, double b, T* y, int threads) { plain<T>(n, x, a, b, y, threads); } \
  void streaming_##WIDTH(int64_t n, T* x, double a, double b, T* y, int threads) { streaming<V>(n, x, a, b, y, threads); }

extern "C" {
LOOPS(double, Doubles, float64)
LOOPS(float, Floats, float32)
}
