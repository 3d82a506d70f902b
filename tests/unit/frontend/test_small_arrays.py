"""Small arrays compute what NumPy's compute, with the same bits in every way to run a kernel."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import hawk
from hawk import (
    Bool,
    HawkError,
    Index,
    Int32,
    Matrix,
    Mutable,
    Param,
    Quat,
    Scalar,
    Terminated,
    Vector,
)
from hawk.ir.types import DType
from hawk.math import mat, vec
from tests.unit.frontend.agreement import agree
from tests.unit.frontend.every_way import by_component, every_way

N = 37


def planes_of(kernel: Any, real: DType, n: int = N) -> dict[str, Any]:
    """Random numbers for each parameter."""
    rng = np.random.default_rng(len(kernel.name))
    given: dict[str, Any] = {}
    for each in kernel.parameters:
        dtype = each.element.at(real)
        shape = each.element.shape if each.role.value == "uniform" else (*each.element.shape, n)
        if dtype is DType.BOOL:
            values = rng.integers(0, 2, shape)
        elif dtype.is_int:
            values = rng.integers(-4, 5, shape)
        else:
            values = rng.normal(size=shape) * 2.0
        given[each.name] = np.asarray(values, dtype.numpy)
    return given


def plainly(kernel: Any, given: dict[str, Any]) -> dict[str, list[Any]]:
    """What the function itself gives with arrays of NumPy, sample by sample."""
    results: list[Any] = []
    for sample in range(N):
        args = {
            each.name: given[each.name]
            if each.role.value == "uniform"
            else given[each.name][..., sample]
            for each in kernel.parameters
        }
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = kernel.__wrapped__(**{n: np.array(a)[()] for n, a in args.items()})
        results.append(result if kernel.nesting == "tuple" else (result,))
    names = [each.name for each in kernel.outputs]
    return {name: [row[k] for row in results] for k, name in enumerate(names)}


def as_numpy(kernel: Any) -> dict[str, Any]:
    """Every way gives the same bits, and NumPy the same numbers but for how they are rounded."""
    given = planes_of(kernel, DType.F64)
    results = every_way(kernel, DType.F64, **given)
    every_way(kernel, DType.F32, **planes_of(kernel, DType.F32))
    for name, rows in plainly(kernel, given).items():
        whole = np.stack([np.asarray(row) for row in rows], axis=-1)
        expected = by_component(kernel, {name: whole})
        for part, wanted in expected.items():
            np.testing.assert_allclose(results[part], wanted, rtol=1e-9, atol=1e-9, err_msg=part)
    return results


# --- kernels that NumPy runs too ------------------------------------------------------------------


def test_operators_go_number_by_number() -> None:
    @hawk.kernel
    def step(v: Vector[3], w: Vector[3], x: Scalar) -> tuple[Vector[3], Vector[3], Vector[3]]:
        a = v + w * x - 2.0 * v / (3.0 + x * x)
        b = -v * w + v * v - w
        return a, b, x - v**2 + (v // 2.0) % 3.0

    as_numpy(step)


def test_matrices_multiply_in_order() -> None:
    @hawk.kernel
    def step(
        A: Matrix[2, 3], B: Matrix[3, 2], v: Vector[3], w: Vector[2]
    ) -> tuple[Matrix[2, 2], Vector[2], Vector[3], Scalar, Scalar, Matrix[3, 3]]:
        return A @ B, A @ v, w @ A, v @ v, w @ A @ v, A.T @ B.T

    as_numpy(step)


def test_a_dot_product_is_a_chain_of_fma_in_order() -> None:
    @hawk.kernel(contract=False)
    def product(v: Vector[3], w: Vector[3]) -> Scalar:
        return v @ w

    @hawk.kernel
    def chain(v: Vector[3], w: Vector[3]) -> Scalar:
        first = v[0] * w[0]
        second = v[1] * w[1] + first
        return v[2] * w[2] + second

    v, w = np.random.default_rng(5).normal(size=(2, 3, 100))
    assert (agree(product, v, w)["out"] == agree(chain, v, w)["out"]).all()


def test_products_in_sums_are_fused_number_by_number() -> None:
    @hawk.kernel
    def whole(v: Vector[2], w: Vector[2], x: Scalar) -> tuple[Vector[2], Vector[2]]:
        return v * x + w, w - v * v

    @hawk.kernel
    def parts(v: Vector[2], w: Vector[2], x: Scalar) -> tuple[Vector[2], Vector[2]]:
        a, b, c, d = v[0], v[1], w[0], w[1]
        return vec(a * x + c, b * x + d), vec(c - a * a, d - b * b)

    v, w = np.random.default_rng(6).normal(size=(2, 2, 200))
    x = np.random.default_rng(7).normal(size=200)
    one, two = agree(whole, v, w, x), agree(parts, v, w, x)
    for name in ("out0", "out1"):
        assert (one[name] == two[name]).all()
    assert (one["out1"] != w - v * v).any()


def test_elements_are_picked_as_in_numpy() -> None:
    @hawk.kernel
    def step(v: Vector[5], M: Matrix[3, 4]) -> tuple[Scalar, Vector[2], Vector[3], Matrix[2, 2]]:
        a = v[0] + v[-1] + M[1, 2] + M[-1, -1] + M[0][3]
        b = v[1:3] + v[::-1][:2] + M[1, ::2]
        c = M[:, 1] + M[..., 0] + M[:3, -1] + M[0, 1:] + M[2][1:]
        return a, b, c, M[1:, 2:] + M[::2, ::3] + M[:2, :2] + M[...][:2, 1:3]

    as_numpy(step)


def test_a_place_may_be_known_at_run_time_only() -> None:
    @hawk.kernel
    def step(v: Vector[4], M: Matrix[2, 3], i: Index, k: Int32) -> tuple[Scalar, Vector[3], Scalar]:
        i = i % 4
        row = M[k % 2]
        return v[i] + v[-1 - i], row + M[1 - k % 2], M[k % 2, i % 3] + M[:, i % 3][0]

    as_numpy(step)


def test_a_place_beyond_the_ends_is_the_nearest_one() -> None:
    @hawk.kernel
    def step(v: Vector[3], i: Index) -> tuple[Scalar, Vector[3]]:
        w = v.copy()
        w[i] = 9.0
        return v[i], w

    v = np.array([10.0, 20.0, 30.0])[:, None] + np.zeros(7)
    result = agree(step, v, np.array([-9, -4, -3, -1, 2, 3, 99]))
    assert result["out0"].tolist() == [10, 10, 10, 30, 30, 30, 30]
    assert result["out1"][0].tolist() == [9, 9, 9, 10, 10, 10, 10]
    assert result["out1"][2].tolist() == [30, 30, 30, 9, 9, 9, 9]


def test_elements_may_be_assigned_to() -> None:
    @hawk.kernel
    def step(v: Vector[4], M: Matrix[3, 3], i: Index, x: Scalar) -> tuple[Vector[4], Matrix[3, 3]]:
        v[0] = x
        v[-1] += 2.0 * v[1]
        v[1:3] = v[:2] * 3.0
        v[i % 4] -= 1.0 * x
        M[0, 1] = v[0]
        M[1] = M[0] + M[2]
        M[:, 2] += x
        M[2, :2] = (v[0], x)
        M[i % 3, (i + 1) % 3] = 7.0
        M[1:, 1:] *= 0.5
        M[2][0] += 1.0
        M.T[0, 1] = 4.0
        return v, M

    as_numpy(step)


def test_a_slice_gets_what_was_there_before() -> None:
    @hawk.kernel
    def step(v: Vector[5]) -> Vector[5]:
        v[1:] = v[:-1]
        v[:] = v[::-1]
        return v

    as_numpy(step)


def test_arrays_are_taken_apart_and_run_over() -> None:
    @hawk.kernel
    def step(v: Vector[3], M: Matrix[2, 3]) -> tuple[Scalar, Vector[3], Vector[3], Scalar]:
        x, y, z = v
        first, *others = M
        total = 0.0
        for each in v:
            total += each * each
        for k, row in enumerate(M):
            total -= row[k]
        best = vec(max(v), min(v), sum(v) + len(M))
        return x * y - z + total, first + others[0], best, sum([a * b for a, b in zip(v, M[0])])

    as_numpy(step)


def test_comparisons_give_an_array_of_bools() -> None:
    @hawk.kernel
    def step(v: Vector[3], w: Vector[3]) -> tuple[Vector[3, Bool], Bool, Bool, Scalar]:
        less = v < w
        near = (v > -1.0) & (w < 1.0) | ~less
        x = 1.0 if all(near) else 2.0 if any(v == w) else 3.0
        return less, all(v > -1.0), any(less), x

    as_numpy(step)


def test_arrays_of_integers() -> None:
    @hawk.kernel
    def step(
        i: Vector[3, Int32], k: Vector[3, Index], x: Scalar
    ) -> tuple[Vector[3, Int32], Vector[3, Index], Vector[3], Index]:
        i += 1
        i[1] = 7
        k[0] *= 2
        return i * i - 3, k // 2 + k % 3, k * x + 1, k @ k

    as_numpy(step)


def test_functions_of_numpy_go_number_by_number() -> None:
    @hawk.kernel
    def step(v: Vector[3], w: Vector[3]) -> tuple[Vector[3], Vector[3], Vector[3]]:
        return np.sqrt(abs(v)), np.minimum(v, w) + np.maximum(v, 0.5), np.where(v > w, v, 2.0 * w)

    as_numpy(step)


def test_a_choice_is_made_number_by_number() -> None:
    @hawk.kernel
    def step(v: Vector[3], w: Vector[3], x: Scalar) -> tuple[Vector[3], Vector[3]]:
        best = (v if x > 0.0 else w).copy()
        if x > 1.0:
            v[0] = 5.0
        elif x < -1.0:
            v[1:] = v[:2]
        else:
            v = v + w
        return best * 2.0, v

    every_way(step, DType.F64, **planes_of(step, DType.F64))


def test_arrays_are_carried_by_loops() -> None:
    @hawk.kernel
    def step(v: Vector[3], M: Matrix[3, 3], k: Index) -> tuple[Vector[3], Matrix[3, 3], Scalar]:
        total, n = vec(0.0, 0.0, 0.0), 0
        while n < abs(k):
            total[n % 3] += v[n % 3] * 2.0
            v = M @ v * 0.25
            if v[0] > 3.0:
                break
            n += 1
        for i in range(3):
            for j in range(3):
                M[i, j] = M[i, j] + total[i] * v[j]
        found = 0.0
        for i in range(5):
            if i == k:
                found = total[0]
                continue
            M[0, 0] += 1.0
        return total, M, found

    as_numpy(step)


def test_helpers_take_and_give_arrays() -> None:
    def pull(r: Any, strength: Any = 1.0) -> Any:
        if strength > 2.0:
            return -r
        return -strength * r / (1.0 + r @ r)

    def fresh(v: Any) -> Any:
        v = v.copy()
        v[0] = 0.0
        return v

    @hawk.kernel
    def step(r: Vector[3], s: Scalar) -> tuple[Vector[3], Vector[3]]:
        a = pull(r, strength=s)
        return a + pull(r), fresh(r) + r

    as_numpy(step)


def test_a_kernel_inside_a_kernel_has_arrays_of_its_own() -> None:
    @hawk.kernel
    def kick(v: Mutable[Vector[2]], a: Vector[2], dt: Param):
        v += a * dt

    @hawk.kernel
    def kinetic(v: Vector[2], scale: Vector[2] = (0.5, 0.5)) -> tuple[Scalar, Vector[2]]:
        v[0] = v[0] * scale[0]
        return v @ v, v

    @hawk.kernel
    def step(v: Vector[2], a: Vector[2]) -> tuple[Vector[2], Scalar, Vector[2]]:
        w = kick(v, a, 0.5)
        e, u = kinetic(w)
        return w + v, e, u

    every_way(step, DType.F64, **planes_of(step, DType.F64))
    v, a = np.ones((2, 3)), np.full((2, 3), 2.0)
    result = agree(step, v, a)
    assert result["out0"].tolist() == [[3.0] * 3] * 2
    assert result["out2"].tolist() == [[1.0] * 3, [2.0] * 3]


def test_containers_hold_arrays() -> None:
    @hawk.kernel
    def step(v: Vector[2], w: Vector[2], x: Scalar) -> tuple[Vector[2], Vector[2]]:
        both = [v, w]
        both.append(v + w)
        named = {"v": v, "sum": both[-1]}
        first, second = (v, w) if x > 0.0 else (w, v)
        total = sum([each * 2.0 for each in both])
        return total + named["sum"], first - second

    as_numpy(step)


def test_a_quaternion_is_four_numbers() -> None:
    @hawk.kernel
    def conjugate(q: Quat) -> Quat:
        return vec(-q[0], -q[1], -q[2], q[3])

    q = np.arange(8.0).reshape(4, 2)
    assert conjugate(q).tolist() == (q * [[-1], [-1], [-1], [1]]).tolist()


def test_vec_and_mat_take_numbers_or_rows() -> None:
    rows = ((1.0, 2.0), (3.0, 4.0))

    @hawk.kernel
    def step(x: Scalar, i: Index, v: Vector[2]) -> tuple[Vector[3], Matrix[2, 2], Matrix[2, 2]]:
        a = vec(x, i, 2)
        return a + vec([each for each in (1, 2, 3)]), mat(rows) + mat((x, i), v), mat([v, (1, 2)])

    as_numpy(step)


def test_an_array_knows_its_shape() -> None:
    @hawk.kernel
    def step(M: Matrix[2, 3]) -> tuple[Index, Index, Index, Index]:
        r, c = M.shape
        return r * 10 + c, M.ndim, M.T.size, len(M.T)

    as_numpy(step)


def test_one_array_for_a_whole_launch() -> None:
    @hawk.kernel
    def step(v: Vector[3], g: Param[Vector[3]]) -> Vector[3]:
        return v + 0.5 * g

    as_numpy(step)
    v = np.ones((3, 4))
    assert step(v, (0.0, 0.0, -2.0)).tolist() == [[1.0] * 4, [1.0] * 4, [0.0] * 4]


# --- names of one array ---------------------------------------------------------------------------


def test_who_reads_an_array_before_it_changes_sees_what_it_was() -> None:
    @hawk.kernel
    def step(v: Vector[4]) -> tuple[Vector[2], Scalar]:
        head = v[:2]
        first = v[0]
        both = head + 1.0
        v[0] = 9.0
        tail = v[2:]
        v[1] = 8.0
        return both + tail, first + v[0]

    as_numpy(step)


OLD = """
def step(v: Vector[3], M: Matrix[2, 2], x: Scalar, k: Index) -> Scalar:
    {body}
