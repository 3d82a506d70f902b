"""What `gpu_check.py` tries with CuPy, PyTorch, JAX and Warp, each where it is installed.

Each function gets what there is to try on, and gives what the table says of it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np

import eagle
import hawk
from hawk import Mutable, Scalar


@hawk.kernel
def inc(x: Mutable[Scalar]):
    x += 1.0


@hawk.kernel
def doubled(x: Scalar) -> Scalar:
    return x + x


@hawk.kernel
def push(x: Mutable[Scalar], y: Scalar):
    x += 0.5 * y


@hawk.kernel(steps=100)
def lorenz(x: Mutable[Scalar], y: Mutable[Scalar], z: Mutable[Scalar]):
    """A hundred explicit steps of Lorenz's system."""
    x, y, z = (
        x + 0.001 * (10.0 * (y - x)),
        y + 0.001 * (x * (28.0 - z) - y),
        z + 0.001 * (x * y - 8.0 / 3.0 * z),
    )


class LeftOut(Exception):
    """A row that cannot be tried here."""


def needed(library: str, here: Any) -> Any:
    """The library. Raises LeftOut where it is not there."""
    if here.dry or importlib.util.find_spec(library) is None:
        raise LeftOut(f"{library} is not there")
    return import_module(library)


def stepped(x: Any, h: Any) -> Any:
    """A graph that adds 1 to `x`, and copies that to the host."""

    @eagle.Graph.builder
    def build(x, h):
        g = eagle.Graph()
        inc(x)
        eagle.copy(x, into=h)
        return g

    return build(x, h)


# -- arrays and functions of others ----------------------------------------------------------------


def arrays_of_cupy(here: Any) -> str:
    cupy = needed("cupy", here)
    x, h = cupy.arange(8.0), eagle.pinned(8)
    with cupy.cuda.Stream(non_blocking=True):
        x *= 2.0  # on a stream that is not the default one
        stepped(x, h).launch(3)
        x *= 2.0
    assert (h == 2.0 * np.arange(8.0) + 3.0).all()
    assert (cupy.asnumpy(x) == 2.0 * h).all()
    y = doubled(x)
    assert type(y) is cupy.ndarray
    assert bool((y == 2.0 * x).all())
    return f"CuPy {cupy.__version__}"


def tensors_of_pytorch(here: Any) -> str:
    torch = needed("torch", here)
    x, h = torch.arange(8.0, dtype=torch.float64, device="cuda"), eagle.pinned(8)
    x *= 2.0
    stepped(x, h).launch(3)
    x *= 2.0
    assert (h == 2.0 * np.arange(8.0) + 3.0).all()
    assert (x.cpu().numpy() == 2.0 * h).all()
    y = doubled(x)
    assert type(y) is torch.Tensor
    assert bool((y == 2.0 * x).all())
    return f"PyTorch {torch.__version__}"


def captured_of_cupy(here: Any) -> str:
    cupy = needed("cupy", here)

    def wave(x: Any, y: Any) -> None:
        y[...] = cupy.sin(x) * 2.0 + cupy.cumsum(x)  # with arrays on its way

    return _captured(wave, cupy.linspace(0.0, 1.0, 100_000), cupy.zeros_like, cupy.asnumpy)


def captured_of_pytorch(here: Any) -> str:
    torch = needed("torch", here)

    def wave(x: Any, y: Any) -> None:
        y.copy_(torch.sin(x) * 2.0 + torch.cumsum(x, 0))

    x = torch.linspace(0.0, 1.0, 100_000, dtype=torch.float64, device="cuda")
    return _captured(wave, x, torch.zeros_like, lambda each: each.cpu().numpy())


def _captured(
    wave: Callable[[Any, Any], None],
    x: Any,
    zeros: Callable[[Any], Any],
    read: Callable[[Any], Any],
) -> str:
    """A function between kernels, also in a loop, does what it does at once."""

    @eagle.Graph.builder
    def build(x, y, *, capture):
        g = eagle.Graph()
        for _ in range(3):
            eagle.opaque(wave, reads=x, writes=y, capture=capture, eager=not capture)
            push(x, y)
        return g

    found: list[bytes] = []
    for capture in (True, False):
        here, y = zeros(x) + x, zeros(x)
        graph = build(here, y, capture=capture)
        graph.launch(1)
        others = [zeros(x) + 7.0 for _ in range(20)]  # in memory that must not be the graph's
        graph.launch(4)
        assert all((read(each) == 7.0).all() for each in others)
        found.append(read(here).tobytes() + read(y).tobytes())
    assert found[0] == found[1]
    return ""


