"""Random builders of graphs, as text: what the walk of a builder records, CPython runs by hand.

The text is run twice: under `@eagle.Graph.builder`, and as the plain function it is, where calls of
kernels, copies and Python functions happen at once and a fork is nothing but its branches in order.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import strategies as st

import eagle
import hawk
from hawk import Bool, Int32, Mutable, Scalar, Table, Vector

N = 3
FILE = "random_graph.py"


@hawk.kernel
def turn(x: Vector[2]) -> Vector[2]:
    return hawk.math.vec(x[1] * 0.5, x[0] + 1.0)


@hawk.kernel
def mix(x: Vector[2], y: Vector[2]) -> Vector[2]:
    return x * 0.5 + y


@hawk.kernel
def drift(x: Mutable[Vector[2]]):
    x[0] += 0.25 * x[1]
    x[1] -= 0.5


@hawk.kernel
def push(x: Mutable[Vector[2]], y: Vector[2]):
    x += y


@hawk.kernel
def centre(x: Mutable[Vector[2]]):
    x[0] -= hawk.mean(x[1])
    x[1] = hawk.max(x[1], where=x[0] < 0.5) if hawk.any(x[0] < x[1]) else x[1] * 0.5


@hawk.kernel
def gather(x: Vector[2], y: Mutable[Table[Scalar]]):
    hawk.scatter(y, where=x[0] > x[1])[0] += 0.25 * x[1]


@hawk.kernel
def slope(x: Vector[2]) -> Scalar:
    return x[1] - x[0]


@hawk.kernel
def tick(k: Mutable[Int32]):
    k = (k * 5 + 3) % 7


@hawk.kernel
def down(k: Mutable[Int32]):
    k -= 1


@hawk.kernel
def even(k: Int32) -> Bool:
    return k % 2 == 0


def host(*planes: np.ndarray) -> None:
    planes[-1][...] = planes[0] * 0.5 - planes[-1]


def away(source: Any, target: Any) -> None:
    """The same by way of the host, for planes that live elsewhere; an ordinary function."""
    one, two = eagle.pinned((2, N)), eagle.pinned((2, N))
    eagle.copy(source, into=one)
    eagle.copy(target, into=two)
    eagle.opaque(host, reads=one, writes=two, name="host")
    eagle.copy(two, into=target)


PLANES = ("p", "q", "r", "s", "t")
"""Arrays `(2, N)`; s reaches into p."""
CELLS = ("k", "m")

_plane, _cell = st.sampled_from(PLANES), st.sampled_from(CELLS)
_small = st.integers(0, 5)


@st.composite
def _test(draw: st.DrawFn) -> str:
    a, b, n, k = draw(_cell), draw(_cell), draw(_small), draw(_small)
    return draw(
        st.sampled_from(
            (
                f"{a} > {n}",
                f"{a}",
                f"not {a}",
                f"{a} == {b}",
                "flag",
                f"flag and {a} < {n}",
                f"flag or even({a})",
                f"{n} < {a} < {n + k}",
                f"even({a}) and not even({b})",
                f"{a} in (1, {n}, {k})",
                f"not (flag or {a} != {n})",
            )
        )
    )


@st.composite
def _simple(draw: st.DrawFn) -> str:
    x, y, z, k = draw(_plane), draw(_plane), draw(_plane), draw(_cell)
    return draw(
        st.sampled_from(
            (
                f"{x} = turn({y})",
                f"{x} = mix({y}, {z})",
                f"turn({y}, buffer={x})",
                f"drift({x})",
                f"push({x}, {y})",
                f"centre({x})",
                f"gather({x}, {y}[0])",
                f"slope({x}, buffer={y}[1])",
                f"eagle.copy({x}, into={y})",
                f"eagle.copy({x}[0], into={y}[1])",
                f"eagle.copy({x}[:, :2], into={y}[:, 1:])",
                f"eagle.opaque(host, reads=({x},), writes={y})",
                f"eagle.reduce({x}, 'sum', into=total)",
                f"{x} = {y}",
                f"{x}, {y} = {y}, {x}",
                f"{x} = {y} if flag else turn({z})",
                f"{x} = mix({y} if {k} > 2 else {z}, turn({z}))",
                f"tick({k})",
                f"even({k}, out=flag)",
                f"flag = {k} > {draw(_small)}",
            )
        )
    )


@st.composite
def _block(draw: st.DrawFn, depth: int, loop: bool, most: int = 4) -> list[str]:
    lines: list[str] = []
    for _ in range(draw(st.integers(1, most))):
        kind = (
            draw(st.sampled_from(("simple", "simple", "simple", "nested"))) if depth else "simple"
        )
        lines += [draw(_simple())] if kind == "simple" else draw(_nested(depth, loop))
    return lines


def _in(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


@st.composite
def _nested(draw: st.DrawFn, depth: int, loop: bool) -> list[str]:
    kinds = ["if", "else", "while", "for", "match", "fork", "known"] + ["leave"] * (2 * loop)
    kind = draw(st.sampled_from(kinds))
    inner = draw(_block(depth - 1, loop))
    match kind:
        case "if":
            return [f"if {draw(_test())}:", *_in(inner)]
        case "else":
            other = draw(_block(depth - 1, loop))
            return [f"if {draw(_test())}:", *_in(inner), "else:", *_in(other)]
        case "leave":
            word = draw(st.sampled_from(("break", "continue")))
            return [f"if {draw(_test())}:", *_in([*inner, word])]
        case "while":
            body = ["down(w)", *draw(_block(depth - 1, True))]
            tail = draw(st.sampled_from(([], ["else:", *_in(inner)])))
            tests = ("w > 0", "w > 0", "w > 0 and (w > 1 or even(w))", "w > 0 and not even(w)")
            test = draw(st.sampled_from(tests))
            return ["eagle.copy(three, into=w)", f"while {test}:", *_in(body), *tail]
        case "for":
            body = draw(_block(depth - 1, True))
            tail = draw(st.sampled_from(([], ["else:", *_in(inner)])))
            bound = draw(st.sampled_from(("m", "1, m", "0, m, 2", "3")))
            return [f"for i in range({bound}):", *_in(body), *tail]
        case "known":
            return ["for _ in range(3):", *_in(draw(_block(depth - 1, True)))]
        case "match":
            other = draw(_block(depth - 1, loop))
            return [
                f"match {draw(_cell)}:",
                *_in(
                    ["case 0 | 3:", *_in(inner), "case 1:", *_in(other), "case _:", "    tick(k)"]
                ),
            ]
        case _:
            first, second = (draw(st.lists(_simple(), min_size=1, max_size=2)) for _ in range(2))
            waits = [f"w.wait({name})" for name in draw(st.lists(_plane, max_size=3, unique=True))]
            return [
                "with g.parallel() as f:",
                *_in(["with f.branch():", *_in(first), "with f.branch() as w:"]),
                *_in(_in([*waits, *second])),
            ]


@st.composite
def texts(draw: st.DrawFn, most: int = 6) -> str:
    """The text of a builder with up to `most` statements, those inside others not counted."""
    body = draw(_block(3, False, most))
    head = "def graph(p, q, r, s, t, k, m, w, flag, three, total):\n    g = eagle.Graph()\n"
    result = "    g.result = (p, q, r, s, t)\n    return g\n"
    return head + "".join(f"    {line}\n" for line in body) + result


class ByHand:
    """What a builder calls the graph, where there is none."""

    result: Any = None

    @contextmanager
    def parallel(self) -> Iterator[Any]:
        yield self

    @contextmanager
    def branch(self) -> Iterator[Any]:
        yield SimpleNamespace(wait=lambda plane: None)


_HAND = SimpleNamespace(Graph=ByHand, copy=eagle.copy, opaque=eagle.opaque, reduce=eagle.reduce)
_NAMED = (turn, mix, drift, push, centre, gather, slope, tick, down, even)
_KERNELS = {each.name: each for each in _NAMED}


def function(text: str, *, by_hand: bool) -> Callable[..., Any]:
    """The function of a text."""
    linecache.cache[FILE] = (len(text), None, text.splitlines(keepends=True), FILE)
    names = {"eagle": _HAND if by_hand else eagle, "host": host, "away": away, **_KERNELS}
    exec(compile(text, FILE, "exec", dont_inherit=True), names)
    return names["graph"]


def arrays() -> dict[str, Any]:
    """What a builder is called with."""
    rng = np.random.default_rng(5)
    shared = rng.normal(size=(3, N))
    p, s = shared[:2], shared[1:]
    q, r, t = (rng.normal(size=(2, N)) for _ in range(3))
    cells = {"k": 2, "m": 3, "w": 0, "three": 3}
    ints = {name: np.array(number, np.int32) for name, number in cells.items()}
    return {
        **{"p": p, "q": q, "r": r, "s": s, "t": t, **ints},
        **{"flag": np.array(True), "total": np.zeros(())},
    }
