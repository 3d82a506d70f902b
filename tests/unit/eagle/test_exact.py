"""Calls that fit exactly are bound as the careful way binds them; all others are left to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eagle
import eagle.binder
import hawk
from eagle.binder import bind
from eagle.binding import Binding, Door
from eagle.errors import BindError
from eagle.exact import exact
from hawk import Index, Int32, Mutable, Param, Scalar, Terminated
from hawk.ir.types import DType

DOOR = Door("here")
SPEED = 1.0


@hawk.kernel
def walk(
    x: Mutable[Scalar],
    k: Mutable[Index],
    v: Scalar,
    dt: Param,
    most: Param[Int32],
    over: Terminated,
) -> Scalar:
    x = x + v * dt
    k = k + 1
    over = k >= hawk.index(most)
    return x * 2


@hawk.kernel(dtype="float32")
def narrow(x: Mutable[Scalar], v: Scalar = 2.0):
    x = x + v


def planes(**changed: Any) -> dict[str, Any]:
    given = {"x": np.zeros(5), "k": np.zeros(5, np.int64), "v": np.ones(5), "dt": 0.5, "most": 3}
    return {name: value for name, value in (given | changed).items() if value is not None}


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


FITTING: dict[str, dict[str, Any]] = {
    "all planes": planes(),
    "with the mask": planes(over=np.array([True, False, False, True, False])),
    "float32": planes(x=np.zeros(5, np.float32), v=np.ones(5, np.float32)),
    "no samples": planes(x=np.zeros(0), k=np.zeros(0, np.int64), v=np.ones(0)),
    "an integer for a float": planes(dt=1),
    "numbers that float32 rounds": planes(
        x=np.zeros(5, np.float32), v=np.ones(5, np.float32), dt=0.1
    ),
    "NaN": planes(dt=float("nan")),
}

_TABLE = np.zeros((5, 3))
_X = np.zeros(5)

LEFT: dict[str, dict[str, Any]] = {
    "a plane of another length": planes(v=np.ones(4)),
    "a plane of another width": planes(v=np.ones(5, np.float32)),
    "integers for floats": planes(x=np.zeros(5, np.int64)),
    "floats for integers": planes(k=np.zeros(5)),
    "swapped bytes": planes(x=np.zeros(5, ">f8")),
    "a column": planes(x=_TABLE[:, 1]),
    "two dimensions": planes(x=_TABLE),
    "a list": planes(v=[1.0] * 5),
    "a number by sample": planes(v=2.0),
    "an array of shape () for a Param": planes(dt=np.array(0.5)),
    "a NumPy number": planes(dt=np.float64(0.5)),
    "an array for a Param": planes(dt=np.ones(5)),
    "half for an integer": planes(most=2.5),
    "an integer that is too large": planes(most=2**40),
    "True for a number": planes(dt=True),
    "nothing for a Param": planes(dt=None),
    "nothing for an input": planes(v=None),
    "nothing for state": planes(x=None),
    "a name that is none": planes(w=np.zeros(5)),
    "a read-only input": planes(v=read_only(np.ones(5))),
    "read-only state": planes(x=read_only(np.zeros(5))),
    "one array twice": planes(x=_X, v=_X),
    "a subclass": planes(x=np.ma.zeros(5)),
    "a mask of bytes": planes(over=np.zeros(5, np.uint8)),
    "no array": {"dt": 0.5, "most": 3},
}


@pytest.fixture(autouse=True, scope="module")
def compiled() -> None:
    """The first call of a kernel is bound the careful way."""
    for real in DType.F64, DType.F32:
        walk.compile(real)
    narrow.compile(DType.F32)


@pytest.mark.parametrize("given", FITTING.values(), ids=FITTING)
def test_calls_that_fit_are_bound_as_the_careful_way_binds_them(
    given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert exact(walk, given) is not None
    one = bind(walk, door=DOOR, planes=given)
    monkeypatch.setattr(eagle.binder, "exact", lambda *_: None)
    other = bind(walk, door=DOOR, planes=given)
    assert told(one) == told(other)


def told(binding: Binding) -> dict[str, Any]:
    """What is bound, but for the memory that eagle makes."""
    own = {id(array) for array in binding.own.values()}
    slots = [slot.name for slot in binding.compiled.planes]
    return {
        "n": binding.n,
        "code": binding.compiled,
        "own": {name: id(array) for name, array in binding.own.items()},
        "shapes": {name: (a.shape, a.dtype) for name, a in binding.arrays.items()},
        "order": slots,
        "words": [
            word if isinstance(plane, int) or id(plane) in own else "new"
            for plane, word in zip(binding.planes, binding.words, strict=True)
        ],
        "addresses": [
            isinstance(plane, int) or plane.ctypes.data == word
            for plane, word in zip(binding.planes, binding.words, strict=True)
        ],
        "allocated": binding.allocated,
        "mask": binding.mask,
        "copied": binding.copied,
    }


@pytest.mark.parametrize("given", LEFT.values(), ids=LEFT)
def test_all_other_calls_are_left_to_the_careful_way(given: dict[str, Any]) -> None:
    assert exact(walk, given) is None


def test_a_kernel_of_one_width_takes_no_other() -> None:
    x, v = np.zeros(3, np.float32), np.ones(3, np.float32)
    fit = exact(narrow, {"x": x, "v": v})
    assert fit is not None
    assert {plane.dtype for plane in fit.planes if isinstance(plane, np.ndarray)} == {x.dtype}
    assert exact(narrow, {"x": x.astype(float), "v": v.astype(float)}) is None
    assert exact(narrow, {"x": x}) is None  # its default is one number for all samples


def test_the_first_call_and_one_after_a_global_changed_are_left_to_the_careful_way() -> None:
    @hawk.kernel
    def drift(x: Mutable[Scalar]):
        x = x + SPEED

    x = np.zeros(2)
    assert exact(drift, {"x": x}) is None
    drift.compile(DType.F64)
    assert exact(drift, {"x": x}) is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{__name__}.SPEED", 2.0)
        assert exact(drift, {"x": x}) is None
        drift(x)
    assert x.tolist() == [2.0, 2.0]


def test_a_wrong_call_is_told_of_though_most_of_it_fits() -> None:
    with pytest.raises(BindError, match="'k': expected int64"):
        eagle.deploy(walk).bind(**planes(k=np.zeros(5)))


def test_what_fits_is_run_in_the_callers_arrays() -> None:
    given = planes()
    bound = eagle.deploy(walk).bind(**given)
    bound.launch()
    assert bound.planes["x"] is given["x"]
    assert given["x"].tolist() == [0.5] * 5
    assert bound.planes["out"].tolist() == [1.0] * 5
