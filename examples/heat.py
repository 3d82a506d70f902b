"""Let the heat of a square plate spread, and compare it with Fourier's solution.

    python examples/heat.py

Each sample is a cell. It reads its neighbours in the plate as it was, which nobody writes in that
launch, and returns what it becomes; two plates take turns. The edges are insulated: a neighbour
beyond them is the nearest cell there is.
"""

import matplotlib.pyplot as plt
import numpy as np

import eagle
import hawk
from hawk import Grid, Param


@hawk.kernel
def spread(u: Grid["x", "y"], k: Param) -> Grid["x", "y"]:
    left, right = u.neighbor(x=-1), u.neighbor(x=+1)
    below, above = u.neighbor(y=-1), u.neighbor(y=+1)
    return u + k * (left + right + below + above - 4 * u)


def plate(cells: int, seconds: float) -> tuple[np.ndarray, float]:
    """The plate after some time, and how far it is from the exact solution."""
    x = (np.arange(cells) + 0.5) / cells
    wave = np.cos(np.pi * x)[:, None] * np.cos(2 * np.pi * x)[None, :]
    steps = round(seconds * 4 * cells**2)
    here, there = wave.copy(), np.empty_like(wave)
    k = seconds / steps * cells**2
    ways = [eagle.deploy(spread).bind(u=a, k=k, out=b) for a, b in ((here, there), (there, here))]
    for step in range(steps):
        ways[step % 2].launch()
    last = (here, there)[steps % 2]
    return last, abs(last - wave * np.exp(-5 * np.pi**2 * seconds)).max()


def main() -> None:
    errors = {}
    for cells in (16, 32, 64, 128):
        last, errors[cells] = plate(cells, 0.02)
        print(f"{cells:4} x {cells}: error {errors[cells]:.2e}")
    order = np.log2(errors[64] / errors[128])
    print(f"half the size of a cell, a quarter of the error: order {order:.2f}")
    fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
    image = ax.imshow(last.T, cmap="inferno", extent=(0, 1, 0, 1), origin="lower")
    fig.colorbar(image, label="temperature")
    ax.set(xlabel="x", ylabel="y")
    plt.show()


if __name__ == "__main__":
    main()
