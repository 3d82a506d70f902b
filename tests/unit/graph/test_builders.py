"""What a builder may say: Python runs it once, and what a cell decides each replay decides."""

import contextlib
import io
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import eagle
import hawk
from eagle.graph import outside
from hawk import Bool, Index, Int32, Mutable, Param, Scalar

scale = 2.0


@hawk.kernel
def inc(x: Mutable[Scalar], dt: Param = 1.0):
    x += dt


@hawk.kernel
def twice(x: Scalar) -> Scalar:
    return x + x


@hawk.kernel
def down(k: Mutable[Int32]):
    k -= 1


@hawk.kernel
def large(x: Scalar) -> Bool:
    return x > 4.0


@hawk.kernel
def added(x: Mutable[Scalar], i: Index):
    x = x * 10.0 + i


def cell(number: int, dtype: Any = np.int32) -> np.ndarray:
    return np.array([number], dtype)


def launched(function: Any, *args: Any, times: int = 1) -> Any:
    graph = eagle.Graph.builder(function)(*args)
    graph.launch(times)
    return graph


# -- Python ----------------------------------------------------------------------------------------


def test_python_runs_once() -> None:
    def build(x, dts, scales):
        import math

        g = eagle.Graph()
        total = 0.0
        steps = []
        for dt, factor in zip(dts, [s * scale for s in scales], strict=True):
            total += dt
            steps.append(inc(x, dt * factor))
        first, *others = steps
        assert others[0] is first
        while total > 1.0:
            inc(x, total)
            total -= 1.0
        del steps
        with contextlib.suppress(KeyError):
            print(f"{total:.2f} {math.pi:.2f} {(last := dts[-1])}")
        if last == 0.5 and not total > 1.0:
            inc(x, 100.0)
        return g

    printed, x = io.StringIO(), np.zeros(1)
    with contextlib.redirect_stdout(printed):
        launched(build, x, [1.0, 0.5], (3.0, 4.0), times=2)
    assert "0.50 3.14 0.5\n" == printed.getvalue()
    assert 2 * (6.0 + 4.0 + 1.5 + 100.0) == x[0]


def test_functions_of_a_builder_see_its_names_as_they_are() -> None:
    def build(x):
        g = eagle.Graph()
        factor = 2.0

        def scaled(plane):
            plane *= factor

        def used(plane):
            return helper(plane)

        helper = lambda plane: inc(plane, factor)  # noqa: E731 - one line is the subject
        factor = 3.0
        eagle.opaque(scaled, writes=x)
        used(x)
        return g

    x = np.ones(1)
    launched(build, x)
    assert 6.0 == x[0]


def test_what_a_function_of_a_builder_binds_is_bound() -> None:
    def build(x):
        g = eagle.Graph()
        count = 1

        def bump():
            nonlocal count
            count += 1

        bump()
        with contextlib.suppress(ZeroDivisionError):
            count += 10
            count //= 0
            count += 100
        inc(x, float(count))
        return g

    x = np.zeros(1)
    launched(build, x)
    assert 12.0 == x[0]


def test_lists_and_dicts_of_arrays_hold_planes_and_others_are_what_they_were() -> None:
    def build(planes, named, seen):
        g = eagle.Graph()
        for plane in planes:
            seen.append(inc(plane).shape)
        inc(named["y"], named["dt"])
        return g

    x, y, seen = np.zeros(1), np.zeros(2), []
    launched(build, [x, y], {"y": y, "dt": 2.0}, seen)
    assert [1.0, 3.0, 3.0] == [*x, *y]
    assert [(1,), (2,)] == seen


def test_methods_and_closures_are_builders() -> None:
    step = 0.5

    class Model:
        @eagle.Graph.builder
        def build(self, x):
            g = eagle.Graph()
            inc(x, step * self.factor)
            return g

        factor = 4.0

    x = np.zeros(1)
    Model().build(x).launch()
    assert 2.0 == x[0]


