// Arms `vec<U>` and `fast<U>`: U native vectors interleaved, state in registers, a finished lane
// frozen by its mask at every step, the group running until its last lane is done.
#pragma once
#include "job.hpp"

template <class V, template <class, bool> class Workload, bool FAST, int U>
void run_frozen(Job<typename V::T> job) {
  using K = Workload<V, FAST>;
  using R = typename V::R;
  using M = typename V::M;
  constexpr int GROUP = U * V::W;
  int64_t groups = (job.samples + GROUP - 1) / GROUP;
  int64_t some = std::clamp<int64_t>(groups / (job.threads * 8), 1, 64);
#pragma omp parallel for schedule(dynamic, some) num_threads(job.threads)
  for (int64_t g = 0; g < groups; ++g) {
    R shared[SHARED], s[U][K::NS], q[U][K::NQ + 1];
    M live[U], mine[U];
    set_shared<V>(job.shared, shared);
#pragma GCC unroll 16
    for (int u = 0; u < U; ++u) {
      int64_t i = g * GROUP + u * V::W;
      mine[u] = live[u] = V::first((int)std::clamp<int64_t>(job.samples - i, 0, V::W));
      R p[K::NP + 1];
      for (int j = 0; j < K::NP; ++j) p[j] = V::load(mine[u], job.inputs[j] + i);
      for (int j = 0; j < K::NS; ++j) s[u][j] = V::load(mine[u], job.state[j] + i);
      K::prepare(p, shared, q[u]);
    }
    auto step_all = [&]() __attribute__((always_inline)) {
#pragma GCC unroll 16
      for (int u = 0; u < U; ++u) {
        R next[K::NS];
        K::step(s[u], q[u], shared, next);
#pragma GCC unroll 16
        for (int j = 0; j < K::NS; ++j) s[u][j] = V::select(live[u], next[j], s[u][j]);
        live[u] = V::less(live[u], s[u][K::NS - 1], end_of_t<K>(q[u], shared));
      }
    };
    auto any = [&]() __attribute__((always_inline)) {
      unsigned bits = 0;
#pragma GCC unroll 16
      for (int u = 0; u < U; ++u) bits |= V::bits(live[u]);
      return bits != 0;
    };
    int64_t k = 0;
    constexpr int AT_ONCE = FAST ? 2 : 4;
    for (; k + AT_ONCE <= job.cap && any(); k += AT_ONCE) {
#pragma GCC unroll 4
      for (int i = 0; i < AT_ONCE; ++i) step_all();
    }
    for (; k < job.cap && any(); ++k) step_all();
#pragma GCC unroll 16
    for (int u = 0; u < U; ++u) {
      int64_t i = g * GROUP + u * V::W;
      for (int j = 0; j < K::NS; ++j) V::store(mine[u], job.state[j] + i, s[u][j]);
      unsigned alive = V::bits(live[u]);
      for (int l = 0; l < V::W && i + l < job.samples; ++l) job.done[i + l] = !(alive >> l & 1);
    }
  }
}
