// Arms `chunk<U>k<B>` and `last<U>k<B>`: chunks without masks, for samples that stop together. The
// chunk in which the first lane stops is done again, in chunks of 4 and then step by step under masks.
#pragma once
#include "chunk.hpp"

template <class V, class K, int U, Test TEST>
struct Group {
  using R = typename V::R;
  using M = typename V::M;

  R shared[SHARED], q[U][K::NQ + 1];
  R state[2][U][K::NS];
  int newest = 0;    // which of the two states is it; a chunk writes the other one
  unsigned mine[U];  // lanes with a sample
  unsigned live[U];
  int64_t step = 0;

  // As many chunks of B steps as fit under the cap and in which no lane stops.
  template <int B>
  __attribute__((noinline)) void unmasked(int64_t cap) {
    R now[U][K::NS];
    M below_end[U];
    copy(state[newest], now);
    for (; step + B <= cap; step += B, newest ^= 1) {
      chunk<V, K, U, B, TEST>(now, state[newest ^ 1], q, shared, below_end);
      unsigned stopped = 0;
#pragma GCC unroll 16
      for (int u = 0; u < U; ++u) stopped |= mine[u] & ~V::bits(below_end[u]);
      if (stopped != 0) break;
    }
  }

  __attribute__((noinline)) void masked(int64_t cap) {
    R now[U][K::NS];
    M on[U];
    unsigned any = 1;
    copy(state[newest], now);
#pragma GCC unroll 16
    for (int u = 0; u < U; ++u) on[u] = V::mask(mine[u]);
    for (; step < cap && any != 0; ++step) {
      any = 0;
#pragma GCC unroll 16
      for (int u = 0; u < U; ++u) {
        R next[K::NS];
        K::step(now[u], q[u], shared, next);
#pragma GCC unroll 16
        for (int j = 0; j < K::NS; ++j) now[u][j] = V::select(on[u], next[j], now[u][j]);
        on[u] = V::less(on[u], now[u][K::NS - 1], end_of_t<K>(q[u], shared));
        any |= V::bits(on[u]);
      }
    }
    copy(now, state[newest]);
#pragma GCC unroll 16
    for (int u = 0; u < U; ++u) live[u] = V::bits(on[u]);
  }
};

template <class V, template <class, bool> class Workload, bool FAST, int U, int B, Test TEST>
void run_chunked(Job<typename V::T> job) {
  using K = Workload<V, FAST>;
  constexpr int GROUP = U * V::W;
  int64_t groups = (job.samples + GROUP - 1) / GROUP;
  int64_t some = std::clamp<int64_t>(groups / (job.threads * 8), 1, 16);
#pragma omp parallel for schedule(dynamic, some) num_threads(job.threads)
  for (int64_t g = 0; g < groups; ++g) {
    Group<V, K, U, TEST> group;
    set_shared<V>(job.shared, group.shared);
    for (int u = 0; u < U; ++u) {
      int64_t i = g * GROUP + u * V::W;
      auto mine = V::first((int)std::clamp<int64_t>(job.samples - i, 0, V::W));
      typename V::R p[K::NP + 1];
      for (int j = 0; j < K::NP; ++j) p[j] = V::load(mine, job.inputs[j] + i);
      for (int j = 0; j < K::NS; ++j) group.state[group.newest][u][j] = V::load(mine, job.state[j] + i);
      K::prepare(p, group.shared, group.q[u]);
      group.mine[u] = V::bits(mine);
    }
    group.template unmasked<B>(job.cap);
    group.template unmasked<4>(job.cap);
    group.masked(job.cap);
    for (int u = 0; u < U; ++u) {
      int64_t i = g * GROUP + u * V::W;
      auto mine = V::mask(group.mine[u]);
      for (int j = 0; j < K::NS; ++j) V::store(mine, job.state[j] + i, group.state[group.newest][u][j]);
      for (int l = 0; l < V::W && i + l < job.samples; ++l) job.done[i + l] = !(group.live[u] >> l & 1);
    }
  }
}
