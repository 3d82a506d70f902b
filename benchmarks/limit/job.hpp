// What an arm is asked to do, and how its threads share it.
#pragma once
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "vectors.hpp"

constexpr int SHARED = 8;  // numbers that all samples share; [0] is the step of t, [1] the end of t

template <class T>
struct Job {
  int64_t samples, cap;
  T** state;             // the last plane is t, which grows by a fixed amount each step
  T** inputs;
  const double* shared;
  uint8_t* done;         // written: 1 if the sample stopped by itself, 0 if the cap stopped it
  int threads;
};

// A workload W<V, FAST> has
//   NS, NP, NQ     planes of state, of inputs, of numbers that are the same in all steps of a sample
//   OWN_END        the sample's end of t is q[1]; otherwise it is shared[1]
//   prepare(inputs, shared, q)
//   step(state, q, shared, next)

template <class V>
INLINE void set_shared(const double* numbers, typename V::R* shared) {
  for (int i = 0; i < SHARED; ++i) shared[i] = V::set((typename V::T)numbers[i]);
}

template <class K, class R>
INLINE R end_of_t(const R* q, const R* shared) {
  if constexpr (K::OWN_END) return q[1];
  else return shared[1];
}

// Copy a state element by element: an array that memcpy has seen stays in memory, not in registers.
template <class R, int U, int N>
INLINE void copy(const R (&from)[U][N], R (&to)[U][N]) {
#pragma GCC unroll 16
  for (int u = 0; u < U; ++u) {
#pragma GCC unroll 16
    for (int j = 0; j < N; ++j) to[u][j] = from[u][j];
  }
}

// Ranges of samples, handed to whichever thread asks next; smaller ones near the end.
class Ranges {
 public:
  Ranges(int64_t samples, int threads) : samples_(samples), threads_(threads) {}

  bool take(int64_t* begin, int64_t* end) {
    int64_t seen = next_.load(std::memory_order_relaxed), size;
    do {
      if (seen >= samples_) return false;
      size = std::clamp<int64_t>((samples_ - seen) / (threads_ * 4), 64, 1024) & ~int64_t(63);
    } while (!next_.compare_exchange_weak(seen, seen + size, std::memory_order_relaxed));
    *begin = seen;
    *end = std::min(seen + size, samples_);
    return true;
  }

 private:
  int64_t samples_;
  int threads_;
  std::atomic<int64_t> next_{0};
};
