"""The workloads: inputs of every sample, and how many steps each of them takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
SEED = 7


@dataclass(frozen=True, slots=True)
class Workload:
    """A batch of samples. The last plane of `state` is t, which no step makes less."""

    name: str
    source: str  # the file under limit/ that has its step; empty where there is none
    dtype: np.dtype[Any]
    max_steps: int
    state: list[Array]
    inputs: list[Array]
    shared: list[float]
    t_end: float | Array  # a sample is done when t >= t_end
    t_step: float | None  # by how much t grows in each step; None where that differs

    rough: tuple[int, ...] = ()  # planes of the state that follow the last bits of others
    order: str = ""  # of the samples, where it was asked for

    @property
    def samples(self) -> int:
        return len(self.state[0])

    def steps(self) -> Array:
        """Steps of each sample, found by adding up t as every arm does; not without `t_step`."""
        assert self.t_step is not None
        t = np.add.accumulate(np.full(self.max_steps, self.t_step, self.dtype))
        ends = np.broadcast_to(np.asarray(self.t_end, self.dtype), self.samples)
        return np.minimum(np.searchsorted(t, ends, side="left") + 1, self.max_steps)


def _oscillator(rng: np.random.Generator, n: int) -> dict[str, Any]:
    dt, t_end = 1e-3, 1.0
    return {
        "source": "oscillator", "max_steps": 1200,
        "state": [np.ones(n), np.zeros(n), np.zeros(n)],
        "inputs": [np.linspace(1.0, 3.0, n)],
        "shared": [dt, t_end], "t_end": t_end, "t_step": dt,
    }  # fmt: skip


def _spread(rng: np.random.Generator, n: int, *, longest: int) -> dict[str, Any]:
    """The oscillator, each sample with a stop time of its own: log-uniform from 10 steps on."""
    dt = 1e-3
    steps = np.exp(rng.uniform(np.log(10), np.log(longest), n))
    steps[0] = longest
    t_end = steps * dt - 0.5 * dt
    return {
        "source": "spread", "max_steps": longest * 52 // 50,
        "state": [np.ones(n), np.zeros(n), np.zeros(n)],
        "inputs": [np.linspace(1.0, 3.0, n), t_end],
        "shared": [dt, 0.0], "t_end": t_end, "t_step": dt,
    }  # fmt: skip


def _outliers(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """The oscillator: one of 100 samples, somewhere, takes 100 times as many steps as others."""
    facts, dt = _spread(rng, n, longest=10_000), 1e-3
    t_end = np.where(rng.permutation(n) % 100 == 0, 9_999.5, 99.5) * dt
    return {**facts, "inputs": [facts["inputs"][0], t_end], "t_end": t_end}


def _orbit(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Two bodies, classical Runge-Kutta, one period of the mean orbit."""
    dt = 2 * np.pi / 500
    a, e = rng.uniform(0.8, 1.2, n), rng.uniform(0.0, 0.3, n)
    tilt, turn = rng.uniform(0, np.pi, n), rng.uniform(0, 2 * np.pi, n)
    r, v = a * (1 - e), np.sqrt((1 + e) / (a * (1 - e)))
    x, y, vx, vy = r * np.cos(turn), r * np.sin(turn), -v * np.sin(turn), v * np.cos(turn)
    c, s = np.cos(tilt), np.sin(tilt)
    return {
        "source": "orbit", "max_steps": 600,
        "state": [x, y * c, y * s, vx, vy * c, vy * s, np.zeros(n)],
        "inputs": [],
        "shared": [dt, 499.5 * dt, 1.0, dt / 2, dt / 6], "t_end": 499.5 * dt, "t_step": dt,
    }  # fmt: skip


