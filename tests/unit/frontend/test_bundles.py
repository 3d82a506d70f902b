"""Objects of dataclasses in kernels compute what Python's compute, in every way to run a kernel."""

import copy
import dataclasses
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import hawk
from hawk import Bool, Index, Int32, Matrix, Mutable, Param, Scalar, Table, Terminated, Vector
from hawk.frontend.bundles import fields_of
from hawk.ir.nodes import Role
from hawk.ir.types import DType
from hawk.math import vec
from tests.unit.frontend.every_way import every_way


@dataclass
class Spin:
    rate: Scalar
    axis: Vector[3]

    def doubled(self) -> Any:
        return replace(self, rate=2.0 * self.rate)


@dataclass
class Body:
    position: Vector[3]
    velocity: Vector[3]
    mass: Scalar
    hits: Index
    spin: Spin

    def energy(self) -> Any:
        return 0.5 * self.mass * (self.velocity @ self.velocity)

    @property
    def speed(self) -> Any:
        return hawk.math.norm(self.velocity)

    def kick(self, by: Any) -> None:
        self.velocity += by
        if self.velocity[0] > 1.0:
            self.hits += 1
            self.spin.rate = -self.spin.rate

    @classmethod
    def at_rest(cls, position: Any) -> Any:
        return cls(position, vec(0.0, 0.0, 0.0), 1, 0, Spin(0.0, position))

    SCALE = 3.0


@dataclass(frozen=True)
class Point:
    x: Scalar
    y: Scalar = 2.0


def numbers(kernel: hawk.Kernel[..., Any], n: int = 9, real: str = "float64") -> dict[str, Any]:
    """Numbers for every plane of a kernel."""
    random = np.random.default_rng(3)
    planes: dict[str, Any] = {}
    for each in kernel.parameters:
        if each.role is Role.MASK:
            continue
        shape = (*each.element.shape, *(() if each.role is Role.UNIFORM else (n,)))
        dtype = each.element.at(DType.F64)
        if dtype.is_float:
            planes[each.name] = random.normal(size=shape).astype(real)
        else:
            planes[each.name] = random.integers(0, 2, shape).astype(dtype.numpy)
    return planes


def run(kernel: hawk.Kernel[..., Any]) -> dict[str, Any]:
    every_way(kernel, DType.F32, **numbers(kernel, real="float32"))
    return every_way(kernel, **numbers(kernel))


# -- what is declared ------------------------------------------------------------------------------


def test_a_field_is_a_plane_and_so_is_one_of_an_object_inside() -> None:
    @hawk.kernel
    def step(body: Mutable[Body], dt: Param):
        body.position += dt * body.velocity

    assert [each.name for each in step.parameters] == [
        *("body_position", "body_velocity", "body_mass", "body_hits", "body_spin_rate"),
        *("body_spin_axis", "dt"),
    ]
    assert [each.text for each in step.parameters][-3:] == [
        "body.spin.rate",
        "body.spin.axis",
        "dt",
    ]
    assert {each.role for each in step.parameters} == {Role.STATE, Role.UNIFORM}
    run(step)


def test_a_field_may_say_what_it_is_to_the_launch() -> None:
    @dataclass
    class Mixed:
        x: Mutable[Scalar]
        g: Param
        t: Table[Scalar]
        k: Param[Int32]
        P: Matrix[2, 2]

    @hawk.kernel
    def step(m: Mixed):
        m.x += m.g * m.t[m.k] + m.P[0, 1]

    roles = {each.path[-1]: each.role for each in step.parameters}
    assert roles == {
        "x": Role.STATE,
        "g": Role.UNIFORM,
        "t": Role.TABLE,
        "k": Role.UNIFORM,
        "P": Role.INPUT,
    }
    planes = {
        "m_x": np.ones(3),
        "m_g": 2.0,
        "m_t": np.arange(4.0),
        "m_k": 3,
        "m_P": np.ones((2, 2, 3)),
    }
    expected = hawk.run_python(step, **planes)["m_x"]
    np.testing.assert_array_equal([8.0, 8.0, 8.0], expected)
    np.testing.assert_array_equal(expected, hawk.interpret(step, **planes)["m_x"])