def test_a_helper_may_record_but_not_ask_cells() -> None:
    def helper(x, test):
        return inc(x) if test else x

    def build(x, k):
        g = eagle.Graph()
        helper(x, k)
        return g

    with pytest.raises(eagle.GraphError, match="G103"):
        launched(build, np.zeros(1), cell(1))


def test_an_exception_of_the_builder_is_its_own() -> None:
    def build(x):
        g = eagle.Graph()
        {}["nothing"]
        return g

    with pytest.raises(KeyError, match="nothing"):
        launched(build, np.zeros(1))


def test_what_was_tried_leaves_nothing_behind() -> None:
    from eagle.recording import recorder

    with pytest.raises(eagle.GraphError):
        launched(lambda x: None, np.zeros(1))
    assert recorder() is None


# -- what cells decide -----------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(5))
def test_branches_are_chosen_at_each_replay(number: int) -> None:
    def build(x, k):
        g = eagle.Graph()
        if k == 0:
            y = twice(x)
        elif 1 <= k < 3 and not k == 2:
            y = inc(x)
        else:
            y = x if k > 3 else twice(twice(x))
        g.result = twice(y)
        match k:
            case 0 | 2:
                inc(x, 10.0)
            case 3:
                inc(x, 20.0)
            case _:
                pass
        return g

    def by_hand(x: float, k: int) -> tuple[float, float]:
        y = {0: 2 * x, 1: x + 1, 2: 4 * x, 3: 4 * x, 4: x}[k]
        return {0: 10.0, 2: 10.0, 3: 20.0}.get(k, 0.0) + (x + 1 if k == 1 else x), 2 * y

    k = cell(7)
    graph = eagle.Graph.builder(build)(np.zeros(1), k)
    k[0] = number
    x = np.array([3.0])
    graph.bind(x=x)
    graph.launch()
    assert by_hand(3.0, number) == (x[0], graph.result[0])


@pytest.mark.parametrize("dtype", [np.bool, np.int32, np.uint32, np.int64])
def test_any_type_of_cell_is_asked(dtype: Any) -> None:
    def build(x, k):
        g = eagle.Graph()
        if k:
            inc(x)
        if k != 1:
            inc(x, 10.0)
        if not k or k > 3:
            inc(x, 100.0)
        return g

    values = [0, 1] if dtype is np.bool else [0, 1, 5, np.iinfo(dtype).max]
    for value in values:
        x, k = np.zeros(1), np.array(value, dtype)
        launched(build, x, k)
        expected = bool(value) + 10.0 * (value != 1) + 100.0 * (not value or value > 3)
        assert expected == x[0]


def rotated(a, b, k):
    g = eagle.Graph()
    while k > 0:
        a, b = b, twice(a)
        down(k)
    g.result = (a, b)
    return g


def rotated_the_other_way(a, b, k):
    g = eagle.Graph()
    while k > 0:
        a, b = twice(b), a
        down(k)
    g.result = (a, b)
    return g


def exchanged(a, b, k):
    g = eagle.Graph()
    while k > 0:
        a, b = b, a
        down(k)
    g.result = (a, b)
    return g


@pytest.mark.parametrize(
    ("build", "by_hand"),
    [
        (rotated, lambda x, y: (y, 2 * x)),
        (rotated_the_other_way, lambda x, y: (2 * y, x)),
        (exchanged, lambda x, y: (y, x)),
    ],
)
def test_loops_carry_planes_and_exchange_them(build: Any, by_hand: Any) -> None:
    for passes in range(4):
        a, b = np.array([1.0]), np.array([3.0])
        graph = launched(build, a, b, cell(passes))
        expected = (1.0, 3.0)
        for _ in range(passes):
            expected = by_hand(*expected)
        assert expected == tuple(each[0] for each in graph.result)
        assert (1.0, 3.0) == (a[0], b[0])


