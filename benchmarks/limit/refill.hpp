// Arms `refill<U>k<B>`: as `vec`, but every B steps finished lanes are sent home and reloaded with
// the next samples. The strongest where masks are free (AVX-512) and stop tests are needed each step.
#pragma once
#include "lanes.hpp"

template <class V, class K, int U, int B>
struct Refill {
  using T = typename V::T;
  using R = typename V::R;
  using M = typename V::M;

  Lanes<V, K, U> lanes;

  Refill(Job<T>& job, Ranges& ranges) : lanes(job, ranges) {}

  void run() {
    R s[U][K::NS];
    M live[U];
    take(s, live);
    while (lanes.any()) {
      // A block ends where the first lane meets the cap, so no lane steps over it.
      int64_t room = lanes.next_cap - lanes.tick;
      if (room >= B) {
#pragma GCC unroll 2
        for (int k = 0; k < B; ++k) step(s, live);
        lanes.tick += B;
      } else {
        for (int64_t k = 0; k < room; ++k) step(s, live);
        lanes.tick += room;
      }
      unsigned finished = 0;
#pragma GCC unroll 16
      for (int u = 0; u < U; ++u) finished |= lanes.taken[u] & ~V::bits(live[u]);
      if (finished != 0 || lanes.tick == lanes.next_cap) [[unlikely]] {
        unsigned alive[U];
#pragma GCC unroll 16
        for (int u = 0; u < U; ++u) alive[u] = V::bits(live[u]);
        copy(s, lanes.state[0]);
        replace(alive);
        take(s, live);
      }
    }
  }

 private:
  INLINE void take(R (&s)[U][K::NS], M (&live)[U]) {
    copy(lanes.state[0], s);
#pragma GCC unroll 16
    for (int u = 0; u < U; ++u) live[u] = V::mask(lanes.taken[u]);
  }

  INLINE void step(R (&s)[U][K::NS], M (&live)[U]) {
#pragma GCC unroll 16
    for (int u = 0; u < U; ++u) {
      R next[K::NS];
      K::step(s[u], lanes.q[u], lanes.shared, next);
#pragma GCC unroll 16
      for (int j = 0; j < K::NS; ++j) s[u][j] = V::select(live[u], next[j], s[u][j]);
      live[u] = V::less(live[u], s[u][K::NS - 1], end_of_t<K>(lanes.q[u], lanes.shared));
    }
  }

  __attribute__((noinline)) void replace(const unsigned* alive) {
    bool capped = lanes.tick == lanes.next_cap;
    for (int u = 0; u < U; ++u) {
      unsigned leaving = lanes.taken[u] & ~alive[u];
      for (unsigned rest = capped ? lanes.taken[u] : 0; rest != 0; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        if (lanes.left(u * V::W + l, 1) == 0) leaving |= 1u << l;
      }
      if (leaving == 0) continue;
      R packed[K::NS];
      int64_t sample[V::W];
      int count = 0;
      for (int j = 0; j < K::NS; ++j) packed[j] = V::pack(leaving, lanes.state[0][u][j]);
      for (unsigned rest = leaving; rest != 0; rest &= rest - 1) {
        sample[count++] = lanes.sample[u * V::W + __builtin_ctz(rest)];
      }
      send_home<V, K>(lanes.job, packed, sample, count, _pext_u32(alive[u], leaving));
      lanes.refill(u, leaving);
    }
    if (capped) lanes.find_next_cap();
  }
};

template <class V, template <class, bool> class Workload, bool FAST, int U, int B>
void run_refill(Job<typename V::T> job) {
  Ranges ranges(job.samples, job.threads);
#pragma omp parallel num_threads(job.threads)
  {
    Refill<V, Workload<V, FAST>, U, B> refill(job, ranges);
    refill.run();
  }
}