def test_defaults_are_those_of_the_dataclass_or_of_the_object_that_is_the_default() -> None:
    @hawk.kernel
    def plain(p: Point) -> Scalar:
        return p.x + p.y

    @hawk.kernel
    def whole(p: Point = Point(5.0, 7.0)) -> Scalar:  # noqa: B008 - frozen
        return p.x + p.y

    assert hawk.interpret(plain, p_x=np.ones(2))["out"].tolist() == [3.0, 3.0]
    assert hawk.run_python(plain, p_x=np.ones(2))["out"].tolist() == [3.0, 3.0]
    assert hawk.interpret(whole)["out"].tolist() == [12.0]


def test_annotations_may_be_texts() -> None:
    @dataclass
    class Text:
        x: "Scalar"
        v: "Vector[2]"

    assert [each.element.name for each in fields_of(Text) if each.element] == [
        "Scalar",
        "Vector[2]",
    ]


def test_an_input_may_be_assigned_to_and_is_not_stored() -> None:
    @hawk.kernel
    def step(body: Body) -> Scalar:
        body.mass = 2.0
        body.velocity[0] = 1.0
        return body.energy()

    assert list(run(step)) == ["out"]


# -- names of one object ---------------------------------------------------------------------------


def test_two_names_of_an_object_see_what_is_assigned_under_either() -> None:
    @hawk.kernel
    def step(body: Mutable[Body]) -> Scalar:
        other = body
        other.mass = 2.0
        body.velocity *= other.mass
        inner = other.spin
        inner.rate += body.mass
        return other.energy() + body.spin.rate

    run(step)


def test_what_a_helper_or_a_method_assigns_is_seen_outside() -> None:
    def heavier(body: Any, by: Any) -> Any:
        body.mass += by
        return body

    @hawk.kernel
    def step(body: Mutable[Body], dt: Param) -> Scalar:
        same = heavier(body, dt * dt)
        same.kick(dt)
        body.kick(same.mass)
        return body.mass + body.speed + same.SCALE

    run(step)


def test_a_function_inside_a_kernel_sees_the_object_as_it_is_when_called() -> None:
    @hawk.kernel
    def step(body: Mutable[Body]) -> Scalar:
        def mass() -> Any:
            return body.mass

        body.mass += 1.0
        before = mass()
        body = replace(body, mass=before * 2.0)
        return before + mass()

    run(step)


def test_a_path_that_assigns_is_one_path() -> None:
    @hawk.kernel
    def step(body: Mutable[Body], x: Scalar) -> Scalar:
        other = body
        if x > 0.0:
            other.mass = x
            body.spin.axis[1] += x
        elif x < -1.0:
            body.kick(x)
        else:
            other.velocity = body.position * 2.0
        return other.mass if x > 0.5 else body.speed

    run(step)


def test_a_loop_that_assigns_carries_what_it_changes() -> None:
    @hawk.kernel
    def step(body: Mutable[Body], m: Index, dt: Param) -> Scalar:
        other = body
        for i in range(m + 3):
            other.velocity += dt * i
            for _ in range(2):
                body.position += dt * other.velocity
                body.spin.axis[0] = dt
            if body.speed > 3.0:
                break
        while body.mass < 3.0:
            other.mass += 1.5
        return other.energy()

    run(step)


def test_an_object_of_a_pass_is_changed_in_a_loop_inside() -> None:
    def kicked(body: Any, m: Any, dt: Any) -> Any:
        for _ in range(m + 2):
            body.kick(dt)
        return body

    @hawk.kernel
    def step(body: Mutable[Body], m: Index, dt: Param) -> Scalar:
        total = 0
        for _ in range(m + 3):
            fresh = Body.at_rest(body.position)
            for _ in range(m + 2):
                fresh.kick(dt)
            other = kicked(Body.at_rest(body.velocity), m, dt)
            total += fresh.energy() + other.mass  # a float from the first pass on
        return total

    run(step)


