"""`checks=True`: what is reported of a run, and that a run is the same with and without it."""

import linecache
import math
import pickle
import random
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import eagle
import hawk
from hawk import (
    CheckError,
    CheckWarning,
    HawkError,
    Index,
    Int32,
    Mutable,
    Param,
    Scalar,
    Terminated,
    UInt32,
)  # fmt: skip
from hawk.checks import MOST_LINES
from hawk.frontend.events import SHIFT, Event, plane_name, with_planes
from hawk.frontend.replay import Replay
from hawk.ir.interpret import interpret
from hawk.ir.meaning import RANGE
from hawk.ir.printer import to_text
from hawk.ir.types import DType
from hawk.ir.verify import verify
from hawk.passes.pipeline import optimise
from hawk.reference import run_python
from tests.unit.frontend.random_kernels import Maker, compiled
from tests.unit.hawk.driver import Run, run

X = np.array([0.0, 1.0, 2.0, 3.0])


def failure(kernel, **given) -> CheckError:
    with pytest.raises(CheckError) as error:
        run(kernel, **given)
    return error.value


def told(message: str) -> str:
    """A message without the place of this file."""
    return re.sub(r"\S*test_checks\.py:\d+", "kernel.py:1", message)


def half(x):
    assert x < 30.0, "too large"
    return x / 2


# --- assertions -----------------------------------------------------------------------------------


def test_a_failed_assertion_is_told_with_sample_step_values_place_and_carets() -> None:
    @hawk.kernel(checks=True)
    def step(x: Mutable[Scalar], v: Scalar):
        x = x + v
        assert x < 10.0, "too far"

    error = failure(step, x=X, v=np.array([1.0, 2.0, 0.0, 2.0]), steps=6)
    assert told(str(error)) == (
        "kernel.py:1: sample 3 failed at step 4: too far (x = 11.0) [H601]\n"
        '    assert x < 10.0, "too far"\n'
        "           ^^^^^^^^\n"
        "  also sample 1 at step 5"
    )
    (finding,) = error.findings
    assert (finding.sample, finding.step, finding.samples) == (3, 4, 2)
    assert isinstance(error, AssertionError)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.findings) == (str(error), error.findings)


def test_without_a_text_the_condition_is_told_and_texts_may_hold_numbers() -> None:
    @hawk.kernel(checks=True)
    def step(x: Mutable[Scalar], limit: Param):
        x = x + 1
        assert x <= limit
        assert x < 100, f"{x:.1f} is too large"

    assert "step 1: x <= limit (x = 4.0, limit = 3.0) [H601]" in str(failure(step, x=X, limit=3.0))
    error = failure(step, x=X + 98, limit=1e9, steps=9)
    assert "sample 3 failed at step 1: 102.0 is too large (x = 102.0)" not in str(error)
    assert "sample 2 failed at step 1: 101.0 is too large (x = 101.0)" not in str(error)
    assert "sample 1 failed at step 1: 100.0 is too large (x = 100.0)" in str(error)


def test_a_failure_in_a_helper_has_the_chain_of_calls() -> None:
    @hawk.kernel(checks=True)
    def step(x: Mutable[Scalar]):
        x = half(x) * 4

    assert told(str(failure(step, x=X, steps=9))) == (
        "kernel.py:1: sample 2 failed at step 5: too large (x = 32.0) [H601]\n"
        '    assert x < 30.0, "too large"\n'
        "           ^^^^^^^^\n"
        "  in `half`, called from kernel.py:1\n"
        "    x = half(x) * 4\n"
        "        ^^^^^^^\n"
        "  also sample 3 at step 5, sample 1 at step 6"
    )


@hawk.kernel
def inner(y: Mutable[Scalar]):
    y = y + 1
    assert y != 4.0


def everywhere(x, i):
    """Assertions where control flow hides them."""
    if x > 1:
        assert x != 2.0, "arm"
    elif x < 0:
        assert not i < 99, "known"
    for k in range(3):
        if k == i:
            continue
        assert k + x != 7.0, "loop"
        if x > 5:
            break
    else:
        assert x != 4.5, "else"
    y = x
    while y > 8 and half(y) > 8:
        y = y - 1
    inner(x - 5)
    z = half(x) if x > 20 else 0.0
    match i:
        case 4:
            assert x != 1.0, "case"
        case _:
            pass
    if x == 3.5:
        return z
    assert not (x < 0.5 and (x - 1 < half(x * 1e9))), "and"
    return y + z


