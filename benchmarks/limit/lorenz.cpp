// Lorenz's system, classical Runge-Kutta; every sample has its rho, all stop at the same t.
// shared: dt, end, sigma, beta, dt/2, dt/6.
#include "arms.hpp"

template <class V, bool>
struct Lorenz {
  using R = typename V::R;
  static constexpr int NS = 4, NP = 1, NQ = 1;
  static constexpr bool OWN_END = false;
  static INLINE void prepare(const R* p, const R*, R* q) { q[0] = p[0]; }

  static INLINE void slope(const R* u, R rho, const R* shared, R* k) {
    R sigma = shared[2], beta = shared[3];
    k[0] = sigma * (u[1] - u[0]);
    k[1] = fms(u[0], rho - u[2], u[1]);
    k[2] = fms(u[0], u[1], beta * u[2]);
  }

  static INLINE void step(const R* s, const R* q, const R* shared, R* next) {
    R dt = shared[0], half = shared[4], sixth = shared[5], two = V::set(2);
    R k[3], sum[3], u[3];
    slope(s, q[0], shared, k);
    for (int i = 0; i < 3; ++i) {
      sum[i] = k[i];
      u[i] = fma(half, k[i], s[i]);
    }
    for (R h : {half, dt}) {
      slope(u, q[0], shared, k);
      for (int i = 0; i < 3; ++i) {
        sum[i] = fma(two, k[i], sum[i]);
        u[i] = fma(h, k[i], s[i]);
      }
    }
    slope(u, q[0], shared, k);
    for (int i = 0; i < 3; ++i) next[i] = fma(sixth, sum[i] + k[i], s[i]);
    next[3] = s[3] + dt;
  }
};

ARM_TABLE(
    SCALAR(Lorenz), PLAIN(Lorenz), VEC(Lorenz, 1), VEC(Lorenz, 2), VEC(Lorenz, 3), VEC(Lorenz, 4),
    CHUNK(Lorenz, 3, 16), LAST(Lorenz, 1, 16), LAST(Lorenz, 2, 16), LAST(Lorenz, 3, 16), LAST(Lorenz, 4, 16)
)
