"""The two slow ways to run a kernel: arguments, steps, masks, prints and tracebacks."""

import bdb
import inspect
import re
import traceback

import numpy as np
import pytest

import hawk
from eagle import samples_first
from hawk import Grid, Index, Mutable, Param, Scalar, Terminated, Vector
from hawk.reference import interpret, run_python


@hawk.kernel
def grow(x: Mutable[Scalar], count: Mutable[Index], rate: Param, stop: Terminated) -> Scalar:
    x *= rate
    count += 1
    stop = x > 10
    return x + 1


WAYS = [interpret, run_python]


@pytest.mark.parametrize("run", WAYS)
def test_each_sample_stops_at_its_own_step(run) -> None:
    x, count = np.array([1.0, 6.0, 20.0]), np.zeros(3, int)
    result = run(grow, x, count, 2.0, steps=100)
    assert result["count"].tolist() == [4, 1, 1]
    assert result["x"].tolist() == [16.0, 12.0, 40.0]
    assert result["out"].tolist() == [17.0, 13.0, 41.0]
    assert result["stop"].tolist() == [True] * 3
    assert list(result) == ["x", "count", "stop", "out"]
    assert x.tolist() == [1.0, 6.0, 20.0]
    assert count.tolist() == [0, 0, 0]


@pytest.mark.parametrize("run", WAYS)
def test_a_sample_done_on_entry_is_left_alone(run) -> None:
    result = run(grow, np.array([1.0, 1.0]), 0, rate=3.0, stop=np.array([True, False]))
    assert result["x"].tolist() == [1.0, 3.0]
    assert result["out"].tolist() == [0.0, 4.0]
    assert result["count"].tolist() == [0, 1]


@pytest.mark.parametrize("run", WAYS)
def test_the_float_width_is_that_of_the_arrays(run) -> None:
    result = run(grow, np.ones(2, np.float32), 0, 0.1)
    assert result["x"].dtype == np.float32
    assert result["x"][0] == np.float32(0.1)
    assert run(grow, 1.0, 0, 0.1)["x"].dtype == np.float64

    @hawk.kernel
    def add(x: Scalar, y: Scalar) -> Scalar:
        return x + y

    with pytest.raises(TypeError, match="different widths"):
        run(add, np.ones(2, np.float32), np.ones(2))
    narrow = hawk.kernel(dtype="float32")(add.__wrapped__)
    assert run(narrow, np.ones(2), 0.1)["out"].dtype == np.float32


@pytest.mark.parametrize("run", WAYS)
@pytest.mark.parametrize(
    ("args", "planes", "says"),
    [
        ((1.0, 0, 2.0, False, 9), {}, "takes 4 planes, got 5"),
        ((1.0, 0), {}, "needs 'rate'"),
        ((1.0, 0), {"rates": 1.0}, "no plane 'rates'; rate?"),
        ((1.0, 0), {"x": 1.0}, "gets 'x' twice"),
        ((np.ones(2), np.zeros(3, int), 1.0), {}, "different lengths"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(run, args, planes, says) -> None:
    with pytest.raises(TypeError, match=says):
        run(grow, *args, **planes)


def test_prints_show_and_asserts_hold_under_python(capsys) -> None:
    @hawk.kernel
    def shown(x: Scalar) -> Scalar:
        print(f"x is {x:.2f}", x > 1, x)
        assert x < 3, f"{x} is too large"
        return x

    run_python(shown, np.array([1.5, 0.5]))
    assert capsys.readouterr().out == "x is 1.50 True 1.5\nx is 0.50 False 0.5\n"
    with pytest.raises(AssertionError, match="3.5 is too large"):
        run_python(shown, 3.5)
    assert interpret(shown, 3.5)["out"].tolist() == [3.5]


def helper(x):
    return 1 / (x - x.missing)


def test_a_traceback_shows_the_lines_of_the_user() -> None:
    @hawk.kernel
    def broken(x: Scalar) -> Scalar:
        y = x + 1
        return helper(y)

    with pytest.raises(AttributeError) as error:
        run_python(broken, 1.0)
    text = "".join(traceback.format_exception(error.value))
    assert "return helper(y)" in text
    assert "return 1 / (x - x.missing)" in text


def test_a_choice_may_stand_wherever_an_expression_may() -> None:
    @hawk.kernel
    def step(x: Scalar, y: Scalar) -> tuple[Scalar, Scalar]:
        a = sum([z * 2 for z in (x if x > y else y, 1.0 if x > 1 and y > 1 else 0.0)])

        def added(z, w=x if x > 2 else y):
            return z + w

        b = added(x if (y if x > 0 else x) > 0 else 0.5)
        return a, b

    x, y = np.array([-1.0, 0.5, 3.0]), np.array([2.0, -4.0, 1.5])
    ours, theirs = interpret(step, x, y), run_python(step, x, y)
    assert {name: array.tolist() for name, array in ours.items()} == {
        name: array.tolist() for name, array in theirs.items()
    }


class Stops(bdb.Bdb):
    """A debugger that notes what a local name holds wherever it stops."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.seen: list[float] = []

    def user_line(self, frame) -> None:
        if self.break_here(frame):
            self.seen.append(frame.f_locals[self.name].number)
        self.set_continue()


def newton(a):
    root = a
    for _ in range(3):
        root = 0.5 * (root + a / root)  # a breakpoint is set here
    return root


def test_a_debugger_stops_in_the_users_file_and_the_bits_are_the_same() -> None:
    @hawk.kernel
    def step(a: Scalar) -> Scalar:
        return newton(a) * a + 1.0

    a = np.array([2.0, 3.0])
    debugger = Stops("root")
    lines, first = inspect.getsourcelines(newton)
    place = first + next(i for i, line in enumerate(lines) if "a breakpoint" in line)
    assert debugger.set_break(__file__, place) is None
    under_it = debugger.runcall(run_python, step, a)
    debugger.clear_all_breaks()
    assert under_it is not None
    assert debugger.seen == [2.0, 1.5, 1.4166666666666665, 3.0, 2.0, 1.75]
    for run in WAYS:
        assert under_it["out"].tobytes() == run(step, a)["out"].tobytes()


def test_what_does_not_fit_is_told_with_its_place_and_what_to_write() -> None:
    @hawk.kernel
    def step(u: Grid["r", "c"]) -> Scalar:
        return u.at(c=0)

    with pytest.raises(TypeError) as no:
        run_python(step, np.zeros((2, 3)))
    place, what, fix = re.split(r": |\n", str(no.value), maxsplit=2)
    assert re.fullmatch(r"test_reference\.py:\d+", place)
    assert "`u.at` needs an index for `r` [H215]" == what
    assert "  write: u.at(r=..., c=...)" == fix


@pytest.mark.parametrize("run", [interpret, run_python])
def test_samples_that_come_first_are_told_to_come_last(run) -> None:
    @hawk.kernel
    def first(v: Vector[3]) -> Scalar:
        return v[0]

    v = np.zeros((7, 3))
    assert 7 == run(first, v.T)["out"].size
    with pytest.raises(TypeError, match=r"whose samples are first; .* last: write v\.T$"):
        run(first, v)
    with pytest.raises(TypeError, match=r"last here, without layout=: write v\.T"):
        run(first, v, layout="samples_first")
    with pytest.raises(TypeError, match=r"not as eagle\.samples_first\(.*: write v\.T"):
        run(first, samples_first(v))
