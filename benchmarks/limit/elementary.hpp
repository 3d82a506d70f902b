// Elementary functions as short polynomials, inlined: a few ulp, for finite arguments of moderate size.
#pragma once
#include "vectors.hpp"

template <class V, int N>
INLINE typename V::R polynomial(typename V::R x, const typename V::T (&highest_first)[N]) {
  auto sum = V::set(highest_first[0]);
#pragma GCC unroll 16
  for (int i = 1; i < N; ++i) sum = fma(sum, x, V::set(highest_first[i]));
  return sum;
}

template <class V>
INLINE typename V::R fast_sin(typename V::R x) {
  using R = typename V::R;
  using T = typename V::T;
  R k = V::nearest(x * V::set(T(0.31830988618379067154)));  // multiples of pi
  R r, p;
  if constexpr (sizeof(T) == 8) {
    r = fnma(k, V::set(3.14159265358979311600), x);
    r = fnma(k, V::set(1.22464679914735317636e-16), r);
    p = polynomial<V>(r * r, {-8.2206352466243295e-18, 2.8114572543455206e-15,
        -7.6471637318198164e-13, 1.6059043836821613e-10, -2.5052108385441720e-08,
        2.7557319223985893e-06, -1.9841269841269841e-04, 8.3333333333333332e-03,
        -1.6666666666666666e-01});  // Taylor to x^19: 3e-16 at pi/2
  } else {
    r = fnma(k, V::set(3.140625f), x);
    r = fnma(k, V::set(9.67502593994140625e-4f), r);
    r = fnma(k, V::set(1.509957990978376432e-7f), r);
    p = polynomial<V>(r * r, {2.6083159809786593541503e-06f, -1.981069071916863322258e-04f,
        8.33307858556509017944e-03f, -1.66666597127914428711e-01f});
  }
  return V::negate_if_odd(fma(r * (r * r), p, r), k);
}

template <class V>
INLINE typename V::R fast_exp(typename V::R x) {
  using R = typename V::R;
  using T = typename V::T;
  R k = V::nearest(x * V::set(T(1.44269504088896340736)));
  R p;
  if constexpr (sizeof(T) == 8) {
    R r = fnma(k, V::set(6.93147180369123816490e-01), x);
    r = fnma(k, V::set(1.90821492927058770002e-10), r);
    p = polynomial<V>(r, {1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0,
        1.0 / 3628800.0, 1.0 / 362880.0, 1.0 / 40320.0, 1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0,
        1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0});
  } else {
    R r = fnma(k, V::set(0.693359375f), x);
    r = fnma(k, V::set(-2.12194440e-4f), r);
    p = polynomial<V>(r, {1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,
        4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f});
    p = fma(p, r * r, r) + V::set(1.0f);
  }
  return V::times_power_of_two(p, k);
}

template <class V>
INLINE typename V::R fast_log(typename V::R x) {
  using R = typename V::R;
  using T = typename V::T;
  R mantissa, e = V::split(x, &mantissa), f = mantissa - V::set(T(1));
  if constexpr (sizeof(T) == 8) {
    R s = f / (f + V::set(2.0)), z = s * s, h = V::set(0.5) * f * f;
    R p = z * polynomial<V>(z, {1.479819860511658591e-01, 1.531383769920937332e-01,
        1.818357216161805012e-01, 2.222219843214978396e-01, 2.857142874366239149e-01,
        3.999999999940941908e-01, 6.666666666666735130e-01});
    R low = fma(s, h + p, e * V::set(1.90821492927058770002e-10));
    return fma(e, V::set(6.93147180369123816490e-01), f - (h - low));
  } else {
    R z = f * f;
    R p = polynomial<V>(f, {7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f,
        -1.2420140846e-1f, 1.4249322787e-1f, -1.6668057665e-1f, 2.0000714765e-1f,
        -2.4999993993e-1f, 3.3333331174e-1f});
    R y = fma(f * z, p, e * V::set(-2.12194440e-4f));
    return fma(e, V::set(0.693359375f), f + fnma(V::set(0.5f), z, y));
  }
}

template <class V, bool FAST>
INLINE typename V::R sine(typename V::R x) {
  if constexpr (FAST) return fast_sin<V>(x);
  else return V::sin(x);
}
template <class V, bool FAST>
INLINE typename V::R exponential(typename V::R x) {
  if constexpr (FAST) return fast_exp<V>(x);
  else return V::exp(x);
}
template <class V, bool FAST>
INLINE typename V::R power(typename V::R x, typename V::R y) {
  if constexpr (FAST) return fast_exp<V>(y * fast_log<V>(x));
  else return V::pow(x, y);
}

// 1 / (x * sqrt(x)); fast: an estimate of 12 or 14 bits, made better by Newton's steps.
template <class V, bool FAST>
INLINE typename V::R inverse_cube(typename V::R x) {
  using R = typename V::R;
  using T = typename V::T;
  if constexpr (!FAST) {
    return V::set(T(1)) / (x * V::sqrt(x));
  } else {
    R one = V::set(T(1)), half = V::set(T(0.5)), y = V::rsqrt_estimate(x);
    if constexpr (sizeof(T) == 8) {  // one step of third order first
      R e = fnma(x * y, y, one);
      y = fma(y * e, fma(V::set(T(0.375)), e, half), y);
    }
    y = fma(half * y, fnma(x * y, y, one), y);
    return (y * y) * y;
  }
}