@pytest.mark.parametrize("bounds", [(4,), (2, 5), (0, 7, 3), (3, 1)])
def test_a_range_of_cells_counts_as_python_does(bounds: tuple[int, ...]) -> None:
    def build(x, start, stop):
        g = eagle.Graph()
        for i in range(start, stop) if step == 1 else range(start, stop, step):
            added(x, i)
        return g

    def build_up_to(x, stop):
        g = eagle.Graph()
        for i in range(stop):
            added(x, i)
        else:
            added(x, stop64)
        return g

    def stepped(x, start, stop):
        g = eagle.Graph()
        for i in range(start, stop, step):
            added(x, i)
        return g

    x, expected, stop64 = np.zeros(1), 0.0, np.array([9])
    step = bounds[2] if len(bounds) == 3 else 1
    for i in range(*bounds):
        expected = expected * 10 + i
    if len(bounds) == 1:
        launched(build_up_to, x, cell(bounds[0]))
        expected = expected * 10 + 9
    else:
        launched(stepped, x, cell(bounds[0]), cell(bounds[1]))
    assert expected == x[0]


@pytest.mark.parametrize("limit", [0.0, 3.0, 50.0])
def test_a_loop_is_left_and_its_else_is_not_run(limit: float) -> None:
    @hawk.kernel
    def beyond(x: Scalar, limit: Scalar) -> Bool:
        return x > limit

    def build(x, limit):
        g = eagle.Graph()
        for _ in range(8):
            if beyond(x, limit):
                break
            inc(x)
            if large(x):
                continue
            inc(x, 0.5)
        else:
            inc(x, 1000.0)
        return g

    x, bound = np.zeros(1), np.array([limit])
    launched(build, x, bound)
    y = 0.0
    for _ in range(8):
        if y > limit:
            break
        y += 1.0
        if y > 4.0:
            continue
        y += 0.5
    else:
        y += 1000.0
    assert y == x[0]


def test_a_return_may_stand_in_a_branch() -> None:
    def build(x, k):
        g = eagle.Graph()
        inc(x)
        if k:
            return g
        inc(x, 10.0)
        return g

    for number in (0, 1):
        x = np.zeros(1)
        launched(build, x, cell(number))
        assert 11.0 - 10.0 * number == x[0]


def test_sides_of_and_run_only_where_those_before_let_them() -> None:
    @hawk.kernel
    def counts(x: Mutable[Scalar]) -> Bool:
        x += 1.0
        return x > 1.0

    def build(x, k, y):
        g = eagle.Graph()
        if k and counts(x):
            inc(y)
        if k or counts(x):
            inc(y, 10.0)
        t = k > 5
        down(k)
        if t:
            inc(y, 100.0)
        return g

    for number in (0, 1, 6):
        x, k, y, k_by_hand = np.zeros(1), cell(number), np.zeros(1), number
        launched(build, x, k, y, times=3)
        seen = total = 0.0
        for _ in range(3):
            if k_by_hand:
                seen += 1
                total += seen > 1
            if k_by_hand:
                total += 10
            else:
                seen += 1
                total += 10 * (seen > 1)
            total += 100 * (k_by_hand > 5)
            k_by_hand -= 1
        assert (seen, total) == (x[0], y[0])


def test_two_names_of_one_array_stay_so_where_paths_meet() -> None:
    def build(x, k):
        g = eagle.Graph()
        if k:
            a = twice(x)
            b = a
        else:
            a = b = twice(twice(x))
        inc(a)
        g.result = b
        return g

    assert [7.0] == launched(build, np.array([3.0]), cell(1)).result.tolist()
    assert [13.0] == launched(build, np.array([3.0]), cell(0)).result.tolist()


def written_by_another_name(x, k, out):
    g = eagle.Graph()
    a = twice(x)
    y = a if k else twice(a)
    z = a if k > 1 else twice(a)
    inc(y)
    eagle.copy(z, into=out)
    return g


def read_by_its_first_name(x, k, out):
    g = eagle.Graph()
    a = twice(x)
    y = a if k else twice(a)
    inc(y)
    eagle.copy(a, into=out)
    return g


def joined_twice(x, k, out):
    g = eagle.Graph()
    a = twice(x)
    y = a if k else twice(a)
    z = y if k > 1 else twice(y)
    inc(a)
    eagle.copy(z, into=out)
    return g