def _lorenz(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Lorenz's system, classical Runge-Kutta, rho of each sample its own."""
    dt = 1e-3
    return {
        "source": "lorenz", "max_steps": 1200,
        "state": [np.ones(n), np.zeros(n), np.zeros(n), np.zeros(n)],
        "inputs": [rng.uniform(0.0, 28.0, n)],
        "shared": [dt, 999.5 * dt, 10.0, 8.0 / 3.0, dt / 2, dt / 6],
        "t_end": 999.5 * dt, "t_step": dt,
    }  # fmt: skip


def _pendulum(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """A damped, driven pendulum: one sin, exp and pow a step."""
    dt = 1e-2
    return {
        "source": "pendulum", "max_steps": 600,
        "state": [rng.uniform(-1, 1, n), rng.uniform(-1, 1, n), np.zeros(n)],
        "inputs": [rng.uniform(0.05, 0.5, n)],
        "shared": [dt, 499.5 * dt, 1.5, 0.2, 1e-6, 0.3], "t_end": 499.5 * dt, "t_step": dt,
    }  # fmt: skip


def _card(rng: np.random.Generator, n: int, *, spread: bool) -> dict[str, Any]:
    """A damped oscillator, classical Runge-Kutta; t counts steps, each sample has its last one."""
    dt = 0.01
    if spread:
        last = np.clip(np.ceil(np.exp(rng.uniform(np.log(10), np.log(1000), n))), 10, 1000)
        last[0] = 1000.0
    else:
        last = np.full(n, 1000.0)
    return {
        "source": "card", "max_steps": 1200,
        "state": [rng.uniform(-1, 1, n), rng.uniform(-1, 1, n), np.zeros(n)],
        "inputs": [rng.uniform(1, 10, n), rng.uniform(0.01, 0.2, n), last],
        "shared": [dt, 0.0, dt / 2, dt / 6], "t_end": last, "t_step": 1.0,
    }  # fmt: skip


def _regimes(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """A fall from 5 to 40 km: no drag above 25 km, an exponential atmosphere, a power law below 11.

    Kilometres and seconds. Shared: dt, end, g, the two borders, lapse, exponent, scale.
    """
    dt = 0.25
    return {
        "source": "regimes", "max_steps": 360,
        "state": [rng.uniform(5.0, 40.0, n), np.zeros(n), np.zeros(n)],
        "inputs": [rng.uniform(0.5, 5.0, n)],
        "shared": [dt, 299.5 * dt, 0.00981, 11.0, 25.0, 0.0226, 4.256, 0.1106],
        "t_end": 299.5 * dt, "t_step": dt,
    }  # fmt: skip


def _kepler(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Mean places on an ellipse: Kepler's equation in each step, by Newton's method to 1e-5.

    That many digits are enough: the last step of the method squares what is left.
    """
    dt, e = 0.05, rng.uniform(0.0, 0.9, n)
    return {
        "source": "kepler", "max_steps": 120,
        "state": [np.zeros(n), np.zeros(n), np.zeros(n)],
        "inputs": [rng.uniform(0.5, 1.2, n), e, np.sqrt(1 - e * e)],
        "shared": [dt, 99.5 * dt, 1e-5], "t_end": 99.5 * dt, "t_step": dt,
    }  # fmt: skip


def _adaptive(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Van der Pol's oscillator by Dormand and Prince's pair; the length of a step is state.

    Shared: end, tolerance, the least and the most by which a step changes, safety, power.
    """
    return {
        "source": "", "max_steps": 4000,
        "state": [np.full(n, 2.0), np.zeros(n), np.full(n, 1e-2), np.zeros(n)],
        "inputs": [rng.uniform(0.1, 10.0, n)],
        "shared": [10.0, 1e-5, 0.2, 5.0, 0.9, -0.2], "t_end": 10.0, "t_step": None,
        "rough": (2,),  # how long a step that nobody takes would be
    }  # fmt: skip


MAKERS: dict[str, Callable[[np.random.Generator, int], dict[str, Any]]] = {
    "oscillator": _oscillator,
    "spread100": lambda rng, n: _spread(rng, n, longest=1000),
    "spread1000": lambda rng, n: _spread(rng, n, longest=10_000),
    "orbit": _orbit,
    "lorenz": _lorenz,
    "pendulum": _pendulum,
    "card_spread": lambda rng, n: _card(rng, n, spread=True),
    "card_uniform": lambda rng, n: _card(rng, n, spread=False),
    # New ones last: the place is part of the seed.
    "outliers": _outliers,
    "regimes": _regimes,
    "kepler": _kepler,
    "adaptive": _adaptive,
}


ORDERS = ("sorted", "reversed")


def make(name: str, *, dtype: str, samples: int, order: str = "") -> Workload:
    """A workload's batch; `order` puts its samples in that of their stop times."""
    rng = np.random.default_rng([SEED, samples, list(MAKERS).index(name)])
    facts = MAKERS[name](rng, samples)
    width = np.dtype(dtype)
    for planes in ("state", "inputs"):
        facts[planes] = [np.ascontiguousarray(plane, dtype=width) for plane in facts[planes]]
    facts["shared"] = [float(number) for number in facts["shared"]]
    if order:
        places = np.argsort(facts["t_end"], kind="stable")
        places = places[::-1] if order == "reversed" else places
        for planes in ("state", "inputs"):
            facts[planes] = [np.ascontiguousarray(plane[places]) for plane in facts[planes]]
        facts["t_end"] = facts["t_end"][places]
    return Workload(name=name, dtype=width, order=order, **facts)
