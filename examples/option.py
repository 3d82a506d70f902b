"""Price an option by a million paths; a path that falls to the barrier is worthless and ends there.

python examples/option.py
"""

import math
from statistics import NormalDist

import matplotlib.pyplot as plt
import numpy as np

import eagle
import hawk
from hawk import Index, Mutable, Param, Scalar, Terminated
from hawk.math import exp, random, sqrt

START, STRIKE, BARRIER, RATE, SIGMA, YEARS, STEPS = 100.0, 105.0, 85.0, 0.03, 0.25, 1.0, 250


@hawk.kernel
def trade(
    seed: Param[Index], rate: Param, sigma: Param, barrier: Param, dt: Param, last: Param[Index],
    price: Mutable[Scalar], over: Terminated,
):  # fmt: skip
    z = random.normal(seed, hawk.step_index())
    price *= exp((rate - 0.5 * sigma * sigma) * dt + sigma * sqrt(dt) * z)
    over = price <= barrier or hawk.step_index() + 1 >= last


def payoffs(barrier: float, n: int = 1_000_000) -> np.ndarray:
    price, dt = np.full(n, START), YEARS / STEPS
    market = {"rate": RATE, "sigma": SIGMA, "barrier": barrier, "dt": dt, "last": STEPS}
    print(eagle.simulate(trade, max_steps=STEPS, seed=1, price=price, **market))
    return math.exp(-RATE * YEARS) * np.where(price > barrier, np.maximum(price - STRIKE, 0.0), 0.0)


def black_scholes() -> float:
    """The price without a barrier (Black and Scholes 1973)."""
    spread, normal = SIGMA * math.sqrt(YEARS), NormalDist().cdf
    d = (math.log(START / STRIKE) + (RATE + 0.5 * SIGMA**2) * YEARS) / spread
    return START * normal(d) - STRIKE * math.exp(-RATE * YEARS) * normal(d - spread)


def main() -> None:
    plain, stopped = payoffs(barrier=0.0), payoffs(BARRIER)
    for name, worth in (("plain", plain), ("down and out", stopped)):
        print(f"{name}: {worth.mean():.4f} +- {worth.std() / math.sqrt(worth.size):.4f}")
    print(f"plain, by the formula: {black_scholes():.4f}")
    exact, counts = black_scholes(), np.geomspace(100, plain.size, 400).astype(int)
    error = 2 * plain.std() / np.sqrt(counts)
    plt.fill_between(counts, exact - error, exact + error, alpha=0.2)
    plt.semilogx(counts, np.cumsum(plain)[counts - 1] / counts)
    plt.axhline(exact, color="black", lw=1)
    plt.gca().set(xlabel="paths", ylabel="mean price; exact, and two standard errors")
    plt.show()


if __name__ == "__main__":
    main()