def written_in_the_pass_before(x, k, out):
    g = eagle.Graph()
    y = x
    while k > 0:
        eagle.copy(y, into=out)
        inc(x)
        y = x if k > 3 else twice(y)
        down(k)
    return g


def written_by_a_view(x, k, out):
    g = eagle.Graph()
    y = x if k else twice(x)
    inc(x[:1])
    eagle.copy(y, into=out)
    return g


def written_after_a_loop_by_a_name_kept_in_it(x, k, out):
    g = eagle.Graph()
    y = twice(x)
    while k > 0:
        x = y
        if k > 7:
            y = twice(y)
        down(k)
    inc(y)
    eagle.copy(x, into=out)
    return g


def read_after_its_name_has_another_array(x, k, out):
    g = eagle.Graph()
    first = y = twice(x)
    while k > 0:
        inc(y)
        y = twice(y)
        down(k)
    eagle.copy(first, into=out)
    return g


def from_outside_by_a_name_exchanged_in_a_loop(x, k, out):
    g = eagle.Graph()
    y, z = twice(x), x
    while k > 0:
        y, z = z, y
        down(k)
    inc(y)
    return g


@pytest.mark.parametrize(
    "build",
    [
        written_after_a_loop_by_a_name_kept_in_it,
        read_after_its_name_has_another_array,
        from_outside_by_a_name_exchanged_in_a_loop,
        written_by_another_name,
        read_by_its_first_name,
        joined_twice,
        written_in_the_pass_before,
        written_by_a_view,
    ],
)
def test_where_somebody_could_tell_a_copy_from_its_array_it_is_refused(build: Any) -> None:
    with pytest.raises(eagle.GraphError, match="G109"):
        launched(build, np.zeros(2), cell(1), np.zeros(2))


def test_arrays_exchanged_in_a_loop_may_be_written_in_it() -> None:
    """What is one array on one path and another on the next is never both at once."""

    def build(x, k, out):
        g = eagle.Graph()
        a, b = twice(x), twice(twice(x))
        while k > 0:
            inc(a)
            a, b = b, a
            down(k)
        eagle.copy(a, into=out)
        return g

    out = np.zeros(2)
    launched(build, np.ones(2), cell(3), out)
    assert [5.0, 5.0] == out.tolist()


def test_where_nobody_could_it_is_not() -> None:
    def build(x, k, out):
        g = eagle.Graph()
        old = x
        while k > 0:
            new = twice(old)
            old = new if k > 1 else twice(new)
            eagle.copy(new, into=out)
            down(k)
        inc(out)
        y = old if k else out
        g.result = twice(y)
        return g

    x, out = np.array([1.0]), np.zeros(1)
    graph = launched(build, x, cell(3), out)
    assert (1.0, 9.0, 18.0) == (x[0], out[0], graph.result[0])


def test_planes_of_types_that_no_kernel_has_do_not_meet() -> None:
    def build(a, b, k, c):
        g = eagle.Graph()
        eagle.copy(a if k else b, into=c)
        return g

    planes = [np.zeros(2, np.int8) for _ in range(3)]
    with pytest.raises(eagle.GraphError, match="int8"):
        launched(build, planes[0], planes[1], cell(1), planes[2])


def test_a_graph_is_printed() -> None:
    def build(x, k, y):
        g = eagle.Graph()
        z = twice(x)
        while k > 0:
            inc(x)
            down(k)
        eagle.copy(z, into=y)
        return g

    graph = eagle.Graph.builder(build)(np.zeros(2), cell(2), np.zeros(2))
    text = str(graph)
    assert len({len(line) for line in text.splitlines()[1:]}) == 1
    assert "waits for 1: overwrites what is read there: `x`" in text
    assert "subgraph n2" in graph.to_mermaid()
    assert graph.to_dot().count("{") == graph.to_dot().count("}")
    assert "<eagle.Graph build: 5 nodes>" == repr(graph)


