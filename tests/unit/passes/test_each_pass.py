"""What each pass is for, shown on small programs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from hawk.ir.builder import Builder
from hawk.ir.interpret import interpret
from hawk.ir.nodes import Apply, Block, Const, Function, If, Loop, Plane, Role, Value, walk
from hawk.ir.types import DType
from hawk.ir.verify import verify
from hawk.passes.common_subexpressions import common_subexpressions
from hawk.passes.dead_code import dead_code
from hawk.passes.flatten import flatten
from hawk.passes.fold_constants import fold_constants
from hawk.passes.lower import lower
from hawk.passes.pipeline import PIPELINE, optimise
from hawk.passes.rates import rates
from hawk.passes.unchanging import unchanging
from hawk.passes.unroll import unroll

F64, I32, BOOL = DType.F64, DType.I32, DType.BOOL


class Program:
    """A function being written: uniform `u`, inputs `x` and `i`, state `s` and `on`."""

    def __init__(self) -> None:
        self.builder = Builder()
        roles = {"u": (Role.UNIFORM, F64), "x": (Role.INPUT, F64), "i": (Role.INPUT, I32)}
        roles |= {"s": (Role.STATE, F64), "on": (Role.STATE, BOOL)}
        self.planes = [
            Plane(name, role, dtype, Value(dtype, name=name))
            for name, (role, dtype) in roles.items()
        ]
        self.u, self.x, self.i, self.s, self.on = (plane.read for plane in self.planes)

    def apply(self, op: str, *args: Value | float, name: str = "") -> Value:
        """An operation; numbers take the type of a value beside them. Nothing is folded."""
        like = next((arg.dtype for arg in args if isinstance(arg, Value)), F64)
        operands = tuple(arg if isinstance(arg, Value) else self.const(arg, like) for arg in args)
        types = [arg.dtype for arg in operands]
        dtype = self.builder.apply(op, *[Value(dtype) for dtype in types]).dtype
        self.builder.items[-1] = Apply(op, operands, Value(dtype, name=name))
        return self.builder.items[-1].result

    def const(self, number: float, dtype: DType = F64) -> Const:
        return self.builder.const(number, dtype)

    def function(self, s: Value, on: Value | None = None) -> Function:
        stores = (("s", s), ("on", on or self.on))
        fn = Function("f", tuple(self.planes), F64, tuple(self.builder.items), stores)
        verify(fn)
        return fn

    def branch(self, test: Value, then, orelse) -> Value:
        """An If of two arms, each a function that gives its value."""
        blocks = []
        for arm in (then, orelse):
            with self.builder.block() as items:
                value = arm()
            blocks.append(Block(tuple(items), (value,)))
        return self.builder.branch(test, *blocks)[0]

    def loop(self, inits: Sequence[Value], test, body) -> tuple[Value, ...]:
        blocks = []
        for write in (test, body):
            params = tuple(Value(init.dtype) for init in inits)
            with self.builder.block() as items:
                yields = write(*params)
            blocks.append(Block(tuple(items), tuple(yields), params))
        return self.builder.loop(inits, *blocks)


def stored(fn: Function) -> Value:
    verify(fn)
    return dict(fn.stores)["s"]


# --- fold_constants ------------------------------------------------------------------------------


def test_operations_on_constants_are_computed_one_after_the_other() -> None:
    p = Program()
    fn = fold_constants(p.function(p.apply("sqrt", p.apply("add", 1.0, 3.0))))
    assert stored(fn).number == 2.0
    assert fn.step == ()


NEUTRAL = {
    "x * 1": lambda p, x: p.apply("mul", x, 1.0),
    "1 * x": lambda p, x: p.apply("mul", 1.0, x),
    "x / 1": lambda p, x: p.apply("div", x, 1.0),
    "x - 0": lambda p, x: p.apply("sub", x, 0.0),
    "x + -0": lambda p, x: p.apply("add", x, -0.0),
    "--x": lambda p, x: p.apply("neg", p.apply("neg", x)),
    "x if c else x": lambda p, x: p.apply("select", p.on, x, x),
    "x if True else u": lambda p, x: p.apply("select", p.const(1, BOOL), x, p.u),
    "u if False else x": lambda p, x: p.apply("select", p.const(0, BOOL), p.u, x),
    "f64(x)": lambda p, x: p.apply("to_f64", x),
}


@pytest.mark.parametrize("case", NEUTRAL)
def test_what_changes_no_bit_is_dropped(case: str) -> None:
    p = Program()
    assert stored(fold_constants(p.function(NEUTRAL[case](p, p.x)))) is p.x


NOT_NEUTRAL = {
    "x + 0 is 0 for -0": lambda p, x: p.apply("add", x, 0.0),
    "x - -0 is 0 for -0": lambda p, x: p.apply("sub", x, -0.0),
    "0 - x is 0 for 0": lambda p, x: p.apply("sub", 0.0, x),
    "x * 0 is NaN for inf": lambda p, x: p.apply("mul", x, 0.0),
    "x - x is NaN for inf": lambda p, x: p.apply("sub", x, x),
    "x / 3 is not x * (1/3)": lambda p, x: p.apply("div", x, 3.0),
}


@pytest.mark.parametrize("case", NOT_NEUTRAL)
def test_what_may_change_a_bit_stays(case: str) -> None:
    p = Program()
    fn = p.function(NOT_NEUTRAL[case](p, p.x))
    assert fold_constants(fn).step == fn.step


BOOLS = {
    "not not": lambda p, x: p.apply("not", p.apply("not", x)),
    "True if x else False": lambda p, x: p.apply("select", x, p.const(1, BOOL), p.const(0, BOOL)),
    "x and True": lambda p, x: p.apply("and", x, p.const(1, BOOL)),
    "False or x": lambda p, x: p.apply("or", p.const(0, BOOL), x),
    "x and x": lambda p, x: p.apply("and", x, x),
    "x xor False": lambda p, x: p.apply("xor", x, p.const(0, BOOL)),
    "x xor True xor True": lambda p, x: p.apply(
        "xor", p.apply("xor", x, p.const(1, BOOL)), p.const(1, BOOL)
    ),
    "bool(x)": lambda p, x: p.apply("to_bool", x),
}


@pytest.mark.parametrize("case", BOOLS)
def test_logic_with_a_known_side_is_dropped(case: str) -> None:
    p = Program()
    fn = fold_constants(p.function(p.s, on=BOOLS[case](p, p.on)))
    assert dict(fn.stores)["on"] is p.on


def test_a_choice_of_bools_becomes_logic() -> None:
    p = Program()
    below = p.apply("lt", p.x, p.s)
    both = p.apply("select", p.on, below, p.const(0, BOOL))
    fn = p.function(p.s, on=p.apply("select", p.on, p.const(1, BOOL), both))
    assert ["lt", "and", "or"] == [item.op for item in fold_constants(fn).step]


@pytest.mark.parametrize(("number", "factor"), [(2.0, 0.5), (-4.0, -0.25), (0.125, 8.0)])
def test_division_by_a_power_of_two_is_a_product(number: float, factor: float) -> None:
    p = Program()
    (item,) = fold_constants(p.function(p.apply("div", p.x, number))).step
    assert ("mul", factor) == (item.op, item.args[1].number)


def test_an_if_whose_test_is_known_is_its_arm() -> None:
    p = Program()
    test = p.apply("lt", 1.0, 2.0)
    value = p.branch(test, lambda: p.apply("neg", p.x), lambda: p.apply("sqrt", p.x))
    assert ["neg"] == [item.op for item in fold_constants(p.function(value)).step]


def test_an_if_whose_arms_agree_is_their_value() -> None:
    p = Program()
    value = p.branch(p.on, lambda: p.x, lambda: p.x)
    fn = dead_code(fold_constants(p.function(value)))
    assert (p.x, ()) == (stored(fn), fn.step)


def test_a_loop_whose_test_is_false_is_its_inits() -> None:
    p = Program()
    (value,) = p.loop([p.x], lambda _: [p.const(0, BOOL)], lambda a: [p.apply("neg", a)])
    fn = fold_constants(p.function(value))
    assert (p.x, ()) == (stored(fn), fn.step)


# --- unchanging, unroll --------------------------------------------------------------------------


def test_a_carried_value_that_does_not_change_is_its_init() -> None:
    p = Program()
    _, end = p.loop(
        [p.x, p.s],
        lambda a, b: [p.apply("lt", b, a)],
        lambda a, b: [a, p.apply("add", b, a)],
    )
    fn = dead_code(unchanging(p.function(end)))
    (loop,) = fn.step
    assert (p.s,) == loop.inits
    assert loop.test.items[0].args[1] is p.x
    assert loop.body.items[0].args[1] is p.x


def counted(p: Program, trips: int, body, start: Value) -> Value:
    """`body(counter, value)` for counters 0, 1 ... below `trips`."""
    _, end = p.loop(
        [p.const(0, I32), start],
        lambda k, _: [p.apply("lt", k, trips)],
        lambda k, value: [p.apply("add", k, 1), body(k, value)],
    )
    return end


@pytest.mark.parametrize("trips", [0, 1, 5, 16])
def test_a_loop_of_few_known_trips_is_written_out(trips: int) -> None:
    p = Program()
    end = counted(p, trips, lambda _, a: p.apply("mul", a, p.x), p.s)
    fn = unroll(p.function(end))
    assert ["mul"] * trips == [item.op for item in dead_code(fn).step]
    stored(fn)


@pytest.mark.parametrize(("trips", "operations"), [(17, 1), (1000, 1), (2, 40)])
def test_a_long_loop_stays(trips: int, operations: int) -> None:
    def body(_: Value, a: Value) -> Value:
        for _ in range(operations):
            a = p.apply("mul", a, p.x)
        return a

    p = Program()
    fn = p.function(counted(p, trips, body, p.s))
    assert unroll(fn).step == fn.step


def test_a_loop_that_ends_by_a_value_of_run_time_stays() -> None:
    p = Program()
    (end,) = p.loop([p.s], lambda a: [p.apply("lt", a, p.x)], lambda a: [p.apply("add", a, a)])
    fn = p.function(end)
    assert unroll(fn).step == fn.step


def test_loops_in_each_other_are_written_out() -> None:
    p = Program()

    def row(k: Value, a: Value) -> Value:
        _, end = p.loop(
            [p.const(0, I32), a],
            lambda j, _: [p.apply("lt", j, k)],
            lambda j, value: [p.apply("add", j, 1), p.apply("mul", value, p.x)],
        )
        return end

    fn = optimise(p.function(counted(p, 4, row, p.s)))
    assert ["mul"] * 6 == [item.op for item in fn.step]


# --- lower, flatten ------------------------------------------------------------------------------


def test_an_operation_without_an_instruction_is_decomposed_at_its_place() -> None:
    p = Program()
    value = p.apply("min", p.x, p.s)
    assert ["lt", "select"] == [item.op for item in lower(p.function(value)).step]


def test_a_short_branch_becomes_selects() -> None:
    p = Program()
    value = p.branch(p.on, lambda: p.apply("neg", p.x), lambda: p.apply("sqrt", p.x))
    assert ["neg", "sqrt", "select"] == [item.op for item in flatten(p.function(value)).step]


def test_branches_in_a_branch_become_selects_while_they_are_short() -> None:
    p = Program()

    def inner() -> Value:
        return p.branch(p.on, lambda: p.apply("neg", p.x), lambda: p.s)

    fn = flatten(p.function(p.branch(p.apply("lt", p.x, p.s), inner, lambda: p.x)))
    assert ["lt", "neg", "select", "select"] == [item.op for item in fn.step]


def costly(p: Program) -> Value:
    value = p.x
    for _ in range(4):
        value = p.apply("sqrt", value)
    return value


def test_a_long_branch_stays() -> None:
    p = Program()
    fn = p.function(p.branch(p.on, lambda: costly(p), lambda: p.x))
    assert flatten(fn).step == fn.step


def test_a_branch_with_a_loop_stays() -> None:
    p = Program()

    def loop() -> Value:
        return p.loop([p.s], lambda a: [p.apply("lt", a, p.x)], lambda _: [p.x])[0]

    fn = p.function(p.branch(p.on, loop, lambda: p.x))
    assert flatten(fn).step == fn.step


# --- common_subexpressions -----------------------------------------------------------------------


def test_the_same_operation_is_computed_once() -> None:
    p = Program()
    first, second = p.apply("mul", p.x, p.s), p.apply("mul", p.s, p.x)
    fn = common_subexpressions(p.function(p.apply("sub", first, second)))
    assert ["mul", "sub"] == [item.op for item in fn.step]


def test_operands_that_may_not_be_swapped_count_in_order() -> None:
    p = Program()
    first, second = p.apply("sub", p.x, p.s), p.apply("sub", p.s, p.x)
    fn = p.function(p.apply("mul", first, second))
    assert common_subexpressions(fn).step == fn.step


def test_constants_are_the_same_if_their_bits_and_types_are() -> None:
    p = Program()
    same = p.apply("add", p.x, 2.0), p.apply("add", p.x, 2.0)
    other = p.apply("add", p.x, 0.0), p.apply("add", p.x, -0.0)
    value = p.apply("mul", p.apply("mul", *same), p.apply("mul", *other))
    fn = common_subexpressions(p.function(value))
    assert ["add", "add", "add", "mul", "mul", "mul"] == sorted(item.op for item in fn.step)


def test_an_arm_sees_what_was_computed_before_it_and_not_the_other_arm() -> None:
    p = Program()
    before = p.apply("sqrt", p.x)

    def arm() -> Value:
        return p.apply("mul", p.apply("sqrt", p.x), p.apply("sqrt", p.s))

    fn = common_subexpressions(p.function(p.apply("add", before, p.branch(p.on, arm, arm))))
    _, branch, _ = fn.step
    for block in (branch.then, branch.orelse):
        assert ["sqrt", "mul"] == [item.op for item in block.items]
        assert block.items[1].args[0] is before


# --- dead_code -----------------------------------------------------------------------------------


def test_what_nothing_needs_is_left_out() -> None:
    p = Program()
    p.apply("sqrt", p.apply("neg", p.x))
    value = p.apply("add", p.x, p.s)
    assert ["add"] == [item.op for item in dead_code(p.function(value)).step]


def test_a_result_of_an_if_that_nothing_needs_is_left_out() -> None:
    p = Program()
    with p.builder.block() as items:
        used, unused = p.apply("neg", p.x), p.apply("sqrt", p.x)
    arms = Block(tuple(items), (used, unused)), Block((), (p.x, p.x))
    value, _ = p.builder.branch(p.on, *arms)
    (branch,) = dead_code(p.function(value)).step
    assert (1, 1, 1) == tuple(
        len(side) for side in (branch.results, branch.then.yields, branch.orelse.yields)
    )
    assert ["neg"] == [item.op for item in branch.then.items]


def test_carried_values_stay_only_if_the_loop_or_a_store_needs_them() -> None:
    p = Program()
    zero = p.const(0, I32)
    end, _, _, _ = p.loop(
        [p.s, zero, p.x, p.x],  # kept, counts for the test, needed by the first, for nothing
        lambda a, k, b, c: [p.apply("lt", k, p.i)],
        lambda a, k, b, c: [
            p.apply("add", a, b),
            p.apply("add", k, 1),
            p.apply("neg", b),
            p.apply("add", c, a),
        ],
    )
    (loop,) = dead_code(p.function(end)).step
    assert (p.s, zero, p.x) == loop.inits
    assert ["add", "add", "neg"] == [item.op for item in loop.body.items]


def test_a_loop_that_nothing_needs_is_left_out_even_if_it_has_no_end() -> None:
    p = Program()
    p.loop([p.s], lambda a: [p.const(1, BOOL)], lambda a: [p.apply("neg", a)])
    assert dead_code(p.function(p.x)).step == ()


# --- rates ---------------------------------------------------------------------------------------


def test_each_thing_is_computed_as_rarely_as_possible() -> None:
    p = Program()
    launch = p.apply("mul", p.u, p.u)
    sample = p.apply("mul", launch, p.x)
    fn = rates(p.function(p.apply("add", sample, p.s)))
    assert [1, 1, 1] == [len(body) for body in (fn.launch, fn.sample, fn.step)]
    stored(fn)


def test_what_a_loop_does_not_change_is_computed_before_it() -> None:
    p = Program()
    (end,) = p.loop(
        [p.s],
        lambda a: [p.apply("lt", a, p.apply("neg", p.s))],
        lambda a: [p.apply("add", a, p.apply("sqrt", p.apply("abs", p.s)))],
    )
    fn = rates(p.function(end))
    assert ["neg", "abs", "sqrt"] == [item.op for item in fn.step[:3]]
    assert [1, 1] == [len(block.items) for block in (fn.step[3].test, fn.step[3].body)]
    stored(fn)


def test_an_arm_keeps_what_can_be_skipped_with_it() -> None:
    p = Program()
    fn = p.function(p.branch(p.on, lambda: p.apply("sqrt", p.s), lambda: p.s))
    (branch,) = rates(fn).step
    assert ["sqrt"] == [item.op for item in branch.then.items]


def test_an_arm_gives_up_what_is_needed_once_a_sample() -> None:
    p = Program()
    fn = rates(p.function(p.branch(p.on, lambda: p.apply("sqrt", p.x), lambda: p.s)))
    assert ["sqrt"] == [item.op for item in fn.sample]
    stored(fn)


def test_a_whole_branch_or_loop_moves_with_its_inside() -> None:
    p = Program()
    test = p.apply("lt", p.u, 1.0)
    branch = p.branch(test, lambda: costly(p), lambda: p.u)
    (loop,) = p.loop([p.u], lambda a: [p.apply("lt", a, 8.0)], lambda a: [p.apply("add", a, a)])
    fn = rates(p.function(p.apply("mul", branch, p.apply("mul", loop, p.s))))
    assert [Apply, Loop] == [type(item) for item in fn.launch]
    (moved,) = fn.sample
    assert ["sqrt"] * 4 == [item.op for item in moved.then.items]
    assert ["mul", "mul"] == [item.op for item in fn.step]
    stored(fn)


def test_a_loop_does_not_leave_an_arm_that_guards_it() -> None:
    p = Program()

    def endless() -> Value:
        return p.loop([p.x], lambda a: [p.apply("lt", a, 8.0)], lambda _: [p.x])[0]

    fn = rates(p.function(p.branch(p.on, endless, lambda: p.s)))
    (branch,) = fn.step
    assert isinstance(branch, If)
    assert any(isinstance(item, Loop) for item in branch.then.items)
    assert interpret(fn, {"x": 1.0, "s": 2.0, "on": False, "u": 0.0, "i": 0})["s"] == 2.0


# --- the pipeline --------------------------------------------------------------------------------


def test_the_watcher_sees_every_pass_in_order() -> None:
    p = Program()
    seen: list[str] = []
    optimise(p.function(p.s), watch=lambda name, _: seen.append(name))
    assert [run.__name__ for run in PIPELINE] == seen


def test_a_sum_of_thousands_of_terms_is_no_matter_of_recursion() -> None:
    p = Program()
    total = p.s
    for _ in range(5000):
        total = p.apply("add", total, p.x)
    fn = optimise(p.function(total))
    assert sum(1 for _ in walk(fn.statements)) == 5000


def test_deep_branches_pass() -> None:
    def chain(depth: int) -> Value:
        if depth == 0:
            return costly(p)
        test = p.apply("lt", p.s, float(depth))
        return p.branch(test, lambda: p.apply("sqrt", p.s), lambda: chain(depth - 1))

    p = Program()
    fn = optimise(p.function(chain(60)))
    verify(fn)
    assert interpret(fn, {"x": 16.0, "s": 0.5, "on": False, "u": 0.0, "i": 0})["s"] == 0.5**0.5
