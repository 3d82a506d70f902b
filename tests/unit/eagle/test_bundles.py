"""Objects of dataclasses at every door: their fields are planes, and come back in an object."""

import pickle
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from eagle.exact import exact
from hawk import Grid, Index, Mutable, Param, Scalar, Table, Terminated, Vector
from hawk.ir.types import DType
from tests.unit.frontend.agreement import same_bits


@dataclass
class Spin:
    rate: Scalar
    axis: Vector[2]


@dataclass
class Body:
    x: Scalar
    k: Index
    spin: Spin
    g: Param = 2.0


@dataclass
class Flat:
    x: Scalar
    v: Scalar


@hawk.kernel
def fall(body: Mutable[Body], dt: Param, over: Terminated) -> Scalar:
    body.spin.axis += dt * body.g
    body.x -= dt * body.spin.axis[1]
    body.spin.rate *= 0.5
    body.k += 1
    over = body.k >= 12
    return body.x


@hawk.kernel
def swing(s: Mutable[Flat], dt: Param, over: Terminated) -> tuple[Flat, Scalar]:
    s.v -= dt * s.x
    s.x += dt * s.v
    over = s.x < 0.0
    return replace(s, v=0.0), s.v


def body(n: int = 5, **changes: Any) -> Body:
    spin = Spin(np.linspace(0.0, 1.0, n), np.zeros((2, n)))  # type: ignore[arg-type]
    held: dict[str, Any] = {"x": np.arange(float(n)), "k": np.arange(n), "spin": spin}
    return Body(**(held | changes))


def flat(n: int = 5) -> Flat:
    return Flat(np.linspace(0.5, 1.5, n), np.zeros(n))  # type: ignore[arg-type]


def planes(whole: Body) -> dict[str, Any]:
    """The planes of a body, as they are given one by one."""
    return {
        "body_x": whole.x,
        "body_k": whole.k,
        "body_spin_rate": whole.spin.rate,
        "body_spin_axis": whole.spin.axis,
        "body_g": whole.g,
    }


def same(one: Body, other: Body) -> bool:
    pairs = zip(planes(one).values(), planes(other).values(), strict=True)
    return all(same_bits(np.asarray(a), np.asarray(b)) for a, b in pairs)


def test_an_object_and_its_planes_are_one_call() -> None:
    one, other = body(), body()
    assert same_bits(fall(one, 0.25), fall(**planes(other), dt=0.25))  # type: ignore[call-arg]
    assert same(one, other)


def test_all_doors_change_the_arrays_of_the_object() -> None:
    wanted, given = body(), [body() for _ in range(5)]
    eagle.simulate(fall, max_steps=9, **planes(wanted), dt=0.25)
    assert eagle.simulate(fall, max_steps=9, body=given[0], dt=0.25).body.x is given[0].x
    eagle.run_until_done(eagle.deploy(fall), max_steps=9, body=given[1], dt=0.25)
    simulation = eagle.simulation(fall, max_steps=9, body=given[2], dt=0.25)
    simulation.run()
    simulation.reset()
    assert same(given[2], body())
    simulation.run()
    bound = eagle.deploy(fall).bind(body=given[3], dt=0.25)
    for _ in range(9):
        bound.launch()
    finished = np.zeros(5, np.bool)
    bound = eagle.deploy(fall).bind(body=given[4], dt=0.25, over=finished)
    out = bound.planes["out"]
    with eagle.ActiveSet(finished, reorder=0.75, planes=(given[4], out)) as active:
        for _ in range(9):
            active.compact()
            bound.launch(active=active)
    assert all(same(wanted, each) for each in given)


def test_what_comes_back_is_an_object_of_the_class() -> None:
    given = flat()
    result = eagle.simulate(swing, max_steps=3, s=given, dt=0.1, count_steps=True)
    assert type(result.s) is Flat
    assert result.s.x is given.x
    assert result.s_x is given.x
    assert result["s"].v is result["s_v"]
    assert result.out0.x is result.out0_x
    assert (result.out0.v == 0.0).all()
    assert {"s", "s_x", "out0", "out0_x", "out1"} <= set(dir(result))
    again = pickle.loads(pickle.dumps(result))
    assert same_bits(again.s.x, given.x)
    with pytest.raises(AttributeError, match="there are s, out0, s_x, s_v"):
        _ = result.y


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_calls_that_fit_as_they_are_need_no_second_look(dtype: str) -> None:
    def given() -> Flat:
        return Flat(np.linspace(0.5, 1.5, 5, dtype=dtype), np.zeros(5, dtype))  # type: ignore[arg-type]

    first, whole, apart = given(), given(), given()
    eagle.simulate(swing, max_steps=9, s=first, dt=0.1)  # compiled from here on
    planes = {"s_x": apart.x, "s_v": apart.v, "dt": 0.1}
    fits = [exact(swing, {"s": whole, "dt": 0.1}), exact(swing, planes)]
    assert [5, 5] == [fit.n for fit in fits if fit is not None]
    one = eagle.simulate(swing, max_steps=9, s=whole, dt=0.1)
    other = eagle.simulate(swing, max_steps=9, s_x=apart.x, s_v=apart.v, dt=0.1)
    for result, mine in ((one, whole), (other, apart)):
        assert result.s.x is mine.x
        assert type(result.out0) is Flat
        assert same_bits(np.asarray(mine.x), np.asarray(first.x))
        assert same_bits(np.asarray(mine.v), np.asarray(first.v))


