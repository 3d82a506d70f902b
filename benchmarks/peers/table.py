"""The libraries we are compared with: what is installed for each, and which arms it has.

An arm is a module of this folder with a function `arm(workload)`, which compiles all that a run
needs. It runs in the environment of its library, so none of them has to get along with ours, or
with each other.
"""

from __future__ import annotations

from typing import NamedTuple

ENVIRONMENTS: dict[str, tuple[str, ...]] = {
    "raptor": ("raptor-eagle==0.7.1", "raptor-hawk==0.7.1", "numpy==2.4.6"),
    "jax": ("jax==0.10.2", "diffrax==0.7.2", "numpy==2.4.6"),
    "taichi": ("taichi==1.7.4", "numpy==2.4.6"),
    "warp": ("warp-lang==1.19.0", "numpy==2.4.6"),
    "heyoka": ("heyoka==7.13.2", "numpy==2.4.6"),
}
"""Name of an environment, and what pip installs there."""

PLAIN = ("oscillator", "spread100", "orbit", "lorenz", "pendulum")
"""The workloads that every library with kernels runs."""


NESTED = ("regimes", "kepler", "adaptive")
"""Those with branches and loops inside a step."""


class Peer(NamedTuple):
    """One arm of another library."""

    name: str
    environment: str
    module: str
    """The file of this folder."""
    rows: tuple[str, ...]
    narrow: tuple[str, ...] = ("oscillator", "spread100", "orbit")
    """The rows that it runs in float32, too."""
    tolerance: dict[str, float] = {}
    """Of a workload, where the arm solves the same equations by another method."""

    def takes(self, row: str, dtype: str) -> bool:
        return row in self.rows and (dtype == "float64" or row in self.narrow)


OTHER_METHOD = (("orbit",), (), {"orbit": 1e-5})
"""Libraries of integrators solve the equations by methods of their own, to a tolerance."""

PEERS = (
    Peer(
        "RAPTOR 0.7", "raptor", "raptor_simulate", (*PLAIN, "regimes", "adaptive")
    ),  # has no while
    Peer("JAX, vmap of while", "jax", "jax_vmap", PLAIN),
    Peer("JAX, blocks of 8 steps", "jax", "jax_blocks", PLAIN),
    Peer("Taichi", "taichi", "taichi_loop", (*PLAIN, *NESTED)),
    Peer("Warp", "warp", "warp_loop", (*PLAIN, *NESTED)),
    Peer("heyoka.py, 1 thread", "heyoka", "heyoka_taylor", *OTHER_METHOD),
    Peer("diffrax, Dopri5", "jax", "diffrax_dopri5", *OTHER_METHOD),
)

GRAPHS = (Peer("Warp, CPU graph", "warp", "warp_graph", ("2 nodes", "50 nodes", "three kernels")),)
"""Those that replay graphs on the CPU."""