def test_an_object_is_changed_or_another_one_in_two_loops() -> None:
    @hawk.kernel
    def step(spin: Mutable[Spin], m: Index, dt: Param) -> Scalar:
        for _ in range(m + 3):
            for _ in range(m + 2):
                if spin.rate < 1.0:
                    spin.axis += dt
                    spin.rate += dt
                else:
                    spin = Spin(0.5, 2.0 * spin.axis)
        return spin.axis @ spin.axis

    run(step)


def test_a_loop_may_end_in_a_return() -> None:
    def until(body: Any, n: Any) -> Any:
        for _ in range(n):
            body.mass += 0.5
            if body.mass > 1.0:
                return replace(body, hits=body.hits + 1)
        return body

    @hawk.kernel
    def step(body: Mutable[Body]) -> tuple[Scalar, Index]:
        found = until(body, 4)
        return found.mass, found.hits

    run(step)


def test_what_runs_for_some_samples_only_changes_an_object_for_those() -> None:
    @hawk.kernel
    def step(body: Mutable[Body], x: Scalar, flag: Bool) -> Bool:
        found = flag and body.kick(x) is None
        if x > 0.0 or body.energy() > heavier(body, x).mass:
            found = not found
        while body.mass < 2.0 and heavier(body, 0.75).mass < 3.0:
            body.hits += 1
        return found

    def heavier(body: Any, by: Any) -> Any:
        body.mass += by
        return body

    run(step)


def test_a_chain_of_comparisons_changes_nothing() -> None:
    def heavier(body: Any) -> Any:
        body.mass += 1.0
        return body.mass

    @hawk.kernel
    def step(body: Mutable[Body]) -> Bool:
        return 0.0 < body.mass < heavier(body)

    with pytest.raises(hawk.HawkError, match="runs only where the comparison before it holds"):
        step.trace(DType.F64)


def test_a_generator_looks_at_objects_when_its_values_are_taken() -> None:
    @hawk.kernel
    def step(body: Mutable[Body], x: Scalar, v: Vector[2]) -> Scalar:
        later = (body.mass * i for i in range(1, 3))
        body.mass = x
        x = 5.0
        total = sum(later)
        for each in (v[i] + x for i in range(2)):
            v[1] = 7.0
            x = x * 2.0
            total += each
        return total

    run(step)


# -- new objects -----------------------------------------------------------------------------------


@dataclass
class Counter:
    n: Scalar
    v: Vector[2]
    point: Point = Point(1.0)

    @property
    def counted(self) -> Any:
        self.n += 1.0
        return self

    @property
    def array(self) -> Any:
        return self.v


def test_a_property_that_changes_its_object_runs_once() -> None:
    @hawk.kernel
    def step(c: Mutable[Counter], d: Mutable[Counter]) -> Scalar:
        c.counted.n *= 2.0
        c.counted.v += c.counted.n
        d.counted.n, c.v[0] = c.counted.n, 3.0
        while d.counted.n < 4.0:
            c.v[1] += 1.0
        return d.counted.n + d.counted.n

    run(step)


def test_what_a_property_gives_has_no_name_to_assign_an_element_under() -> None:
    @hawk.kernel
    def counted(c: Mutable[Counter]):
        c.counted.v[0] = 1.0

    @hawk.kernel
    def an_array(c: Mutable[Counter]):
        c.array[0] += 1.0

    for kernel in (counted, an_array):
        with pytest.raises(hawk.HawkError, match="has no name of its own"):
            kernel.trace(DType.F64)


OUTSIDE = Counter(1.0, (2.0, 3.0), Point(4.0))  # type: ignore[arg-type]