@pytest.mark.parametrize(
    "call",
    [
        {"s": flat(), "s_x": np.ones(5), "dt": 0.1},
        {"s": SimpleNamespace(x=np.ones(5)), "dt": 0.1},
        {"s": Flat(np.ones(5), None), "dt": 0.1},  # type: ignore[arg-type]
        {"s": Flat(np.ones(5), np.ones(4)), "dt": 0.1},  # type: ignore[arg-type]
        {"s": None, "dt": 0.1},
    ],
)
def test_calls_with_objects_that_do_not_fit_get_the_second_look(call: dict[str, Any]) -> None:
    eagle.simulate(swing, max_steps=1, s=flat(), dt=0.1)
    assert exact(swing, call) is None
    with pytest.raises(eagle.BindError):
        eagle.simulate(swing, max_steps=1, **call)


def test_an_array_is_no_object_although_it_has_attributes() -> None:
    @dataclass
    class Complex:
        real: Scalar
        imag: Scalar

    @hawk.kernel
    def square(z: Complex, n_times: Param) -> Scalar:
        return n_times * (z.real * z.real + z.imag * z.imag)

    given = Complex(np.ones(3), np.ones(3))  # type: ignore[arg-type]
    assert square(z=given, n_times=2.0).tolist() == [4.0] * 3  # type: ignore[call-arg]
    for _ in range(2):
        with pytest.raises(eagle.BindError, match="expected an object with real and imag"):
            eagle.deploy(square).bind(z=np.ones(3), n_times=2.0)


def test_numbers_for_the_launch_come_back_in_the_object() -> None:
    @dataclass
    class Spring:
        x: Scalar
        k: Param = 3.0

    @hawk.kernel
    def pull(spring: Mutable[Spring], over: Terminated):
        spring.x -= spring.k
        over = spring.x < 0.0

    for _ in range(2):
        result = eagle.simulate(pull, max_steps=5, spring=Spring(np.ones(3), 2.0))  # type: ignore[arg-type]
        assert result.spring.k == 2.0
        result = eagle.simulate(pull, max_steps=5, spring_x=np.ones(3), spring_k=4.0)
        assert result.spring.k == 4.0
    assert "pull(spring: Mutable[Spring], over: Terminated)" in repr(pull)


class Broken:
    """An object one attribute of which cannot be computed."""

    v = np.zeros(5)

    @property
    def x(self) -> Any:
        raise AttributeError("no file to read x from")


def test_what_a_property_raises_is_what_the_caller_sees() -> None:
    with pytest.raises(AttributeError, match="no file"):
        eagle.simulate(swing, max_steps=1, s=Broken(), dt=0.1)


def test_active_sets_move_what_has_a_place_for_each_sample() -> None:
    @dataclass
    class Curve:
        at: Scalar
        values: Table[Scalar]
        scale: Param[Vector[8]]

    at, values, scale = (np.arange(8.0) for _ in range(3))
    curve = Curve(at, values, scale)  # type: ignore[arg-type]
    finished = np.zeros(8, np.bool)
    with eagle.ActiveSet(finished, reorder=0.75, planes=(curve,)) as active:
        finished[:6] = True
        active.compact()
        assert {6.0, 7.0} == set(at[:2].tolist())
        assert np.arange(8.0).tolist() == values.tolist() == scale.tolist()
    assert np.arange(8.0).tolist() == at.tolist()


def test_a_call_returns_an_object_of_new_arrays_or_of_those_of_out() -> None:
    out = flat()
    (first, v), (second, _) = swing(flat(), 0.1), swing(flat(), 0.1, out=(out, None))  # type: ignore[call-arg]
    assert type(first) is Flat
    assert second.x is out.x
    assert same_bits(np.asarray(first.x), np.asarray(out.x))
    assert isinstance(v, np.ndarray)


def test_without_return_the_object_is_what_a_call_gives() -> None:
    @hawk.kernel
    def grow(s: Mutable[Flat]):
        s.x += 1.0

    given = flat()
    assert grow(given).x is given.x
    lone = grow(SimpleNamespace(x=1.0, v=2.0))
    assert (lone.x, lone.v) == (2.0, 2.0)