def test_a_loop_that_carries_a_plane_keeps_its_own_bounds() -> None:
    """Its body is walked twice, and the loop inside has bounds of its own."""

    def build(a, b, x, y):
        g = eagle.Graph()
        z = twice(x)
        for _ in range(a):
            for _ in range(b):
                inc(x)
            z = twice(x)
            inc(y)
        g.result = z
        return g

    x, y = np.zeros(3), np.zeros(3)
    graph = launched(build, cell(5), cell(2), x, y)
    assert (10.0, 5.0, 20.0) == (x[0], y[0], graph.result[0])


@pytest.mark.parametrize("way", ["if", "while", "range", "match", "not"])
def test_an_array_that_is_no_parameter_is_not_asked_while_a_graph_is_built(way: str) -> None:
    outside = cell(1)

    def by_if(x):
        g = eagle.Graph()
        if outside == 1:
            inc(x)
        return g

    def by_while(x):
        g = eagle.Graph()
        while outside:
            inc(x)
        return g

    def by_range(x):
        g = eagle.Graph()
        for _ in range(0, outside):
            inc(x)
        return g

    def by_match(x):
        g = eagle.Graph()
        match outside:
            case 1:
                inc(x)
            case _:
                pass
        return g

    def by_not(x):
        g = eagle.Graph()
        if not outside:
            inc(x)
        return g

    ways = {"if": by_if, "while": by_while, "range": by_range, "match": by_match, "not": by_not}
    with pytest.raises(eagle.GraphError, match="no parameter of the builder"):
        eagle.Graph.builder(ways[way])(np.zeros(3))


HELD = np.zeros(3)


def held_by_global(x: Any, k: Any, own: Any) -> Any:
    g = eagle.Graph()
    while k > 0:
        inc(HELD)
        down(k)
    return g


def held_by_name(x: Any, k: Any, own: Any) -> Any:
    g = eagle.Graph()
    y = np.zeros(3)
    while k > 0:
        inc(y[:2])
        down(k)
    return g


def held_by_an_object(x: Any, k: Any, own: Any) -> Any:
    g = eagle.Graph()
    while k > 0:
        inc(own.parts["weights"][0])
        down(k)
    return g


def only_read(x: Any, k: Any, own: Any) -> Any:
    g = eagle.Graph()
    while k > 0:
        eagle.copy(np.ones(3), into=x)
        down(k)
    return g


@pytest.mark.parametrize(
    "build", [held_by_global, held_by_name, held_by_an_object, only_read], ids=lambda f: f.__name__
)
def test_an_array_that_was_there_before_is_written_in_a_loop(build: Any) -> None:
    own = SimpleNamespace(parts={"weights": [np.zeros(3)]})
    HELD[...] = 0.0
    x, k = np.zeros(3), cell(3)
    eagle.Graph.builder(build)(x, k, own).launch()
    if build is held_by_global:
        assert [3.0] * 3 == HELD.tolist()
    if build is held_by_an_object:
        assert [3.0] * 3 == own.parts["weights"][0].tolist()
    if build is only_read:
        assert [1.0] * 3 == x.tolist()


def made_in_a_loop(x: Any, k: Any) -> Any:
    g = eagle.Graph()
    for _ in range(k):
        y = np.zeros(3)
        inc(y)
    return g


def made_in_a_branch(x: Any, k: Any) -> Any:
    g = eagle.Graph()
    if k > 0:
        inc(np.zeros_like(HELD))
    return g


def made_for_a_function(x: Any, k: Any) -> Any:
    g = eagle.Graph()
    while k > 0:
        eagle.opaque(lambda y: None, writes=np.zeros(3), name="fill")
    return g


def made_between_loops(x: Any, k: Any) -> Any:
    g = eagle.Graph()
    for _ in range(k):
        y = np.zeros(3)
        while k > 0:
            inc(y)
            down(k)
    return g


def made_in_a_block(x: Any, k: Any) -> Any:
    @eagle.Graph.builder
    def block(g: eagle.Graph, x: Any) -> None:
        y = np.zeros(3)
        inc(y)

    g = eagle.Graph()
    while k > 0:
        block(g, x)
    return g