def test_an_object_made_outside_is_read_and_replaced() -> None:
    @hawk.kernel
    def step(c: Mutable[Counter]) -> Scalar:
        other = replace(OUTSIDE, n=c.n)
        other.v += c.v
        return other.v[1] + other.n * OUTSIDE.point.x + OUTSIDE.v[0]

    run(step)


def test_an_object_made_outside_is_none_of_the_kernels() -> None:
    @hawk.kernel
    def step(c: Mutable[Counter], test: Bool) -> Scalar:
        one = OUTSIDE if test else c
        return one.n

    with pytest.raises(hawk.HawkError, match="a Counter made outside of the kernel on one path"):
        step.trace(DType.F64)


def test_objects_are_made_and_replaced() -> None:
    @hawk.kernel
    def step(body: Body, x: Scalar) -> tuple[Body, Scalar]:
        point = Point(x)
        other = Body.at_rest(body.position)
        spin = dataclasses.replace(other.spin, rate=x).doubled()
        return replace(other, mass=point.y, spin=spin), copy.copy(point).x

    found = run(step)
    assert (found["out0_mass"] == 2.0).all()


def test_an_object_may_be_another_after_a_choice_or_a_pass() -> None:
    @hawk.kernel
    def step(body: Mutable[Body], x: Scalar, m: Index) -> Scalar:
        if x > 0.0:
            body = replace(body, mass=x)
        body.mass += 1.0
        best = Point(0.0)
        for i in range(m + 2):
            point = Point(x * i, best.x)
            best = point if point.x > best.x else Point(best.x, 1.0)
        last = best
        return last.x + last.y + body.mass

    run(step)


def test_objects_are_swapped_in_a_loop_that_changes_none() -> None:
    @hawk.kernel
    def step(a: Point, b: Point, m: Index) -> Scalar:
        for _ in range(m + 3):
            a, b = b, a
        return a.x - b.y

    run(step)


def test_post_init_runs_as_a_helper_does() -> None:
    @dataclass
    class Pair:
        x: Scalar
        scale: dataclasses.InitVar[float] = 2.0
        both: Any = field(init=False)
        more: Any = field(default_factory=partial(vec, 1.0, 2.0))

        def __post_init__(self, scale: Any) -> None:
            self.both = self.x * self.x + scale * self.x

    @hawk.kernel
    def step(x: Scalar) -> Scalar:
        pair = Pair(x)
        return pair.both + Pair(x, 3.0).both + pair.more[1]

    run(step)


def test_a_number_in_a_field_has_its_type_at_once() -> None:
    @hawk.kernel(dtype="float32")
    def step(p: Mutable[Point], x: Scalar) -> Scalar:
        q = replace(p, x=1)
        p = replace(p, x=0.1)
        return q.x / 3 + p.x * p.x + x

    every_way(step, DType.F32, **numbers(step, real="float32"))


def test_objects_stand_in_tuples_and_lists() -> None:
    @hawk.kernel
    def step(a: Mutable[Body], b: Mutable[Body], x: Scalar) -> Scalar:
        both = [a, b]
        for each in both:
            each.mass += x
        both[0].kick(x)
        heavy, light = (a, b) if a.mass > b.mass else (b, a)
        return heavy.mass - light.mass

    run(step)


def test_what_is_asked_of_objects() -> None:
    @hawk.kernel
    def step(a: Body, b: Body) -> Scalar:
        c = a
        same = (c is a, a is b, a is not None, isinstance(a, Body), type(a) is Spin)
        total = 0.0
        for place, each in enumerate(same):
            total += 10.0**place * each
        return total + (1.0 if a else 0.0)

    assert (run(step)["out"] == 1101.0 + 1.0).all()


