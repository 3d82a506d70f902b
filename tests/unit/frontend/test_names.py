"""Each name of a library that a kernel may call computes what the library computes."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import itertools
import linecache
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hawk
from hawk import Bool, HawkError, Index, Int32, Param, Scalar, UInt32
from hawk.collective import REDUCTIONS
from hawk.frontend.names import LATER, RECIPES, TYPED, unknown
from hawk.frontend.structural import Structural
from hawk.ir.types import DType
from tests.oracle.numbers import EDGES
from tests.unit.frontend.every_way import every_way, expect

F32, F64 = DType.F32, DType.F64
NAMES: dict[str, Any] = {
    "Bool": Bool, "Index": Index, "Int32": Int32, "Param": Param, "Scalar": Scalar,
    "UInt32": UInt32, "hawk": hawk, "math": math, "np": np,
}  # fmt: skip
widths = pytest.mark.parametrize("real", [F64, F32], ids=lambda real: real.value)


def of_texts(texts: Sequence[str], gives: Sequence[str], planes: str) -> Any:
    """A kernel that returns the expressions."""
    results = gives[0] if len(gives) == 1 else f"tuple[{', '.join(gives)}]"
    body = f"def step({planes}) -> {results}:\n    return {', '.join(texts)}\n"
    file = f"<names {body}>"
    linecache.cache[file] = (len(body), None, body.splitlines(keepends=True), file)
    names = dict(NAMES)
    exec(compile(body, file, "exec"), names)
    return hawk.kernel(contract=False)(names["step"])


def by_library(text: str, **values: Any) -> Any:
    """What Python makes of the expression; where the library raises, NaN or inf."""
    try:
        with np.errstate(all="ignore"):
            return eval(text, NAMES, values)
    except (ValueError, OverflowError) as error:
        return math.inf if isinstance(error, OverflowError) else math.nan


def groups(texts: Sequence[str], size: int = 14) -> list[Sequence[str]]:
    """A few expressions at a time: a kernel for each would take long to compile."""
    return [texts[at : at + size] for at in range(0, len(texts), size)]


# --- of floats -----------------------------------------------------------------------------------

MATH = [
    "math.sqrt(x)", "math.fabs(x)", "math.copysign(x, y)", "math.copysign(1.5, x)",
    "math.isnan(x)", "math.isinf(x)", "math.isfinite(x)", "math.radians(x)", "math.degrees(x)",
    "math.fmod(x, y)", "math.remainder(x, y)",
]  # fmt: skip
BUILTINS = ["abs(x)", "float(x)", "bool(x)", "round(x, 3)", "pow(x, 2)", "pow(x, 1)"]
NUMPY = [
    "np.sqrt(x)", "np.floor(x)", "np.ceil(x)", "np.trunc(x)", "np.rint(x)", "np.round(x)",
    "np.round(x, 2)", "np.round(x, decimals=-1)", "np.around(x, 1)", "np.absolute(x)", "np.abs(x)",
    "np.fabs(x)", "np.fmod(x, y)", "np.remainder(x, y)", "np.mod(x, y)", "np.floor_divide(x, y)",
    "np.divmod(x, y)[0]", "np.divmod(x, y)[1]", "np.copysign(x, y)", "np.sign(x)", "np.signbit(x)",
    "np.isnan(x)", "np.isinf(x)", "np.isfinite(x)", "np.where(x > y, x, y)", "np.where(b, x, 0)",
    "np.square(x)", "np.radians(x)", "np.deg2rad(x)", "np.degrees(x)", "np.rad2deg(x)",
    "np.add(x, y)", "np.subtract(x, y)", "np.multiply(x, y)", "np.divide(x, y)",
    "np.true_divide(x, y)", "np.negative(x)", "np.positive(x)", "np.equal(x, y)",
    "np.not_equal(x, y)", "np.less(x, y)", "np.less_equal(x, y)", "np.greater(x, y)",
    "np.greater_equal(x, y)", "np.logical_and(x, b)", "np.logical_or(x, y)",
    "np.logical_xor(b, x > y)", "np.logical_not(x)", "np.invert(b)", "np.bitwise_and(b, x > y)",
    "np.float64(x)", "np.bool_(x)", "np.clip(x, -1, 1)", "np.clip(x, a_min=-1, a_max=0.5)",
]  # fmt: skip
OWN = [
    *(f"hawk.math.{name}(x)" for name in (
        "floor", "ceil", "trunc", "rint", "round", "sign", "isnan", "isinf", "isfinite", "sqrt",
    )),
    *(f"hawk.math.{name}(x, y)" for name in (
        "fmod", "remainder", "copysign", "fdim", "minimum", "maximum",
    )),
    "hawk.math.fma(x, y, 1.5)", "hawk.math.clip(x, -1.0, y)", "hawk.math.clip(x, low=y, high=2.0)",
    "hawk.math.where(b, x, y)", "hawk.math.atan2(x=y, y=x)",
]  # fmt: skip
# Of equal zeros NumPy gives one or the other, as the machine has it.
OF_EITHER_ZERO = [
    "np.minimum(x, y)", "np.maximum(x, y)", "np.fmin(x, y)", "np.fmax(x, y)", "np.clip(x, y, 2)",
]  # fmt: skip


def edges(real: DType) -> tuple[Any, Any]:
    pairs = list(itertools.product(EDGES[real], repeat=2))
    return tuple(np.array(column, real.numpy) for column in zip(*pairs, strict=True))


def of_floats(
    texts: Sequence[str], real: DType, *, scalars: bool, every: int = 1
) -> Iterator[tuple[str, dict[str, Any], Any, Any, Any]]:
    """Each expression with what a kernel gives and what the library gives, and of which numbers."""
    x, y = (column[::every] for column in edges(real))
    b = np.arange(len(x)) % 2 == 0
    columns = (x, y, b) if scalars else (x.tolist(), y.tolist(), b.tolist())
    rows = list(zip(*columns, strict=True))
    for few in groups(texts):
        wanted = [[by_library(text, x=x, y=y, b=b) for x, y, b in rows] for text in few]
        gives = ["Bool" if isinstance(each[0], (bool, np.bool_)) else "Scalar" for each in wanted]
        kernel = of_texts(few, gives, "x: Scalar, y: Scalar, b: Bool")
        results = every_way(kernel, real, x=x, y=y, b=b)
        for name, text, due in zip(results, few, wanted, strict=True):
            yield text, {text: results[name]}, due, x, y


def test_a_name_of_math_is_cpythons_on_floats() -> None:
    for text, results, wanted, x, y in of_floats(BUILTINS + MATH, F64, scalars=False):
        expect(results, text, wanted, x, y)


def test_a_name_of_math_is_exact_on_narrow_floats() -> None:
    for text, results, wanted, x, y in of_floats(MATH, F32, scalars=False):
        if "radians" not in text and "degrees" not in text:  # products, rounded once more
            with np.errstate(over="ignore"):
                expect(results, text, np.array(wanted).astype(results[text].dtype), x, y)


@widths
def test_a_name_of_numpy_is_numpys(real: DType) -> None:
    texts = [text.replace("float64", real.numpy) for text in NUMPY]
    for text, results, wanted, x, y in of_floats(texts, real, scalars=True):
        expect(results, text, wanted, x, y)


@widths
def test_the_lesser_and_the_greater_are_numpys(real: DType) -> None:
    for text, results, wanted, *_ in of_floats(OF_EITHER_ZERO, real, scalars=True):
        assert np.array_equal(results[text], np.array(wanted), equal_nan=True), text


@widths
def test_a_name_of_hawk_math_is_the_same_outside_of_kernels(real: DType) -> None:
    scalars = real is F32  # NumPy's float32 stay float32
    # Each is hundreds of operations, and tests/unit/math looks at all their edges.
    for text, results, wanted, x, y in of_floats(OWN, real, scalars=scalars, every=5):
        expect(results, text, wanted, x, y)


# --- of integers ---------------------------------------------------------------------------------

OF_INTEGERS = [
    "np.absolute(i)", "np.sign(i)", "np.fmod(i, j)", "np.remainder(i, j)", "np.mod(i, j)",
    "np.floor_divide(i, j)", "np.divmod(i, j)[0]", "np.minimum(i, j)", "np.maximum(i, j)",
    "np.fmin(i, j)", "np.fmax(i, j)", "np.clip(i, 0, 5)", "np.where(i > j, i, j)", "np.square(i)",
    "np.add(i, j)", "np.subtract(i, j)", "np.multiply(i, j)", "np.negative(i)", "np.positive(i)",
    "np.bitwise_and(i, j)", "np.bitwise_or(i, j)", "np.bitwise_xor(i, j)", "np.invert(i)",
    "np.left_shift(i, 3)", "np.right_shift(i, 3)", "np.bitwise_count(i)", "np.round(i)",
    "np.isnan(i)", "np.isfinite(i)", "np.signbit(i)", "np.less(i, j)", "np.equal(i, j)",
    "np.logical_and(i, j)", "np.logical_not(i)", "np.int64(i)", "np.int32(i)", "np.uint32(i)",
    "np.sqrt(i)", "np.divide(i, j)", "np.copysign(i, j)",
]  # fmt: skip
TYPES = {"Index": DType.I64, "Int32": DType.I32, "UInt32": DType.U32}
CONVERSIONS = {"np.int64(i)": "Index", "np.int32(i)": "Int32", "np.uint32(i)": "UInt32"}


@pytest.mark.parametrize("name", TYPES)
def test_a_name_of_numpy_is_numpys_on_integers(name: str) -> None:
    dtype = TYPES[name]
    pairs = list(itertools.product(EDGES[dtype], repeat=2))
    i, j = (np.array(column, dtype.numpy) for column in zip(*pairs, strict=True))
    for few in groups(OF_INTEGERS):
        wanted = [by_library(text, i=i, j=j) for text in few]
        gives = [
            {"b": "Bool", "f": "Scalar"}.get(due.dtype.kind, CONVERSIONS.get(text, name))
            for text, due in zip(few, wanted, strict=True)
        ]
        results = every_way(of_texts(few, gives, f"i: {name}, j: {name}"), i=i, j=j)
        for out, text, due in zip(results, few, wanted, strict=True):
            expect({text: results[out]}, text, due.astype(results[out].dtype), i, j)


OWN_OF_INTEGERS = [
    "hawk.math.minimum(i, j)", "hawk.math.maximum(i, j)", "hawk.math.clip(i, 0, j)",
    "hawk.math.sign(i)", "hawk.math.fmod(i, j)", "hawk.math.remainder(i, j)",
    "hawk.math.where(i > j, i, j)", "hawk.math.isnan(i)", "hawk.math.isfinite(i)",
]  # fmt: skip


def test_a_name_of_hawk_math_keeps_integers() -> None:
    pairs = list(itertools.product(EDGES[DType.I64], repeat=2))
    i, j = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    wanted = [[by_library(text, i=i, j=j) for i, j in pairs] for text in OWN_OF_INTEGERS]
    gives = ["Bool" if isinstance(due[0], bool) else "Index" for due in wanted]
    results = every_way(of_texts(OWN_OF_INTEGERS, gives, "i: Index, j: Index"), i=i, j=j)
    for out, text, due in zip(results, OWN_OF_INTEGERS, wanted, strict=True):
        assert type(due[0]) in (bool, int), text
        expect({text: results[out]}, text, due, i, j)


@pytest.mark.parametrize("name", TYPES)
def test_bits_are_counted_as_python_counts_them(name: str) -> None:
    i = np.array(EDGES[TYPES[name]], TYPES[name].numpy)
    results = every_way(of_texts(["int.bit_count(i)"], [name], f"i: {name}"), i=i)
    expect(results, "out", [each.bit_count() for each in i.tolist()], i)


# --- the choice of what is known -----------------------------------------------------------------


def test_a_known_condition_gives_the_type_that_an_unknown_one_gives() -> None:
    kernel = of_texts(["np.where(True, i, x) / 1"], ["Scalar"], "x: Scalar, i: Index")
    assert [5.0] == every_way(kernel, x=[0.5], i=[5])["out"].tolist()


# --- which names there are -----------------------------------------------------------------------

PAGE = Path(__file__).parents[3] / "docs" / "language.md"


class NoDomain:
    """Enough of a domain to ask for the table of builtins that work on sequences."""

    numbers = None
    reductions = SimpleNamespace(table=REDUCTIONS)
    scatters = SimpleNamespace(scatter=hawk.scatter)


def resolved(name: str) -> Any:
    modules = {"copy": copy, "dataclasses": dataclasses}
    return eval(name, {"hawk": hawk, "math": math, "np": np, **modules})


def listed(heading: str) -> set[str]:
    """The names in a section of the page about the language."""
    text = PAGE.read_text(encoding="utf-8")
    section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    firsts = [row.split(" | ")[0] for row in rows]
    return set(re.findall(r"`([a-z_.0-9A-Z]+)`", " ".join(firsts)))


def test_the_page_lists_every_name_and_no_other() -> None:
    names = listed("Functions")
    known = {*RECIPES, *Structural(NoDomain()).table, *hawk.math.ARRAYS, print, hawk.debug}
    if hasattr(math, "fma"):
        names.add("math.fma")  # since Python 3.13, as the page says below the tables
    found = {name: resolved(name) for name in names}
    assert {name for name, function in found.items() if function not in known} == set()
    assert {function for function in known if function not in found.values()} == set()


@pytest.mark.parametrize("name", sorted(LATER))
def test_a_name_that_will_be_there_says_what_to_write_meanwhile(name: str) -> None:
    owner = math if hasattr(math, name) else np if hasattr(np, name) else None
    if owner is None:
        return  # a name of hawk.math, or of a part of NumPy
    function = getattr(owner, name)
    assert function not in RECIPES
    code, what, fix = unknown(function, f"it.{name}")
    assert (code, what) == ("H209", f"`it.{name}` is not there yet")
    assert fix or name in ("ldexp", "frexp", "nextafter")


def test_a_name_that_is_not_there_yet_is_an_error_at_its_place() -> None:
    kernel = of_texts(["np.modf(x)"], ["Scalar"], "x: Scalar")
    with pytest.raises(HawkError, match="H209") as error:
        kernel.trace(F64)
    assert "(x - np.trunc(x), np.trunc(x))" == error.value.fix


def test_what_is_known_is_computed_by_hawk_math() -> None:
    kernel = of_texts(
        ["math.log(0) + x", "math.sin(0.5) + x", "math.log(8.0, 2.0) + x", "math.sqrt(-1) + x"],
        ["Scalar"] * 4,
        "x: Scalar",
    )
    zero = np.zeros(1)
    *numbers, root = [float(each[0]) for each in kernel(zero)]
    assert [-math.inf, hawk.math.sin(0.5), hawk.math.log(8.0) / hawk.math.log(2.0)] == numbers
    assert math.isnan(root)


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("math.hypot(x, y, x)", "math.hypot(math.hypot(x, y), x)"),
        ("math.log(x, 2, 3)", ""),
        ("math.sin()", "math.sin(...)"),
        ("hawk.math.sin()", "hawk.math.sin(...)"),
        ("math.hypot(2.0)", "math.hypot(2.0, ...)"),
    ],
)
def test_a_wrong_number_of_arguments_says_what_to_write(text: str, fix: str) -> None:
    kernel = of_texts([text], ["Scalar"], "x: Scalar, y: Scalar")
    with pytest.raises(HawkError, match="H305") as error:
        kernel.trace(F64)
    assert fix == error.value.fix


def test_importing_everything_of_hawk_leaves_math_alone() -> None:
    assert "math" not in hawk.__all__
    assert hawk.math is importlib.import_module("hawk.math")


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("math.gcd(i, i)", "while b != 0: a, b = b, a % b"),
        ("math.isqrt(i)", "int(math.sqrt(i)), which is exact below 2 ** 52"),
        ("np.floor_div(x, x)", "floor_divide"),
    ],
)
def test_other_names_are_refused_with_what_to_write(text: str, fix: str) -> None:
    kernel = of_texts([text], ["Scalar"], "x: Scalar, i: Index")
    with pytest.raises(HawkError) as error:
        kernel.trace(F64)
    assert fix in str(error.value)


def test_what_python_does_not_run_for_us_has_a_recipe() -> None:
    assert all(function in RECIPES for function in TYPED)