def test_any_object_with_the_attributes_will_do() -> None:
    given = SimpleNamespace(**vars(body()))
    result = eagle.simulate(fall, max_steps=9, body=given, dt=0.25)
    assert type(result.body) is Body
    assert result.body.spin.axis is given.spin.axis
    assert result.body.g == 2.0


def test_a_default_of_the_class_is_taken_where_nothing_is_given() -> None:
    one, other = body(), body()
    other_planes = planes(other)
    del other_planes["body_g"]
    fall(replace(one, g=2.0), 0.25)  # type: ignore[arg-type]
    fall(**other_planes, dt=0.25)  # type: ignore[call-arg]
    assert same(one, other)


def test_lists_and_numbers_are_fields_in_a_direct_call() -> None:
    @hawk.kernel
    def total(s: Flat) -> Scalar:
        return s.x + s.v

    assert total(Flat([1, 2], 0.5)).tolist() == [1.5, 2.5]  # type: ignore[arg-type]


def test_state_that_is_never_read_may_be_left_out_of_an_object() -> None:
    @hawk.kernel
    def write(s: Mutable[Flat], over: Terminated):
        s.x = 1.0
        s.v += 1.0
        over = True

    result = eagle.simulate(write, max_steps=3, s=Flat(None, np.zeros(4)))  # type: ignore[arg-type]
    assert result.allocated == ("s_x",)
    assert result.s.x.tolist() == [1.0] * 4


def test_tables_and_numbers_are_fields() -> None:
    @dataclass
    class Curve:
        values: Table[Scalar]
        scale: Param[Vector[2]]

    @hawk.kernel
    def look(curve: Curve, i: Index) -> Scalar:
        return curve.values[i] * curve.scale[1]

    curve = Curve(np.arange(4.0), (1.0, 3.0))  # type: ignore[arg-type]
    assert look(curve, np.array([0, 3])).tolist() == [0.0, 9.0]


def test_knots_and_values_of_an_object_are_as_many() -> None:
    @dataclass
    class Curve:
        knots: Table[Scalar]
        values: Table[Scalar]

        def at(self, x: Any) -> Any:
            return hawk.math.interp(x, self.knots, self.values)

    @hawk.kernel
    def read(curve: Curve, x: Scalar) -> Scalar:
        return curve.at(x)

    x, knots = np.array([0.5, 2.5]), np.arange(4.0)
    curve = Curve(knots, 2.0 * knots)  # type: ignore[arg-type]
    assert read(curve, x).tolist() == [1.0, 5.0]
    assert hawk.run_python(read, curve, x)["out"].tolist() == [1.0, 5.0]
    with pytest.raises(eagle.BindError, match=r"'curve\.values': has 3 .* 'curve\.knots' has 4"):
        read(replace(curve, values=np.arange(3.0)), x)  # type: ignore[arg-type]


def test_samples_may_be_the_first_axis_of_a_field() -> None:
    one = body(spin=Spin(np.zeros(5), np.zeros((5, 2))))  # type: ignore[arg-type]
    with pytest.warns(eagle.LayoutWarning, match=r"'body\.spin\.axis'"):
        fall(one, 0.25)
    two = body(spin=Spin(np.zeros(5), np.zeros((2, 5))))  # type: ignore[arg-type]
    fall(two, 0.25)
    assert same_bits(np.ascontiguousarray(np.asarray(one.spin.axis).T), np.asarray(two.spin.axis))


def test_objects_of_scalars_are_bound_as_their_planes_are() -> None:
    one, other = flat(), flat()
    first = eagle.deploy(swing).bind(s=one, dt=0.1)
    second = eagle.deploy(swing).bind(s_x=other.x, s_v=other.v, dt=0.1)
    first.launch()
    second.launch()
    assert same_bits(np.asarray(one.x), np.asarray(other.x))
    assert list(first.planes) == list(second.planes)


# -- of the whole batch ----------------------------------------------------------------------------


@dataclass
class Walker:
    at: Index
    weight: Scalar

    def share(self, mean: Any) -> Any:
        return self.weight / (mean + 1.0)


@hawk.kernel
def leave(w: Mutable[Walker], field: Mutable[Table[Scalar]], over: Terminated) -> Walker:
    mean = hawk.mean(w.weight)
    hawk.scatter(field)[w.at] += w.share(mean)
    w.at += 1
    w.weight = 0.5 * w.weight + mean
    over = w.at >= 6
    return replace(w, weight=hawk.max(w.weight))


