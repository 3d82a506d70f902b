"""Let two shear layers of a fluid roll up, and film the dye while the next steps run.

    python examples/fluids.py [cpu | simulated]

A fluid without friction in a square that goes on with its other side (stable fluids on staggered
cells): velocities are on the faces of cells, pressure and dye in the middle. A step carries all of
them along the flow, and then takes away what would compress it; Jacobi's sweeps find the pressure.
A frame leaves while two steps run, of which only the second overwrites the dye.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import eagle
import hawk
from hawk import Grid, Mutable, Param

CELLS, SWEEPS, FRAMES, ROUNDS = 128, 20, 6, 48
DT = 0.25 / CELLS  # seconds of a step: a flow of speed 1 crosses a quarter of a cell


def upstream(q, x_cells, y_cells):
    """What was at this place before the flow moved on by so many cells, between four neighbours."""
    x = hawk.sample_index("x") - x_cells
    y = hawk.sample_index("y") - y_cells
    i, j = hawk.index(hawk.math.floor(x)), hawk.index(hawk.math.floor(y))
    a, b = x - i, y - j
    low = (1 - a) * q.at(x=i, y=j, edge="wrap") + a * q.at(x=i + 1, y=j, edge="wrap")
    high = (1 - a) * q.at(x=i, y=j + 1, edge="wrap") + a * q.at(x=i + 1, y=j + 1, edge="wrap")
    return (1 - b) * low + b * high


def mean(q, x, y):
    """The mean at a corner: of this place and its neighbours on that side in x, in y, in both."""
    beside, above = q.neighbor(x=x, edge="wrap"), q.neighbor(y=y, edge="wrap")
    return 0.25 * (q + beside + above + q.neighbor(x=x, y=y, edge="wrap"))


@hawk.kernel
def flow(u: Grid["x", "y"], v: Grid["x", "y"], k: Param) -> tuple[Grid["x", "y"], Grid["x", "y"]]:
    along = upstream(u, k * u, k * mean(v, -1, +1))
    across = upstream(v, k * mean(u, +1, -1), k * v)
    return along, across


@hawk.kernel
def carry(dye: Grid["x", "y"], u: Grid["x", "y"], v: Grid["x", "y"], k: Param) -> Grid["x", "y"]:
    right, above = u.neighbor(x=+1, edge="wrap"), v.neighbor(y=+1, edge="wrap")
    return upstream(dye, k * 0.5 * (u + right), k * 0.5 * (v + above))


@hawk.kernel
def excess(u: Grid["x", "y"], v: Grid["x", "y"]) -> Grid["x", "y"]:
    return u.neighbor(x=+1, edge="wrap") - u + v.neighbor(y=+1, edge="wrap") - v


@hawk.kernel
def relax(p: Grid["x", "y"], div: Grid["x", "y"]) -> Grid["x", "y"]:
    beside = p.neighbor(x=-1, edge="wrap") + p.neighbor(x=+1, edge="wrap")
    return 0.25 * (beside + p.neighbor(y=-1, edge="wrap") + p.neighbor(y=+1, edge="wrap") - div)


@hawk.kernel
def push(u: Mutable[Grid["x", "y"]], v: Mutable[Grid["x", "y"]], p: Grid["x", "y"]):
    u -= p - p.neighbor(x=-1, edge="wrap")
    v -= p - p.neighbor(y=-1, edge="wrap")


def step(u, v, p, q):
    """Nodes of a step; `p` is where the last step found the pressure, a good place to begin."""
    along, across = flow(u, v, DT * CELLS)
    eagle.copy(along, into=u)
    eagle.copy(across, into=v)
    div = excess(u, v)
    for _ in range(SWEEPS // 2):
        relax(p, div, buffer=q)
        relax(q, div, buffer=p)
    push(u, v, p)


@eagle.Graph.builder
def film(dye, u, v, p, q, h_frame):
    g = eagle.Graph()
    with g.parallel() as fork:
        with fork.branch():
            eagle.copy(dye, into=h_frame)  # the frame leaves ...
        with fork.branch() as w:
            step(u, v, p, q)  # ... while the next steps run
            there = carry(dye, u, v, DT * CELLS)
            step(u, v, p, q)
            w.wait(h_frame)  # what overwrites the dye waits for the copy
            carry(there, u, v, DT * CELLS, buffer=dye)
    g.result = excess(u, v)
    return g


def main(device: str = "cpu") -> None:
    xp = eagle.xp_for(device)
    x, y = np.meshgrid(*[(np.arange(CELLS) + 0.5) / CELLS] * 2, indexing="ij")
    speed = np.tanh(30 * np.where(y < 0.5, y - 0.25, 0.75 - y))
    wave = 0.05 * np.sin(2 * np.pi * x)
    energy = (speed**2 + wave**2).mean()
    dye, u, v = (xp.asarray(each) for each in (0.5 + 0.5 * speed, speed, wave))
    p, q, h_frame = xp.zeros(x.shape), xp.zeros(x.shape), eagle.pinned(x.shape)
    g = film(dye, u, v, p, q, h_frame)
    frames = []
    for _ in range(FRAMES):
        g.launch(ROUNDS)
        frames.append(h_frame.copy())
    ends = [eagle.copy(each, into=np.zeros(x.shape)) for each in (u, v, g.result)]
    fig, axes = plt.subplots(1, FRAMES, figsize=(3 * FRAMES, 3.2), layout="constrained")
    for number, (ax, frame) in enumerate(zip(axes, frames), 1):
        ax.imshow(frame.T, cmap="RdYlBu", origin="lower", vmin=0, vmax=1)
        ax.set(title=f"{(2 * number * ROUNDS - 2) * DT:.2f} s", xticks=[], yticks=[])
    g.profile()
    g.plot()
    print(f"energy left: {(ends[0] ** 2 + ends[1] ** 2).mean() / energy:.1%}")
    print(f"what flows into a cell flows out of it, to {abs(ends[2]).max():.0e} of the speed")
    plt.show()


if __name__ == "__main__":
    main(*sys.argv[1:])