@hawk.kernel(checks=True)
def maze(x: Mutable[Scalar], i: Index):
    x = everywhere(x, i)


FAILS = [
    ((2.0, 0), "arm"), ((-1.0, 0), "known"), ((6.0, 0), "loop"), ((4.5, 9), "else"),
    ((60.0, 0), "too large"), ((8.0, 0), "y != 4.0"), ((1.0, 4), "case"), ((0.25, 0), "too large"),
]  # fmt: skip
HOLDS = [(3.5, 0), (1.0, 3), (7.0, 0), (5.5, 9), (4.0, 1)]


@pytest.mark.parametrize(("values", "says"), FAILS)
def test_an_assertion_is_found_wherever_it_stands(values, says) -> None:
    x, i = values
    error = failure(maze, x=np.array([4.0, x]), i=np.array([1, i]))
    assert f"sample 1 failed at step 1: {says}" in str(error)
    with pytest.raises(AssertionError, match=None if "!=" in says else says):
        run_python(maze, x, i)


@pytest.mark.parametrize(("x", "i"), HOLDS)
def test_what_does_not_run_does_not_fail(x: float, i: int) -> None:
    run(maze, x=np.array([x]), i=np.array([i]))
    run_python(maze, x, i)


def test_a_sample_that_is_done_does_not_fail() -> None:
    @hawk.kernel(checks=True)
    def step(x: Mutable[Scalar], stop: Terminated):
        x = x + 1
        stop = x >= 5
        assert x < 6

    run(step, x=X, steps=50)
    run(step, x=X + 10, stop=True, steps=50)
    error = failure(step, x=X + 3, steps=50)
    assert [(2, 1, 2)] == [(f.sample, f.step, f.samples) for f in error.findings]


def test_the_first_failure_of_each_sample_counts_and_places_are_told_apart() -> None:
    @hawk.kernel(checks=True)
    def step(x: Mutable[Scalar]):
        x = x + 1
        assert x < 6, "first"
        assert x != 3, "second"

    error = failure(step, x=np.arange(20.0), steps=10)
    assert [("second", 2, 1, 3), ("first", 5, 1, 17)] == [
        (
            str(f.message).partition(": ")[2].split(": ")[1].split(" (")[0],
            f.sample,
            f.step,
            f.samples,
        )
        for f in error.findings
    ]
    assert "also sample 6 at step 1, sample 7 at step 1, sample 8 at step 1, " in str(error)
    assert " and 11 more" in str(error)


def test_a_late_failure_is_found_at_once() -> None:
    @hawk.kernel(checks=True)
    def step(x: Mutable[Scalar]):
        x = x + 1
        assert x != 1_000_000.0

    error = failure(step, x=X, steps=1_000_001)
    assert "sample 3 failed at step 999,997: x != 1_000_000.0 (x = 1000000.0)" in str(error)


def test_steps_are_counted_over_launches_and_each_tells_its_own() -> None:
    @hawk.kernel(checks=True)
    def step(x: Mutable[Scalar]):
        x = x + 1
        assert x not in (5.0, 15.0)

    made = Run(step, x=np.array([0.0]))
    made.launch(4)
    with pytest.raises(CheckError, match=r"step 5: .*x = 5\.0"):
        made.launch(4)
    made.launch(4)
    with pytest.raises(CheckError, match=r"step 15: .*x = 15\.0"):
        made.launch(4)
    assert made["x"].tolist() == [16.0]


def test_float32_numbers_are_short() -> None:
    @hawk.kernel(checks=True)
    def step(x: Mutable[Scalar]):
        x = x + 0.1
        assert x < 0.1 or x > 0.2

    assert "(x = 0.1)" in str(failure(step, x=np.zeros(1, np.float32), real=DType.F32))


def test_an_error_in_a_text_does_not_hide_the_failure() -> None:
    @hawk.kernel(checks=True)
    def step(x: Mutable[Scalar]):
        assert x > 1, f"{x:nonsense}"

    assert "sample 0 failed at step 1: x > 1" in str(failure(step, x=X))


