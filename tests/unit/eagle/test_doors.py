"""Every wrong call says what was expected, what came and what to write: whole messages on file.

A file of tests/golden/doors is a list of cases: a heading, the call, the message. Run this file to
write the messages anew, and read the difference.
"""

import array
import importlib
import importlib.util
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import eagle
import hawk
from hawk import (
    Bool,
    Grid,
    Index,
    Int32,
    Matrix,
    Mutable,
    Param,
    Scalar,
    Table,
    Terminated,
    UInt32,
    Vector,
)
from tests.unit.eagle import exporters

FOLDER = Path(__file__).parents[2] / "golden" / "doors"
OPTIONAL = ("torch", "jax")
"""Libraries that have a file of their own, which is skipped where they are not installed."""

_CASE = re.compile(
    r"^## (.*?)\n\n```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL | re.MULTILINE
)


class Case(NamedTuple):
    """One wrong call."""

    title: str
    call: str
    message: str
    file: str


def cases() -> list[Case]:
    return [
        Case(*(match.group(i) or "" for i in (1, 2, 3)), path.stem)
        for path in sorted(FOLDER.glob("*.md"))
        for match in _CASE.finditer(path.read_text(encoding="utf-8"))
    ]


# -- what the calls are written with ---------------------------------------------------------------


@hawk.kernel
def swing(
    omega: Scalar,
    t_end: Param,
    dt: Param,
    x: Mutable[Scalar],
    v: Mutable[Scalar],
    t: Mutable[Scalar],
    over: Terminated,
):
    x += dt * v
    v -= dt * omega * x
    t += dt
    over = t >= t_end


@hawk.kernel
def double(x: Scalar) -> Scalar:
    return x + x


@hawk.kernel
def scale(x: Scalar, *, by: Param) -> Scalar:
    return x * by


@hawk.kernel
def pair(x: Scalar, a: Scalar = 2.0) -> tuple[Scalar, Scalar]:
    return a * x, x + a


@hawk.kernel
def grow(x: Mutable[Scalar], rate: Param, age: Mutable[Scalar] = 1.0):
    x *= rate
    age += 1.0


@hawk.kernel(steps=2)
def add(x: Scalar, total: Mutable[Scalar]) -> Scalar:
    total += x
    return total


@hawk.kernel
def kinds(i: Index, j: Int32, u: UInt32, flag: Bool, k: Param[Int32] = 1) -> Index:
    return i + int(j) + int(u) + int(flag) + int(k)


@hawk.kernel
def looks(t: Table[Scalar], g: Table["r":2, "c"], k: Table[Int32, 3], i: Index) -> Scalar:  # pyright: ignore[reportGeneralTypeIssues, reportInvalidTypeArguments]
    return t[i] + g[0, i] + float(k[i])


@hawk.kernel
def relax(p: Grid["r", "c"], source: Grid["r", "c"]) -> Grid["r", "c"]:
    return 0.5 * (p.neighbor(r=-1) + p.neighbor(c=+1)) - source


@hawk.kernel
def fixed(p: Grid["r":3, "c":3]) -> Grid["r":3, "c":3]:  # pyright: ignore[reportGeneralTypeIssues, reportInvalidTypeArguments]
    return p + 1.0


@hawk.kernel
def warm(u: Mutable[Grid["r", "c"]], gain: Scalar):
    u += gain


@hawk.kernel
def ramp(x: Scalar) -> Grid["r", "c"]:
    return x + hawk.sample_index("r")


def tables(n: int = 4, **changes: Any) -> dict[str, Any]:
    """The planes of `looks`."""
    planes = {"t": np.zeros(7), "g": np.zeros((2, 5)), "k": np.zeros(3, np.int32)}
    return planes | {"i": np.zeros(n, np.int64)} | changes


@hawk.kernel
def tally(k: Index, counts: Mutable[Table[Int32]], image: Mutable[Table["row", "column"]]):  # pyright: ignore[reportGeneralTypeIssues]
    hawk.scatter(counts)[k] += 1
    hawk.scatter(image)[k, k] += 0.5


def shared(n: int = 4, **changes: Any) -> dict[str, Any]:
    """The planes of `tally`."""
    planes = {"k": np.zeros(n, np.int64), "counts": np.zeros(3, np.int32)}
    return planes | {"image": np.zeros((2, 3))} | changes


