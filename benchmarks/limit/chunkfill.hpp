// Arms `chunkfill<U>k<B>` and `lastfill<U>k<B>`: chunks without masks, for samples that stop at
// different times. A lane that stopped somewhere in a chunk goes, as it was before the chunk, to the
// stragglers, and the next sample takes its place. Stragglers are finished step by step under
// masks, when there are enough of them.
#pragma once
#include "chunk.hpp"
#include "lanes.hpp"

template <class V, class K, int U>
struct Stragglers {
  using T = typename V::T;
  using R = typename V::R;
  using M = typename V::M;
  static constexpr int AT_ONCE = NATIVE_REGISTERS / 8;  // vectors; more would not fit with masks
  static constexpr int ENOUGH = AT_ONCE * V::W;
  static constexpr int ROOM = ENOUGH + (U + 1) * V::W;

  int count = 0;
  alignas(64) T s[K::NS][ROOM] = {}, q[K::NQ + 1][ROOM] = {}, left[ROOM] = {};
  int64_t sample[ROOM];

  void add(const R* state, const Lanes<V, K, U>& lanes, int u, unsigned bits, int steps) {
    for (int j = 0; j < K::NS; ++j) V::store(s[j] + count, V::pack(bits, state[j]));
    for (int j = 0; j < K::NQ; ++j) V::store(q[j] + count, V::pack(bits, lanes.q[u][j]));
    for (; bits != 0; bits &= bits - 1, ++count) {
      int lane = u * V::W + __builtin_ctz(bits);
      sample[count] = lanes.sample[lane];
      left[count] = (T)lanes.left(lane, steps);
    }
  }

  // Take the youngest ones, at most ENOUGH, to their ends and send them home.
  void finish(Job<T>& job, const R* shared, int steps) {
    int begin = std::max(0, count - ENOUGH);
    R x[AT_ONCE][K::NS], own[AT_ONCE][K::NQ + 1], last[AT_ONCE];
    M live[AT_ONCE];
    unsigned any = 0;
#pragma GCC unroll 4
    for (int u = 0; u < AT_ONCE; ++u) {
      int from = begin + u * V::W;
      for (int j = 0; j < K::NS; ++j) x[u][j] = V::load(s[j] + from);
      for (int j = 0; j < K::NQ; ++j) own[u][j] = V::load(q[j] + from);
      last[u] = V::load(left + from);
      live[u] = V::less(V::first(std::clamp(count - from, 0, V::W)), V::set(0), last[u]);
      any |= V::bits(live[u]);
    }
    for (int k = 1; k <= steps && any != 0; ++k) {
      any = 0;
#pragma GCC unroll 4
      for (int u = 0; u < AT_ONCE; ++u) {
        R next[K::NS];
        K::step(x[u], own[u], shared, next);
        for (int j = 0; j < K::NS; ++j) x[u][j] = V::select(live[u], next[j], x[u][j]);
        live[u] = V::less(live[u], x[u][K::NS - 1], end_of_t<K>(own[u], shared));
        live[u] = V::less(live[u], V::set((T)k), last[u]);
        any |= V::bits(live[u]);
      }
    }
#pragma GCC unroll 4
    for (int u = 0; u < AT_ONCE; ++u) {
      int from = begin + u * V::W, mine = std::clamp(count - from, 0, V::W);
      R t = x[u][K::NS - 1];
      unsigned unfinished = V::bits(V::less(V::first(V::W), t, end_of_t<K>(own[u], shared)));
      send_home<V, K>(job, x[u], sample + from, mine, unfinished);
    }
    count = begin;
  }
};

template <class V, class K, int U, int B, Test TEST>
struct ChunkFill {
  using T = typename V::T;
  using R = typename V::R;
  using M = typename V::M;

  Lanes<V, K, U> lanes;
  Stragglers<V, K, U> stragglers;
  unsigned alive[U];  // bit l: lane l did not stop in the chunk

  ChunkFill(Job<T>& job, Ranges& ranges) : lanes(job, ranges) {}

  void run() {
    while (lanes.any()) {
      until_someone_leaves();
      replace();
    }
    while (stragglers.count > 0) stragglers.finish(lanes.job, lanes.shared, B);
  }

 private:
  // Chunks up to and with the first in which a lane stops or would meet the cap.
  __attribute__((noinline)) void until_someone_leaves() {
    R s[U][K::NS];
    M below_end[U];
    unsigned stopped = 0;
    copy(lanes.state[lanes.newest], s);
    for (;; lanes.tick += B) {
      lanes.newest ^= 1;
      chunk<V, K, U, B, TEST>(s, lanes.state[lanes.newest], lanes.q, lanes.shared, below_end);
#pragma GCC unroll 16
      for (int u = 0; u < U; ++u) stopped |= lanes.taken[u] & ~V::bits(below_end[u]);
      if (stopped != 0 || lanes.tick + B > lanes.next_cap) break;
    }
#pragma GCC unroll 16
    for (int u = 0; u < U; ++u) alive[u] = V::bits(below_end[u]);
  }

  void replace() {
    bool capped = lanes.tick + B > lanes.next_cap;
    unsigned leaving[U];
    for (int u = 0; u < U; ++u) {
      leaving[u] = lanes.taken[u] & ~alive[u];
      for (unsigned rest = capped ? lanes.taken[u] : 0; rest != 0; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        if (lanes.left(u * V::W + l, B) < B) leaving[u] |= 1u << l;
      }
      if (leaving[u] != 0) stragglers.add(lanes.state[lanes.newest ^ 1][u], lanes, u, leaving[u], B);
    }
    lanes.tick += B;
    for (int u = 0; u < U; ++u) {
      if (leaving[u] != 0) lanes.refill(u, leaving[u]);
    }
    if (capped) lanes.find_next_cap();
    while (stragglers.count >= stragglers.ENOUGH) stragglers.finish(lanes.job, lanes.shared, B);
  }
};

template <class V, template <class, bool> class Workload, bool FAST, int U, int B, Test TEST>
void run_chunkfill(Job<typename V::T> job) {
  Ranges ranges(job.samples, job.threads);
#pragma omp parallel num_threads(job.threads)
  {
    ChunkFill<V, Workload<V, FAST>, U, B, TEST> lanes(job, ranges);
    lanes.run();
  }
}