def test_a_check_in_the_test_of_a_while_with_else_is_made() -> None:
    @hawk.kernel(checks=True)
    def step(x: Mutable[Scalar]):
        while half(x) > 1:
            x = x - 1
        else:
            assert x != 2, "else"

    assert "sample 1 failed at step 1: too large" in str(failure(step, x=np.array([1.0, 40.0])))
    assert "sample 0 failed at step 1: else" in str(failure(step, x=np.array([4.0, 1.5])))


# --- NaN ------------------------------------------------------------------------------------------


def test_a_number_that_becomes_nan_is_told_with_what_made_it() -> None:
    @hawk.kernel(checks=True)
    def step(x: Mutable[Scalar], v: Mutable[Scalar]):
        r = math.sqrt(1.0 - x * x)
        v = v - 0.25 * x / r
        x = x + v

    with pytest.warns(CheckWarning) as caught:
        run(step, x=np.array([0.0, 0.5, np.nan]), v=np.array([0.0, 1.5, np.nan]), steps=20)
    assert told(str(caught[0].message)) == (
        "kernel.py:1: sample 1 became NaN at step 2, first in `v` (x = 1.8556624327025935) [H602]\n"
        "    r = math.sqrt(1.0 - x * x)\n"
        "        ^^^^^^^^^^^^^^^^^^^^^^"
    )


def test_a_number_that_was_given_as_nan_is_told_where_it_is_used() -> None:
    @hawk.kernel(checks=True)
    def step(x: Mutable[Scalar], a: Param, b: Param):
        c = a + 1
        x = x * 2 + b * c

    with pytest.warns(CheckWarning) as caught:
        run(step, x=X, a=1.0, b=math.nan)
    assert "first in `x` (x = 0.0, b = nan, c = 2.0) [H602]" in str(caught[0].message)


def test_the_one_that_is_first_in_the_text_is_named() -> None:
    @hawk.kernel(checks=True)
    def step(x: Mutable[Scalar], v: Mutable[Scalar], a: Scalar):
        v = v + a
        x = x + v

    with pytest.warns(
        CheckWarning, match=r"sample 1 became NaN at step 1, first in `v` \(v = 1.0, a = nan\)"
    ):
        run(step, x=X, v=X, a=np.array([0.0, np.nan, 0.0, 0.0]), steps=3)


def test_nan_that_is_there_or_chosen_away_is_no_news() -> None:
    @hawk.kernel(checks=True)
    def step(x: Mutable[Scalar], y: Mutable[Scalar]) -> Scalar:
        x = x + 1
        y = np.where(y > 0, np.sqrt(y), 0.0)
        return y

    run(step, x=np.array([np.nan, 1.0]), y=np.array([-1.0, 1.0]))


def test_nan_that_is_returned_or_written_is_told() -> None:
    @hawk.kernel(checks=True)
    def step(x: Scalar, y: Mutable[Scalar]) -> Scalar:
        if x > 2:
            y = math.nan
        return (x - x) / (x - x)

    with pytest.warns(CheckWarning) as caught:
        run(step, x=X, y=X)
    assert "sample 0 became NaN at step 1, first in `out` (x = 0.0)" in str(caught[0].message)
    assert "sample 3 became NaN at step 1, first in `y` [H602]" in str(caught[0].message)


# --- lost numbers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("real", [DType.F64, DType.F32])
@pytest.mark.parametrize(
    ("convert", "dtype"),
    [(hawk.int32, DType.I32), (hawk.uint32, DType.U32), (hawk.index, DType.I64)],
)
def test_a_conversion_is_told_exactly_where_the_number_does_not_fit(convert, dtype, real) -> None:
    annotation = {DType.I32: Int32, DType.U32: UInt32, DType.I64: Index}[dtype]

    def step(x: Scalar, k: Mutable[annotation]):
        k = convert(x)

    kernel = hawk.kernel(checks=True)(step)
    float_type = np.dtype(real.numpy).type
    edges = [float_type(edge) for edge in (*RANGE[dtype], RANGE[dtype][1] + 1, 0)]
    near = [edge + d for edge in edges for d in (-1, -0.5, 0, 0.5, 1)]
    near += [np.nextafter(e, float_type(way)) for e in edges for way in (-np.inf, np.inf)]
    x = np.array([*near, np.nan, np.inf, -np.inf, 1e30, -1e30], real.numpy)
    made = Run(kernel, x=x, real=real)
    with pytest.warns(CheckWarning, match="H603"):
        made.launch()
    least, greatest = RANGE[dtype]
    with np.errstate(invalid="ignore"):
        whole = [int(v) if np.isfinite(v) else None for v in x.tolist()]
    lost = [v is None or not least <= v <= greatest for v in whole]
    events = kernel.program.trace(real, frozenset()).events
    fn = with_planes(kernel.trace(real), events)
    name = plane_name(Event.LOST)
    for value, is_lost in zip(x.tolist(), lost, strict=True):
        values = {"x": value, "k": 0, "check steps": 0, plane_name(Event.LOST): 0}
        assert is_lost == (interpret(fn, values)[name] != 0), value