@hawk.kernel
def leave_apart(
    at: Mutable[Index], weight: Mutable[Scalar], field: Mutable[Table[Scalar]], over: Terminated
) -> tuple[Index, Scalar]:
    mean = hawk.mean(weight)
    hawk.scatter(field)[at] += weight / (mean + 1.0)
    at += 1
    weight = 0.5 * weight + mean
    over = at >= 6
    return at, hawk.max(weight)


def test_reductions_and_scatters_of_fields_are_those_of_planes() -> None:
    def walkers() -> tuple[Any, Any, Any]:
        return np.arange(9) % 5, np.linspace(1.0, 3.0, 9), np.zeros(6)

    at, weight, given = walkers()
    wanted = eagle.simulate(leave_apart, max_steps=9, at=at, weight=weight, field=given)
    for _ in range(2):  # the second time without a second look
        mine, field = Walker(*walkers()[:2]), np.zeros(6)
        result = eagle.simulate(leave, max_steps=9, w=mine, field=field)
        assert result.w.weight is mine.weight
        pairs = {
            "at": (at, mine.at), "weight": (weight, mine.weight), "field": (given, field),
            "out0": (wanted.out0, result.out.at), "out1": (wanted.out1, result.out.weight),
        }  # fmt: skip
        assert [] == [n for n, (a, b) in pairs.items() if not same_bits(a, np.asarray(b))]
    ways, start = (hawk.interpret, hawk.run_python), Walker(*walkers()[:2])
    assert same_bits(*(way(leave, start, np.zeros(6), steps=3)["field"] for way in ways))


# -- grids -----------------------------------------------------------------------------------------


@dataclass
class Plate:
    u: Grid["r", "c"]  # pyright: ignore[reportGeneralTypeIssues, reportInvalidTypeArguments]
    heat: Grid["r", "c"]  # pyright: ignore[reportGeneralTypeIssues, reportInvalidTypeArguments]
    k: Param = 0.1

    def around(self) -> Any:
        return self.u.neighbor(r=1) + self.u.neighbor(r=-1) + self.u.neighbor(c=1, edge="wrap")


@hawk.kernel
def spread(plate: Plate) -> Plate:
    k = plate.k
    for _ in range(3):
        plate.k *= 0.5
        k += plate.k * plate.u.neighbor(c=1)
    return replace(plate, u=plate.u + k * plate.around() + plate.heat)


@hawk.kernel
def warm(plate: Mutable[Plate], over: Terminated):
    plate.u += plate.k * plate.heat
    over = plate.u > 1.0


def plate() -> Plate:
    random = np.random.default_rng(1)
    return Plate(random.random((3, 4)), random.random((3, 4)))  # type: ignore[arg-type]


def test_grids_are_fields() -> None:
    given = plate()
    made = spread(given)
    assert type(made) is Plate
    assert np.shape(made.u) == (3, 4)
    for way in (hawk.interpret, hawk.run_python):
        assert same_bits(way(spread, given)["out_u"], np.asarray(made.u))
    start = np.array(given.u)
    result = eagle.simulate(warm, max_steps=5, plate=given)
    assert result.plate.u is given.u
    assert (result.plate.u > start).all()


def test_messages_of_grids_name_the_field() -> None:
    wrong = replace(plate(), heat=np.zeros((3, 5)))  # type: ignore[arg-type]
    with pytest.raises(eagle.BindError, match=r"'plate\.heat': .* like 'plate\.u', got .*\(3, 5\)"):
        eagle.deploy(warm).bind(plate=wrong)

    @hawk.kernel
    def changed(plate: Mutable[Plate]):
        plate.heat = plate.u.neighbor(r=1)

    with pytest.raises(hawk.HawkError, match=r"`plate\.u` changes in each step") as caught:
        changed.trace(DType.F64)
    assert "plate_u_before: Grid" in str(caught.value)


# -- graphs ----------------------------------------------------------------------------------------


@hawk.kernel
def push(s: Mutable[Flat], dt: Param) -> Flat:
    s.v -= dt * s.x
    return replace(s, x=2.0 * s.x)


@hawk.kernel
def drift(s: Mutable[Flat], t: Flat, dt: Param):
    s.x += dt * (s.v + t.x)


@eagle.Graph.builder
def turn(s: Any, dt: Any) -> Any:
    g = eagle.Graph()
    made = push(s, dt)
    drift(s, made, dt)
    return g


def test_objects_are_given_to_kernels_in_graphs_and_come_back() -> None:
    given, wanted = flat(), flat()
    turn(given, 0.1).launch(3)
    for _ in range(3):
        drift(wanted, push(wanted, 0.1), 0.1)  # type: ignore[arg-type]
    assert same_bits(np.asarray(given.x), np.asarray(wanted.x))
    assert same_bits(np.asarray(given.v), np.asarray(wanted.v))
