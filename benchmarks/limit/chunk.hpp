// B steps of U vectors without any mask: the inner loop of the arms that work in chunks.
#pragma once
#include "job.hpp"

// How a chunk learns that a lane stopped: `EACH_STEP` tests after every step, `LAST` only after the
// last one. LAST is exact because t never shrinks: rounding is monotone, so t + dt >= t.
enum class Test { EACH_STEP, LAST };

// The compiler needs some help to keep the state in registers: the order of the work is fixed, the
// test's constants are not wanted during the steps, and the state goes to memory after them, so that
// no register is kept for where it leaves the caller's loop.
template <class V, class K, int U, int B, Test TEST>
INLINE void chunk(typename V::R (&s)[U][K::NS], typename V::R (&after)[U][K::NS],
                  const typename V::R (&q)[U][K::NQ + 1], const typename V::R (&shared)[SHARED],
                  typename V::M (&live)[U]) {
  static_assert(B % 4 == 0);
  constexpr bool ORDERED = U * K::NS + 2 < NATIVE_REGISTERS;
  if constexpr (TEST == Test::EACH_STEP) {
#pragma GCC unroll 16
    for (int u = 0; u < U; ++u) live[u] = V::mask(V::FULL);
  }
  asm volatile("" : : : "memory");
#pragma GCC unroll 1
  for (int k = 0; k < B; k += 4) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
#pragma GCC unroll 16
      for (int u = 0; u < U; ++u) {
        typename V::R next[K::NS];
        K::step(s[u], q[u], shared, next);
#pragma GCC unroll 16
        for (int j = 0; j < K::NS; ++j) {
          s[u][j] = next[j];
          if constexpr (ORDERED) in_order(s[u][j]);
        }
        if constexpr (TEST == Test::EACH_STEP) {
          live[u] = V::less(live[u], s[u][K::NS - 1], end_of_t<K>(q[u], shared));
        }
      }
    }
  }
  copy(s, after);
  asm volatile("" : : : "memory");
  if constexpr (TEST == Test::LAST) {
#pragma GCC unroll 16
    for (int u = 0; u < U; ++u) live[u] = V::less(s[u][K::NS - 1], end_of_t<K>(q[u], shared));
  }
}