def test_lost_numbers_are_told_with_what_became_of_them() -> None:
    @hawk.kernel(checks=True)
    def step(x: Scalar, i: Index, k: Mutable[Index], m: Mutable[Index]):
        k = int(x * 1e19) if x > 1 else int(x)
        m = m // i + m % 3

    with pytest.warns(CheckWarning) as caught:
        run(step, x=X, i=np.array([1, 2, 0, 3]), m=np.full(4, 7))
    text = told(str(caught[0].message))
    assert "sample 2 lost a number at step 1: 2e+19 as an Index gives 9223372036854775807" in text
    assert "    k = int(x * 1e19) if x > 1 else int(x)\n        ^^^^^^^^^^^^^\n" in text
    with pytest.warns(CheckWarning, match=r"step 1: a division by 0 gives 0 \(m = 7, i = 0\)"):
        run(step, x=np.zeros(1), i=np.zeros(1, int), m=np.full(1, 7))


# --- prints ---------------------------------------------------------------------------------------


def test_prints_are_shown_in_the_order_of_steps_and_samples(capsys) -> None:
    @hawk.kernel(checks=True)
    def step(x: Mutable[Scalar], stop: Terminated):
        x = x * 2 + 1
        if x > 5:
            print(f"x is {x:.1f}", stop)
        stop = x > 20

    run(step, x=X, steps=9)
    assert capsys.readouterr().out.splitlines() == [
        "sample 3, step 1: x is 7.0 False",
        "sample 1, step 2: x is 7.0 False",
        "sample 2, step 2: x is 11.0 False",
        "sample 3, step 2: x is 15.0 False",
        "sample 0, step 3: x is 7.0 False",
        "sample 1, step 3: x is 15.0 False",
        "sample 2, step 3: x is 23.0 False",
        "sample 3, step 3: x is 31.0 False",
        "sample 0, step 4: x is 15.0 False",
        "sample 1, step 4: x is 31.0 False",
        "sample 0, step 5: x is 31.0 False",
    ]


def test_debug_shows_names_where_it_is_asked_to(capsys) -> None:
    @hawk.kernel(checks=True)
    def step(x: Mutable[Scalar], v: Param):
        x = x + v
        hawk.debug(x, v * 2, where=x > 4)

    run(step, x=X, v=0.75, steps=2)
    out = re.sub(r"test_checks.py:\d+", "kernel.py:1", capsys.readouterr().out)
    assert out == "sample 3, step 2: kernel.py:1: x = 4.5, v * 2 = 1.5\n"
    run_python(step, 4.0, 0.75)
    step.__wrapped__(5.0, 0.75)
    hawk.debug(X[1], where=False)
    out = re.sub(r"test_checks.py:\d+", "kernel.py:1", capsys.readouterr().out)
    assert out == "kernel.py:1: x = 4.75, v * 2 = 1.5\nkernel.py:1: x = 5.75, v * 2 = 1.5\n"


def test_much_is_printed_in_part_and_it_says_so(capsys) -> None:
    @hawk.kernel(checks=True)
    def step(x: Mutable[Scalar]):
        x = x + 1
        print(x)

    run(step, x=np.arange(100.0), steps=50)
    *lines, more, samples = capsys.readouterr().out.splitlines()
    assert len(lines) == MOST_LINES
    assert lines[-1] == "sample 9, step 10: 19.0"
    assert more == "... these are the first 100 lines"
    assert samples == "... 90 more samples printed; these are the first"


