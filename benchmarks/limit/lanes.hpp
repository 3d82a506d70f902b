// The lanes of one thread: which sample is in which, and new samples for lanes that are free.
#pragma once
#include "job.hpp"

// Write the first `count` lanes of a state to their samples.
template <class V, class K>
void send_home(Job<typename V::T>& job, const typename V::R* s, const int64_t* sample, int count,
               unsigned unfinished) {
  bool neighbours = count == V::W;
  for (int l = 1; l < count; ++l) neighbours &= sample[l] == sample[0] + l;
  for (int j = 0; j < K::NS; ++j) {
    if (neighbours) {
      V::store(job.state[j] + sample[0], s[j]);
    } else {
      alignas(64) typename V::T numbers[V::W];
      V::store(numbers, s[j]);
      for (int l = 0; l < count; ++l) job.state[j][sample[l]] = numbers[l];
    }
  }
  for (int l = 0; l < count; ++l) job.done[sample[l]] = !(unfinished >> l & 1);
}

template <class V, class K, int U>
struct Lanes {
  using T = typename V::T;
  using R = typename V::R;

  Job<T>& job;
  Ranges& ranges;
  int64_t begin = 0, end = 0;      // samples we may still load
  int64_t tick = 0, next_cap;      // steps since the start; no lane reaches the cap before next_cap
  R shared[SHARED];
  R state[2][U][K::NS];            // the newest state, and the one of a chunk earlier
  R q[U][K::NQ + 1];
  int newest = 0;
  unsigned taken[U] = {};          // bit l: there is a sample in lane l
  int64_t sample[U * V::W];
  int64_t started[U * V::W];       // the tick at which it was loaded

  Lanes(Job<T>& job, Ranges& ranges) : job(job), ranges(ranges), next_cap(job.cap) {
    set_shared<V>(job.shared, shared);
    for (int u = 0; u < U; ++u) {
      for (int j = 0; j < K::NS; ++j) state[0][u][j] = state[1][u][j] = V::set(1);
      for (int j = 0; j <= K::NQ; ++j) q[u][j] = V::set(1);
      refill(u, V::FULL);
    }
  }

  bool any() const {
    unsigned bits = 0;
    for (int u = 0; u < U; ++u) bits |= taken[u];
    return bits != 0;
  }

  // Load the next samples into the lanes `free` of vector u, as long as there are any.
  void refill(int u, unsigned free) {
    taken[u] &= ~free;
    while (free != 0 && (begin < end || ranges.take(&begin, &end))) {
      int count = (int)std::min<int64_t>(__builtin_popcount(free), end - begin);
      unsigned lanes = _pdep_u32((1u << count) - 1, free);
      R p[K::NP + 1], fresh[K::NQ + 1];
      for (int j = 0; j < K::NP; ++j) p[j] = V::spread(lanes, count, job.inputs[j] + begin, V::set(1));
      for (int j = 0; j < K::NS; ++j) {
        R& plane = state[newest][u][j];
        plane = V::spread(lanes, count, job.state[j] + begin, plane);
      }
      // Samples come at long intervals, which the hardware does not take for a stream.
      for (int j = 0; j < K::NP; ++j) __builtin_prefetch(job.inputs[j] + begin + 64);
      for (int j = 0; j < K::NS; ++j) __builtin_prefetch(job.state[j] + begin + 64, 1);
      K::prepare(p, shared, fresh);
      for (int j = 0; j < K::NQ; ++j) q[u][j] = V::select(V::mask(lanes), fresh[j], q[u][j]);
      taken[u] |= lanes;
      free &= ~lanes;
      for (; lanes != 0; lanes &= lanes - 1) {
        int lane = u * V::W + __builtin_ctz(lanes);
        sample[lane] = begin++;
        started[lane] = tick;
      }
    }
  }

  // Steps that a lane may still take, at most `enough`.
  int left(int lane, int enough) const {
    return (int)std::min<int64_t>(enough, started[lane] + job.cap - tick);
  }

  void find_next_cap() {
    next_cap = INT64_MAX;
    for (int lane = 0; lane < U * V::W; ++lane) {
      if (taken[lane / V::W] >> lane % V::W & 1) {
        next_cap = std::min(next_cap, started[lane] + job.cap);
      }
    }
  }
};