# -- how fast --------------------------------------------------------------------------------------


def rates(here: Any) -> str:
    """A hundred explicit steps of Lorenz's system for many samples, in float64."""
    n = here.size(1 << 22, 1 << 8)
    start = np.random.default_rng(0).normal(size=(3, n))
    ways = {"eagle": _eagle, "CuPy": _cupy, "JAX": _jax, "Warp": _warp}
    said: list[str] = []
    for name, way in ways.items():
        try:
            said.append(f"{name} {100 * n / way(here, start):.2e}")
        except LeftOut:
            continue
    return f"Lorenz, float64, {n:,} samples, steps/s: {', '.join(said)}"


def best(launch: Callable[[], object], wait: Callable[[], object], rounds: int = 10) -> float:
    """Seconds of a launch: the least of some."""
    found: list[float] = []
    for _ in range(rounds):
        begin = perf_counter()
        launch()
        wait()
        found.append(perf_counter() - begin)
    return min(found[1:])


def _eagle(here: Any, start: Any) -> float:
    @eagle.Graph.builder
    def build(x, y, z):
        g = eagle.Graph()
        lorenz(x, y, z)
        return g

    graph = build(*map(here.xp.array, start))
    return best(graph.launch, lambda: None, here.size(10, 2))


def _cupy(here: Any, start: Any) -> float:
    cupy = needed("cupy", here)
    step = cupy.ElementwiseKernel(
        "",
        "float64 x, float64 y, float64 z",
        """for (int k = 0; k < 100; k++) {
             double a = x + 0.001 * (10.0 * (y - x)), b = y + 0.001 * (x * (28.0 - z) - y);
             z = z + 0.001 * (x * y - 8.0 / 3.0 * z); x = a; y = b;
           }""",
        "lorenz",
    )
    planes = [cupy.asarray(each) for each in start]
    return best(lambda: step(*planes), cupy.cuda.Device().synchronize)


def _jax(here: Any, start: Any) -> float:
    jax = needed("jax", here)
    jax.config.update("jax_enable_x64", True)

    def step(_: Any, planes: Any) -> Any:
        x, y, z = planes
        return (
            x + 0.001 * (10.0 * (y - x)),
            y + 0.001 * (x * (28.0 - z) - y),
            z + 0.001 * (x * y - 8.0 / 3.0 * z),
        )

    many = jax.jit(lambda planes: jax.lax.fori_loop(0, 100, step, planes))
    planes = tuple(jax.numpy.asarray(each) for each in start)
    return best(lambda: jax.block_until_ready(many(planes)), lambda: None)


def _warp(here: Any, start: Any) -> float:
    wp = needed("warp", here)
    wp.init()
    planes = [wp.array(each, dtype=wp.float64, device="cuda") for each in start]
    step = wp.kernel(_lorenz_of_warp(wp))
    count = len(start[0])
    return best(lambda: wp.launch(step, dim=count, inputs=planes, device="cuda"), wp.synchronize)


def _lorenz_of_warp(wp: Any) -> Any:
    def lorenz_of_warp(x, y, z):
        i = wp.tid()
        a, b, c = x[i], y[i], z[i]
        for _ in range(100):
            d = a + wp.float64(0.001) * (wp.float64(10.0) * (b - a))
            e = b + wp.float64(0.001) * (a * (wp.float64(28.0) - c) - b)
            c = c + wp.float64(0.001) * (a * b - wp.float64(8.0) / wp.float64(3.0) * c)
            a = d
            b = e
        x[i] = a
        y[i] = b
        z[i] = c

    plane = wp.array(dtype=wp.float64)
    lorenz_of_warp.__annotations__ = dict.fromkeys("xyz", plane)
    return lorenz_of_warp


ROWS: dict[str, Callable[[Any], str]] = {
    "CuPy's arrays": arrays_of_cupy,
    "PyTorch's tensors": tensors_of_pytorch,
    "a function of CuPy is captured": captured_of_cupy,
    "a function of PyTorch is captured": captured_of_pytorch,
    "steps a second, beside CuPy, JAX and Warp": rates,
}