def test_a_rare_print_of_a_long_run_is_found(capsys) -> None:
    @hawk.kernel(checks=True)
    def step(x: Mutable[Index]):
        x = x + 1
        if x % 30_000 == 0:
            print("at", x)
            assert x < 0, "prints do not mind assertions"
            print("after")

    with pytest.raises(CheckError):
        run(step, x=np.array([0]), steps=100_000)
    assert capsys.readouterr().out.splitlines() == [
        f"sample 0, step {n:,}: {text}"
        for n in (30000, 60000, 90000)
        for text in (f"at {n}", "after")
    ]


# --- with and without -----------------------------------------------------------------------------


def checked_and_not(x: Mutable[Scalar], y: Mutable[Scalar], i: Index, stop: Terminated) -> Scalar:
    assert x < 1e9
    for k in range(i):
        assert k < 100, "long"
        y = y * 0.5 + k if x > 1 and y < half(x) else y + x
        print(y)
    while x > 3 and y > 0:
        x, y = x / 2, y - 1
    hawk.debug(x)
    stop = y > 40
    return x * y + int(x) // 2


def test_off_by_default_and_then_free() -> None:
    def plain(x: Mutable[Scalar], y: Mutable[Scalar], i: Index, stop: Terminated) -> Scalar:
        for k in range(i):
            y = y * 0.5 + k if x > 1 and y < half(x) else y + x
        while x > 3 and y > 0:
            x, y = x / 2, y - 1
        stop = y > 40
        return x * y + int(x) // 2

    def text(function) -> str:
        kernel = hawk.kernel(function)
        assert not kernel.checks
        fn = kernel.trace(DType.F64)
        return to_text(fn, locations=False, names=False).partition("\n")[2]

    assert text(plain) == text(checked_and_not)
    assert run(hawk.kernel(checked_and_not), x=X, i=np.arange(4), steps=5)["y"].shape == (4,)


@pytest.mark.parametrize("real", [DType.F64, DType.F32])
def test_the_results_are_the_same_with_and_without(real, capsys) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=100) * 5, rng.normal(size=100) * 5
    i = rng.integers(-1, 6, 100)
    with_, without = (
        Run(hawk.kernel(checks=checks)(checked_and_not), x=x, y=y, i=i, real=real)
        for checks in (True, False)
    )
    for made in (with_, without):
        made.launch(7)
    for name in ("x", "y", "stop", "out"):
        assert with_[name].tobytes() == without[name].tobytes()
    assert "sample" in capsys.readouterr().out


def with_assertions(seed: int) -> str:
    """A random kernel with assertions put anywhere."""
    source = random.Random(seed)
    lines: list[str] = []
    helper = True
    for line in Maker(seed).text().splitlines():
        lines.append(line)
        helper = helper and not line.startswith("def step")
        indent = line[: len(line) - len(line.lstrip())]
        if not helper and re.match(r" +\w+ [-+*]?= ", line) and source.random() < 0.3:
            test = source.choice(["x > 0.5", "i != 1", "y < 1.0", "b", "j != 3", "c < 70000"])
            lines.append(f"{indent}assert {test}, 'line {len(lines) + 1}'")
    return "\n".join(lines) + "\n"


def names() -> dict:
    known = {name: getattr(hawk, name) for name in hawk.__all__}
    return {**known, "hawk": hawk, "math": math, "np": np}


def failure_under_cpython(kernel, given) -> str:
    try:
        run_python(kernel, **given)
    except AssertionError as error:
        return str(error)
    return ""


