// Arms without hand-written vectors.
#pragma once
#include "job.hpp"

// One sample at a time, its state in registers.
template <class T, template <class, bool> class Workload>
void run_scalar(Job<T> job) {
  using V = OneLane<T>;
  using K = Workload<V, false>;
#pragma omp parallel for schedule(dynamic, 256) num_threads(job.threads)
  for (int64_t i = 0; i < job.samples; ++i) {
    T shared[SHARED], s[K::NS], q[K::NQ + 1], p[K::NP + 1], next[K::NS];
    set_shared<V>(job.shared, shared);
    for (int j = 0; j < K::NP; ++j) p[j] = job.inputs[j][i];
    for (int j = 0; j < K::NS; ++j) s[j] = job.state[j][i];
    K::prepare(p, shared, q);
    T end = end_of_t<K>(q, shared);
    bool live = true;
    for (int64_t k = 0; live && k < job.cap; ++k) {
      K::step(s, q, shared, next);
      for (int j = 0; j < K::NS; ++j) s[j] = next[j];
      live = s[K::NS - 1] < end;
    }
    for (int j = 0; j < K::NS; ++j) job.state[j][i] = s[j];
    job.done[i] = !live;
  }
}

// Arrays of 64 lanes and `#pragma omp simd`: what a careful user of C writes.
template <class T, template <class, bool> class Workload>
void run_plain(Job<T> job) {
  using V = OneLane<T>;
  using K = Workload<V, false>;
  constexpr int LANES = 64;
#pragma omp parallel for schedule(dynamic, 4) num_threads(job.threads)
  for (int64_t block = 0; block < (job.samples + LANES - 1) / LANES; ++block) {
    alignas(64) T s[K::NS][LANES], q[K::NQ + 1][LANES], end[LANES], live[LANES];
    T shared[SHARED];
    set_shared<V>(job.shared, shared);
    for (int l = 0; l < LANES; ++l) {
      int64_t i = std::min(block * LANES + l, job.samples - 1);
      T p[K::NP + 1], own[K::NQ + 1];
      for (int j = 0; j < K::NP; ++j) p[j] = job.inputs[j][i];
      for (int j = 0; j < K::NS; ++j) s[j][l] = job.state[j][i];
      K::prepare(p, shared, own);
      for (int j = 0; j < K::NQ; ++j) q[j][l] = own[j];
      end[l] = end_of_t<K>(own, shared);
      live[l] = 1;
    }
    T any = 1;
    for (int64_t k = 0; any != 0 && k < job.cap; ++k) {
      any = 0;
#pragma omp simd reduction(+ : any)
      for (int l = 0; l < LANES; ++l) {
        T now[K::NS], own[K::NQ + 1], next[K::NS];
        for (int j = 0; j < K::NS; ++j) now[j] = s[j][l];
        for (int j = 0; j < K::NQ; ++j) own[j] = q[j][l];
        K::step(now, own, shared, next);
        for (int j = 0; j < K::NS; ++j) s[j][l] = live[l] != 0 ? next[j] : now[j];
        live[l] = (s[K::NS - 1][l] < end[l]) ? live[l] : T(0);
        any += live[l];
      }
    }
    for (int l = 0; l < LANES; ++l) {
      int64_t i = block * LANES + l;
      if (i >= job.samples) break;
      for (int j = 0; j < K::NS; ++j) job.state[j][i] = s[j][l];
      job.done[i] = live[l] == 0;
    }
  }
}