@hawk.kernel
def orbit(
    r: Mutable[Vector[3]],
    v: Mutable[Vector[3]],
    g: Param[Vector[3]],
    dt: Param,
    t: Mutable[Scalar],
    over: Terminated,
) -> Vector[3]:
    v += dt * (g - r / (r @ r) ** 1.5)
    r += dt * v
    t += dt
    over = t >= 1.0
    return v


@hawk.kernel
def product(F: Matrix[2, 2], x: Vector[2, Int32]) -> Vector[2]:
    return F @ x


def moving(n: int = 4, **changes: Any) -> dict[str, Any]:
    """The planes of `orbit`."""
    planes = {"r": np.ones((3, n)), "v": np.zeros((3, n)), "t": np.zeros(n)}
    return planes | {"g": (0.0, 0.0, -1.0), "dt": 0.1} | changes


@dataclass
class Body:
    position: Vector[3]
    velocity: Vector[3]
    mass: Scalar
    drag: Param = 0.0


@hawk.kernel
def drift(body: Mutable[Body], dt: Param):
    body.velocity -= dt * body.drag * body.velocity
    body.position += dt * body.velocity


@hawk.kernel
def nearest(a: Body, b: Body) -> Body:
    return a if a.position @ a.position < b.position @ b.position else b


@hawk.kernel
def meet(a: Mutable[Body], b: Mutable[Body]):
    a.velocity, b.velocity = b.velocity.copy(), a.velocity.copy()


@dataclass(slots=True)
class Slotted:
    position: Any
    velocity: Any
    mass: Any


def bodies(n: int = 4, **changes: Any) -> Body:
    """What `drift` takes."""
    held: dict[str, Any] = {"position": np.zeros((3, n)), "velocity": np.zeros((3, n))}
    return Body(**(held | {"mass": np.ones(n)} | changes))


def given(n: int = 4, **changes: Any) -> dict[str, Any]:
    """The planes of `swing`."""
    planes = {name: np.zeros(n) for name in ("omega", "x", "v", "t")}
    return planes | {"t_end": 1.0, "dt": 0.1} | changes


def integers(n: int = 4) -> dict[str, Any]:
    """The planes of `kinds`."""
    types = {"i": np.int64, "j": np.int32, "u": np.uint32, "flag": np.bool}
    return {name: np.zeros(n, dtype) for name, dtype in types.items()}


def read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array


def memory_map(array: Any) -> Any:
    """A memory map of a file that holds `array`, which may be read."""
    with tempfile.TemporaryFile() as file:
        file.write(array.tobytes())
        file.flush()
        return np.memmap(file, array.dtype, mode="r")


# -- the test --------------------------------------------------------------------------------------


def said(case: Case) -> str:
    """What the call says."""
    names = {**globals(), **vars(exporters), "array": array, "SimpleNamespace": SimpleNamespace}
    if case.file in OPTIONAL:
        names[case.file] = importlib.import_module(case.file)
    with pytest.raises((eagle.BindError, TypeError)) as caught:
        exec(case.call, names)
    return str(caught.value).replace("tests.unit.eagle.", "")


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case,
            id=f"{case.file}: {case.title}",
            marks=exporters.needs_versions if case.file == "libraries" else (),
        )
        for case in cases()
    ],
)
def test_the_message_is_the_one_on_file(case: Case) -> None:
    if case.file in OPTIONAL and importlib.util.find_spec(case.file) is None:
        pytest.skip(f"needs {case.file}, which is not installed")
    assert case.message.rstrip() == said(case)


def write() -> None:
    """Write all messages anew."""
    for path in sorted(FOLDER.glob("*.md")):
        if path.stem in OPTIONAL and importlib.util.find_spec(path.stem) is None:
            continue
        found = [case for case in cases() if case.file == path.stem]
        parts = [
            f"## {case.title}\n\n```python\n{case.call}```\n\n```text\n{said(case)}\n```\n"
            for case in found
        ]
        head = path.read_text(encoding="utf-8").partition("\n")[0]
        path.write_text("\n".join((f"{head}\n", *parts)), encoding="utf-8")


if __name__ == "__main__":
    write()