def test_random_kernels_fail_where_they_fail_under_cpython(programs: int) -> None:
    x = [-2.5, 0.3, 1.0, 7.75]
    failed = held = 0
    for seed in range(max(60, programs // 4)):
        kernel = hawk.kernel(checks=True)(compiled(with_assertions(seed), seed + 10**6, names()))
        try:
            traced = kernel.program.trace(DType.F64, frozenset())
        except HawkError:
            continue
        fn = with_planes(traced.function, traced.events)
        verify(fn)
        fn = optimise(fn)
        verify(fn)
        if Event.FAILED not in (traced.events.first or {}):
            continue
        looking = Replay(kernel, DType.F64)
        for k, number in enumerate(x):
            given = {
                "x": number,
                "i": k - 1,
                "b": k > 1,
                "p": 1.3,
                "y": number * 0.7,
                "j": k,
                "c": k * 70001,
            }
            extra = {p.name: 0 for p in fn.planes if p.name.startswith("check")}
            event = interpret(fn, {**given, **extra})[plane_name(Event.FAILED)]
            says = ""
            if event:
                site = traced.events.sites[event % SHIFT - 1]
                says = f"line {site.loc.line}"
                seen, _ = looking.step(given, site)
                assert seen is not None
                assert says == seen.text
            assert says == failure_under_cpython(kernel, given), "".join(kernel.source.lines)
            failed, held = failed + bool(event), held + (not event)
    assert min(failed, held) > 15


def test_a_trace_function_of_a_debugger_is_left_alone() -> None:
    before = sys.gettrace()

    @hawk.kernel(checks=True)
    def step(x: Mutable[Scalar]):
        assert x < 0

    failure(step, x=X)
    assert sys.gettrace() is before


def test_warnings_point_at_who_ran_it() -> None:
    @hawk.kernel(checks=True)
    def step(x: Mutable[Scalar]):
        x = x / x

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run(step, x=np.zeros(1))
    assert caught[0].filename.endswith("driver.py")


def test_the_page_tells_what_really_happens() -> None:
    page = (Path(__file__).parents[3] / "docs" / "checks.md").read_text(encoding="utf-8")
    kernel, call = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    text = re.findall(r"```text\n(.*?)```", page, re.DOTALL)[0]
    linecache.cache["orbit.py"] = (len(kernel), None, kernel.splitlines(keepends=True), "orbit.py")
    namespace = names()
    exec(compile(kernel, "orbit.py", "exec"), namespace)
    with pytest.raises(CheckError) as error:
        exec(call, namespace)
    assert f"CheckError: {error.value}\n" == text


# --- through eagle --------------------------------------------------------------------------------


@hawk.kernel(steps="auto", checks=True)
def decay(x: Mutable[Scalar], rate: Scalar, stop: Terminated):
    assert x < 5.0, "grows"
    x -= rate * x
    stop = x < 0.1


def test_every_way_to_run_tells_the_same() -> None:
    x, rate = np.array([1.0, 2.0, 1.5]), np.array([0.5, -0.25, 0.5])
    says = r"sample 1 failed at step 6: grows \(x = 6\.1"
    with pytest.raises(CheckError, match=says):
        eagle.simulate(decay, max_steps=20, x=x.copy(), rate=rate)
    with pytest.raises(CheckError, match=says):
        eagle.run_until_done(decay, max_steps=20, x=x.copy(), rate=rate)
    bound = eagle.deploy(decay).bind(x=x.copy(), rate=rate)
    bound.launch(4)
    with pytest.raises(CheckError, match=says):
        bound.launch(4)
    with pytest.raises(CheckError, match=r"sample 0 failed at step 1: grows \(x = 9\.0"):
        decay(9.0, 0.5)


def test_a_run_shows_no_planes_of_hawk() -> None:
    x = np.array([1.0, 2.0])
    simulation = eagle.simulation(decay, max_steps=20, x=x, rate=np.array([0.5, 0.25]))
    result = simulation.run()
    assert ["x"] == list(result.planes)
    assert () == result.allocated
    assert result.x is x
    simulation.reset()
    assert x.tolist() == [1.0, 2.0]
    assert simulation.run().done


def test_threads_and_many_samples(capsys) -> None:
    n = 100_000
    with pytest.raises(CheckError) as error:
        eagle.simulate(decay, max_steps=50, x=np.full(n, 2.0), rate=np.linspace(0.5, -0.05, n))
    (finding,) = error.value.findings
    assert n // 10 > finding.samples > n // 20
    assert finding.step == 20
    assert n > finding.sample > n - 200


def test_a_kernel_with_checks_keeps_them() -> None:
    assert pickle.loads(pickle.dumps(decay)).checks
    assert hawk.steps(decay, 4).checks
    assert decay.step.checks


def test_a_kernel_with_a_table_prints(capsys: pytest.CaptureFixture[str]) -> None:
    @hawk.kernel(checks=True)
    def step(t: hawk.Table["r":2, "c":2], x: Mutable[Scalar]):  # noqa: F821, UP037
        x += t.at(r=0, c=1)
        print("x is", x)

    step(np.ones((2, 2)), np.zeros(1))
    assert capsys.readouterr().out == "sample 0, step 1: x is 1.0\n"