"""

STALE = {
    "another name": "w = v\nv[0] = 1.0\nreturn w[0]",
    "the first name": "w = v\nw[0] = 1.0\nreturn v[0]",
    "a slice": "w = v[:2]\nv[0] = 1.0\nreturn w[1]",
    "a row": "row = M[0]\nM[0, 1] = 2.0\nreturn row[0]",
    "a matrix whose row changes": "row = M[0]\nrow[0] = 2.0\nreturn M[0, 0]",
    "a row picked at run time": "row = M[k]\nrow[0] = 2.0\nreturn M[0, 0]",
    "a transpose": "T = M.T\nM[0, 1] = 2.0\nreturn T[1, 0]",
    "in place": "w = v\nv += 1.0\nreturn w[0]",
    "on one path": "w = v\nif x > 0.0:\n    v[0] = 1.0\nreturn w[0]",
    "one of two": "w = v if x > 0.0 else v + 1.0\nw[0] = 1.0\nreturn v[0]",
    "in a list": "ws = [v]\nv[0] = 1.0\nreturn ws[0][1]",
    "in a loop": "w = v\nfor _ in range(k):\n    x += w[0]\n    v[0] += 1.0\nreturn x",
    "after a loop": "w = v\nfor _ in range(k):\n    v[0] += 1.0\nreturn w[0]",
    "by a helper": "kick(v)\nreturn v[0]",
    "by a helper in a loop": "w = v\nwhile x < 9.0:\n    x += w[0]\n    v = kick(v)\nreturn x",
    "after a break": (
        "w = v\nwhile x < 9.0:\n    if x > 3.0:\n        v[0] = 1.0\n        break\n    x += 1.0\n"
        "return w[0]"
    ),
    "from pass to pass": (
        "w = v + 0.0\nu = v + 1.0\nfor _ in range(k):\n    x += w[0]\n    u[0] += 1.0\n    w = u\n"
        "return x"
    ),
    "a loop over it": "for each in v:\n    v[2] = each\nreturn v[0]",
}


def kick(v: Any) -> Any:
    v[0] += 1.0
    return v


def kernel_of(text: str, body: str) -> Any:
    import linecache

    source = "@hawk.kernel" + text.format(body=body.replace("\n", "\n    "))
    file = f"<small arrays {abs(hash(body))}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names: dict[str, Any] = {**globals()}
    exec(compile(source, file, "exec"), names)
    return names["step"]


@pytest.mark.parametrize("body", STALE.values(), ids=STALE)
def test_an_array_that_changed_under_another_name_is_not_read(body: str) -> None:
    step = kernel_of(OLD, body)
    with pytest.raises(HawkError) as error:
        step.trace(DType.F64)
    assert error.value.code == "H309"


FRESH = {
    "a copy": "w = v.copy()\nv[0] = 1.0\nreturn w[0]",
    "an array of its own": "w = v + 0.0\nv[0] = 1.0\nreturn w[0]",
    "other elements": "w = v[1:]\nv[0] = 1.0\nreturn w[0]",
    "another row": "row = M[1]\nM[0] = 1.0\nreturn row[0]",
    "bound again": "w = v\nv = v + 1.0\nv[0] = 1.0\nreturn w[0]",
    "on the other path": "if x > 0.0:\n    v[0] = 1.0\nelse:\n    x = v[0]\nreturn x + v[1]",
    "on both paths": ("if x > 0.0:\n    v[0] = 1.0\nelse:\n    v[1] = 2.0\nreturn v[0] + v[1]"),
    "by a helper that gives it": "v = kick(v)\nreturn v[0]",
    "left by break": (
        "while x < 9.0:\n    if x > 3.0:\n        v[0] = 1.0\n        break\n    v[0] = 2.0\n"
        "    x += 1.0\nreturn v[0]"
    ),
    "left by continue": (
        "for i in range(4):\n    v[1] += 1.0\n    if x > i:\n        v[0] += 2.0\n"
        "        continue\n    v[2] += x\nreturn v[0] + v[1] * v[2]"
    ),
    "left by return": (
        "for i in range(abs(k)):\n    v[0] += 1.0\n    if v[0] > 2.0:\n        return v[0]\n"
        "    v[1] -= 1.0\nreturn v[1]"
    ),
    "from pass to pass": (
        "old = v + 0.0\nfor _ in range(abs(k)):\n    old = v\n    v = v * 0.5\nreturn old[0] + v[0]"
    ),
    "an old state kept": (
        "for _ in range(abs(k)):\n    old = v.copy()\n    v[0] += old[1]\n    x += old[0]\nreturn x"
    ),
}


@pytest.mark.parametrize("body", FRESH.values(), ids=FRESH)
def test_an_array_that_nobody_else_changed_is_read(body: str) -> None:
    as_numpy(kernel_of(OLD, body))


def test_an_old_name_may_be_bound_again() -> None:
    @hawk.kernel
    def step(v: Vector[3]) -> Scalar:
        head = v[:2]
        v[0] = 1.0
        head = v[:2]
        return head[0]

    assert step(np.zeros((3, 2))).tolist() == [1.0, 1.0]


# --- runs -----------------------------------------------------------------------------------------


def test_state_is_kept_from_step_to_step() -> None:
    @hawk.kernel
    def orbit(
        s: Mutable[Vector[4]], P: Mutable[Matrix[2, 2]], t: Mutable[Scalar], over: Terminated
    ):
        r, v = s[:2], s[2:]
        v = v - 0.1 * r / (r @ r)
        s = vec(*(r + 0.1 * v), *v)
        P = P @ mat((1.0, 0.1), (-0.1, 1.0))
        P[0, 0] += 0.5
        t += 1.0
        over = t > 3.0 + r[0]

    given = planes_of(orbit, DType.F64, 6)
    result = agree(orbit, steps=5, **{n: a for n, a in given.items() if n != "over"})
    assert result["s"].shape == (4, 6)
    assert result["P"].shape == (2, 2, 6)


def test_checks_tell_which_component_became_nan_and_which_index_was_outside() -> None:
    @hawk.kernel(checks=True)
    def step(v: Mutable[Vector[3]], i: Index) -> Scalar:
        v[1] = np.sqrt(v[1])
        return v[i]

    v = np.ones((3, 4))
    v[1, 2] = -1.0
    with pytest.warns(hawk.CheckWarning) as told:
        step(v, np.array([0, 5, 1, -3]))
    text = "\n".join(str(each.message) for each in told)
    assert "sample 2 became NaN at step 1, first in `v[1]`" in text
    assert "sample 1 lost a number at step 1: no element 5 of 3, the nearest is taken" in text


def test_what_is_printed_of_an_array_are_its_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    @hawk.kernel(checks=True)
    def step(v: Mutable[Vector[2]]):
        print("v is", v)
        v += 1.0

    step(np.zeros((2, 1)))
    assert "v is [0.0, 0.0]" in capsys.readouterr().out