@pytest.mark.parametrize(
    "build",
    [made_in_a_loop, made_in_a_branch, made_for_a_function, made_between_loops, made_in_a_block],
    ids=lambda f: f.__name__,
)
def test_an_array_that_is_made_where_nobody_knows_how_often_is_not_written(build: Any) -> None:
    with pytest.raises(eagle.GraphError, match="Python would make it anew each time") as error:
        eagle.Graph.builder(build)(np.zeros(3), cell(2))
    assert "G106" == error.value.code


MANY = [[number] for number in range(300)]


def test_so_it_is_however_much_a_builder_can_see(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(MANY) > 100
    monkeypatch.setattr(outside, "MOST", 100)
    with pytest.raises(eagle.GraphError, match="Python would make it anew each time"):
        eagle.Graph.builder(made_in_a_loop)(np.zeros(3), cell(2))


def test_a_block_may_call_itself() -> None:
    @eagle.Graph.builder
    def times(g: eagle.Graph, x: Any, n: int) -> None:
        inc(x)
        if n > 1:
            times(g, x, n - 1)

    graph, x = eagle.Graph(), np.zeros(1)
    times(graph, x, 5)
    graph.launch()
    assert 5.0 == x[0]


def test_what_does_not_fit_has_a_line() -> None:
    def build(x):
        g = eagle.Graph()
        inc(x[:, None])
        return g

    with pytest.raises(eagle.BindError, match=r"^test_builders\.py:\d+: inc: 'x': expected"):
        eagle.Graph.builder(build)(np.zeros(3))


def test_the_variable_of_a_loop_has_its_name() -> None:
    def build(x, k):
        g = eagle.Graph()
        for turn in range(k):
            added(x, turn)
        return g

    assert "reads x, turn; writes x" in str(eagle.Graph.builder(build)(np.zeros(1), cell(3)))


# -- objects ---------------------------------------------------------------------------------------


@dataclass
class Disc:
    mass: Scalar
    radius: Scalar


@dataclass
class Wheel:
    disc: Disc
    speed: Mutable[Scalar]


@hawk.kernel
def spin(wheel: Wheel) -> Scalar:
    wheel.speed += 1.0
    return wheel.disc.mass * wheel.disc.radius * wheel.speed


class Slots:
    __slots__ = ("disc", "speed")

    def __init__(self, disc: Any, speed: Any) -> None:
        self.disc, self.speed = disc, speed


class Pair(NamedTuple):
    mass: Any
    radius: Any


@pytest.mark.parametrize("outer", [Wheel, Slots, lambda d, s: SimpleNamespace(disc=d, speed=s)])
@pytest.mark.parametrize("inner", [Disc, Pair, lambda m, r: SimpleNamespace(mass=m, radius=r)])
def test_an_object_of_any_class_may_hold_planes(outer: Any, inner: Any) -> None:
    @eagle.Graph.builder
    def build(mass, radius, speed):
        g = eagle.Graph()
        twice = spin(wheel=outer(inner(mass, radius), speed))
        g.result = spin(outer(inner(twice, radius), speed))
        return g

    speed = np.array([1.0, 2.0])
    graph = build(np.array([2.0, 3.0]), np.array([5.0, 7.0]), speed)
    assert [2.0 * 5 * 2 * 5 * 3, 3.0 * 7 * 3 * 7 * 4] == graph(1).tolist()
    assert [3.0, 4.0] == speed.tolist()


def test_what_an_object_of_another_class_lacks_is_told() -> None:
    @eagle.Graph.builder
    def build(mass, speed):
        g = eagle.Graph()
        g.result = spin(SimpleNamespace(disc=SimpleNamespace(mass=mass, radios=mass), speed=speed))
        return g

    with pytest.raises(eagle.BindError, match="'wheel.disc.radius': the SimpleNamespace") as no:
        build(np.ones(2), np.ones(2))
    assert "did you mean 'radios'?" in str(no.value)