def test_a_kernel_inside_a_kernel_has_objects_of_its_own() -> None:
    @hawk.kernel
    def half(p: Mutable[Spin], by: Param = 2.0):
        p.rate /= by
        p.axis *= 0.5

    @hawk.kernel
    def both(p: Spin) -> tuple[Spin, Scalar]:
        p.rate = 1.0
        return p, p.rate

    @hawk.kernel
    def step(spin: Mutable[Spin]) -> Scalar:
        half(spin)
        after, rate = both(half(spin))
        spin.axis = after.axis.copy()
        return spin.rate + after.rate + rate

    run(step)


def test_reductions_take_fields() -> None:
    @hawk.kernel
    def step(p: Mutable[Spin]) -> Scalar:
        p.rate -= hawk.mean(p.rate)
        return p.rate

    planes = numbers(step)
    assert (
        hawk.run_python(step, **planes)["out"].tobytes()
        == hawk.interpret(step, **planes)["out"].tobytes()
    )


# -- the user's own function -----------------------------------------------------------------------

SEEN: list[Any] = []


def look(body: Any) -> None:
    SEEN.append((type(body), list(vars(body))))


def test_the_users_function_gets_a_real_object() -> None:
    @hawk.kernel
    def step(body: Mutable[Body]) -> Body:
        look(body)
        return body

    SEEN.clear()
    with pytest.raises(hawk.HawkError):
        hawk.interpret(step, **numbers(step, 2))
    hawk.run_python(step, **numbers(step, 2))
    assert SEEN == [(Body, ["position", "velocity", "mass", "hits", "spin"])] * 2


def test_the_slow_ways_take_objects_too() -> None:
    @hawk.kernel
    def step(p: Point) -> Scalar:
        return p.x

    given = Point(np.arange(3.0), np.zeros(3))  # type: ignore[arg-type]
    assert hawk.interpret(step, p=given)["out"].tolist() == [0.0, 1.0, 2.0]
    assert hawk.run_python(step, given)["out"].tolist() == [0.0, 1.0, 2.0]


# -- arrays under several names -------------------------------------------------------------------


def test_an_array_of_a_pass_that_changed_is_not_read_behind_the_loop() -> None:
    @hawk.kernel
    def step(v: Mutable[Vector[2]]) -> Scalar:
        for _ in range(3):
            w = v
            v[0] += 1.0
        return w[0]

    @hawk.kernel
    def in_a_tuple(v: Mutable[Vector[2]]) -> Scalar:
        t = (v, 1.0)
        v[0] += 1.0
        for _ in range(3):
            t = (t[0], t[1] + 1.0)
        return t[0][0]

    for kernel in (step, in_a_tuple):
        with pytest.raises(hawk.HawkError, match="shares its numbers with"):
            kernel.trace(DType.F64)


def test_checks_look_at_fields() -> None:
    @hawk.kernel(checks=True)
    def step(body: Mutable[Point], over: Terminated):
        assert body.x > 0.0, "outside"
        over = body.x > 1.0

    with pytest.raises(hawk.CheckError, match="outside"):
        step(body_x=np.array([1.0, -1.0]), body_y=np.zeros(2))


def test_what_only_checks_look_at_changes_nothing() -> None:
    @hawk.kernel(checks=True)
    def asserted(c: Mutable[Counter]):
        assert c.counted.n > 0.0

    @hawk.kernel(checks=True)
    def shown(c: Mutable[Counter]):
        hawk.debug(c.n, where=c.counted.n > 0.0)

    for kernel in (asserted, shown):
        with pytest.raises(hawk.HawkError, match="is computed with checks=True only"):
            kernel.trace(DType.F64)


def test_bools_and_integers_are_fields_too() -> None:
    @dataclass
    class Kinds:
        flag: Bool
        i: Int32
        k: Index

    @hawk.kernel
    def step(kinds: Mutable[Kinds]):
        kinds.flag = not kinds.flag
        kinds.i = 3
        kinds.k = kinds.k + (1 if kinds.flag else 2)

    run(step)
