"""Programs written statement by statement, for tests of the targets without the frontend."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from hawk.ir.builder import Builder
from hawk.ir.nodes import Block, Function, Number, Plane, Role, Value
from hawk.ir.types import DType
from hawk.ir.verify import verify

BOOL, I32, U32, I64, F32, F64 = DType
REALS = (F64, F32)

Inside = Callable[..., Sequence[Value]]


@dataclass
class Draft:
    """A function being written."""

    name: str
    real: DType = F64
    builder: Builder = field(default_factory=Builder)
    planes: list[Plane] = field(default_factory=list[Plane])
    ends: dict[str, Value] = field(default_factory=dict[str, Value])

    def plane(self, name: str, role: Role, dtype: DType) -> Value:
        read = self.builder.param(dtype, name=name)
        self.planes.append(Plane(name, role, dtype, read))
        return read

    def input(self, name: str, dtype: DType | None = None) -> Value:
        return self.plane(name, Role.INPUT, dtype or self.real)

    def uniform(self, name: str, dtype: DType | None = None) -> Value:
        return self.plane(name, Role.UNIFORM, dtype or self.real)

    def state(self, name: str, dtype: DType | None = None) -> Value:
        """A state; stored as it was unless `store` says otherwise."""
        self.ends[name] = self.plane(name, Role.STATE, dtype or self.real)
        return self.ends[name]

    def output(self, name: str, value: Value) -> None:
        self.planes.append(Plane(name, Role.OUTPUT, value.dtype))
        self.ends[name] = value

    def stop(self, value: Value | bool) -> None:
        self.planes.append(Plane("terminated", Role.MASK, BOOL))
        self.ends["terminated"] = self.const(value, BOOL) if isinstance(value, bool) else value

    def store(self, **ends: Value) -> None:
        self.ends.update(ends)

    def const(self, number: Number, dtype: DType | None = None) -> Value:
        return self.builder.const(number, dtype or self.real)

    def __call__(self, op: str, *args: Value | Number) -> Value:
        """One operation; a plain number takes the type of the first value."""
        like = next(
            arg
            for arg in args
            if isinstance(arg, Value) and arg.dtype is not BOOL or isinstance(arg, Value)
        )
        if op == "select":
            like = next(arg for arg in args[1:] if isinstance(arg, Value))
        values = [arg if isinstance(arg, Value) else self.const(arg, like.dtype) for arg in args]
        return self.builder.apply(op, *values)

    def choose(self, test: Value, then: Inside, orelse: Inside) -> tuple[Value, ...]:
        blocks: list[Block] = []
        for side in (then, orelse):
            with self.builder.block() as items:
                ends = tuple(side())
            blocks.append(Block(tuple(items), ends))
        return self.builder.branch(test, *blocks)

    def loop(self, inits: Sequence[Value], test: Inside, body: Inside) -> tuple[Value, ...]:
        """`test` gives one bool in a tuple."""
        blocks: list[Block] = []
        for side in (test, body):
            params = tuple(self.builder.param(init.dtype) for init in inits)
            with self.builder.block() as items:
                ends = tuple(side(*params))
            blocks.append(Block(tuple(items), ends, params))
        return self.builder.loop(inits, *blocks)

    def function(self) -> Function:
        stored = [plane for plane in self.planes if plane.name in self.ends]
        stores = tuple((plane.name, self.ends[plane.name]) for plane in stored)
        fn = Function(self.name, tuple(self.planes), self.real, tuple(self.builder.items), stores)
        verify(fn)
        return fn


def oscillator(real: DType, *, own_end: bool = False) -> Function:
    """Swing until `t_end`: the kernel whose speed is measured."""
    d = Draft("oscillator", real)
    omega = d.input("omega")
    t_end = d.input("t_end") if own_end else d.uniform("t_end")
    dt = d.uniform("dt")
    x, v, t = d.state("x"), d.state("v"), d.state("t")
    t_next = d("add", t, dt)
    pull = d("mul", d("mul", dt, omega), omega)
    d.store(x=d("fma", dt, v, x), v=d("fma", d("neg", pull), x, v), t=t_next)
    d.stop(d("ge", t_next, t_end))
    return d.function()


def counter(real: DType) -> Function:
    """Integers only: count to a limit of one's own."""
    d = Draft("counter", real)
    limit = d.input("limit", I32)
    k, total = d.state("k", I32), d.state("total", I32)
    k_next = d("add", k, 1)
    d.store(k=k_next, total=d("add", d("mul", total, 3), k_next))
    d.stop(d("ge", k_next, limit))
    return d.function()


def unsigned(real: DType) -> Function:
    """A generator of random numbers in u32, with wide integers beside it."""
    d = Draft("unsigned", real)
    s, wide = d.state("s", U32), d.state("wide", I64)
    s_next = d("add", d("mul", s, 1664525), 1013904223)
    high = d("shr", s_next, 16)
    wide_next = d("xor", d("shl", wide, 1), d("to_i64", high))
    d.store(s=s_next, wide=wide_next)
    d.output("out", d("mod", high, 7))
    d.stop(d("eq", d("and", high, 7), 3))
    return d.function()


def endless(real: DType) -> Function:
    """Without Terminated, without If: a step that is always taken."""
    d = Draft("endless", real)
    a, x = d.input("a"), d.state("x")
    x_next = d("fma", x, a, d.const(0.25))
    d.store(x=x_next)
    d.output("out", d("max", x_next, x))
    return d.function()


def stateless(real: DType) -> Function:
    """Without state and without Terminated: a function of the inputs."""
    d = Draft("stateless", real)
    a, k = d.input("a"), d.input("k", I64)
    p, flag = d.uniform("p"), d.uniform("flag", BOOL)
    whole = d("floordiv", k, 3)
    d.output("out0", d("select", flag, d("fma", a, p, a), d("sub", a, p)))
    d.output("out1", whole)
    d.output("out2", d("lt", a, p))
    return d.function()


def stateless_stop(real: DType) -> Function:
    """Terminated, but nothing that changes: done at once, or never."""
    d = Draft("stateless_stop", real)
    a = d.input("a")
    d.output("out", d("mul", a, a))
    d.stop(d("gt", a, 0.5))
    return d.function()


def nested(real: DType) -> Function:
    """A loop that samples leave at different times, in a branch, in another such loop."""
    d = Draft("nested", real)
    a, k = d.input("a"), d.input("k", I32)
    x, hits = d.state("x"), d.state("hits", I32)
    outer = d("and", k, 3)

    def outer_body(i: Value, y: Value, n: Value) -> Sequence[Value]:
        def many() -> Sequence[Value]:
            inner_end = d("add", i, 2)

            def inner_body(j: Value, z: Value) -> Sequence[Value]:
                return d("add", j, 1), d("fma", z, a, d("to_" + real.value, j))

            start = d.const(0, I32)
            j, z = d.loop([start, y], lambda j, z: [d("lt", j, inner_end)], inner_body)
            return z, d("add", n, j)

        def few() -> Sequence[Value]:
            return d("sub", y, a), n

        y, n = d.choose(d("gt", y, 0.0), many, few)
        return d("add", i, 1), y, n

    _, x_next, hits_next = d.loop(
        [d.const(0, I32), x, hits], lambda i, y, n: [d("le", i, outer)], outer_body
    )

    # A second branch, long enough to be skipped where no sample needs it.
    def heavy() -> Sequence[Value]:
        value = x_next
        for _ in range(12):
            value = d("div", d("sqrt", d("abs", value)), d.const(1.5))
        return (value,)

    (x_next,) = d.choose(d("gt", x_next, 4.0), heavy, lambda: (x_next,))
    d.store(x=x_next, hits=hits_next)
    d.stop(d("ge", hits_next, 40))
    return d.function()


def uniform_loops(real: DType) -> Function:
    """Loops that all samples leave together, in a branch of one's own and in one for all."""
    d = Draft("uniform_loops", real)
    a, trips, flag = d.input("a"), d.uniform("trips", I64), d.uniform("flag", BOOL)
    x, t = d.state("x"), d.state("t", I64)

    def times(value: Value, factor: Value) -> Value:
        def body(i: Value, y: Value) -> Sequence[Value]:
            return d("add", i, 1), d("fma", y, factor, d("to_" + real.value, i))

        return d.loop([d.const(0, I64), value], lambda i, y: [d("lt", i, trips)], body)[1]

    (x1,) = d.choose(flag, lambda: (times(x, a),), lambda: (d("mul", x, 0.5),))
    (x2,) = d.choose(d("lt", x1, a), lambda: (times(x1, d.const(0.5)),), lambda: (d("neg", x1),))
    # The counter itself, the same for all samples, meets what varies.
    (count, _) = d.loop(
        [d.const(0, I64), trips], lambda i, left: [d("gt", left, 0)],
        lambda i, left: [d("add", i, 2), d("sub", left, 1)],
    )  # fmt: skip
    t_next = d("add", t, count)
    d.store(x=x2, t=t_next)
    d.stop(d("gt", t_next, 23))
    return d.function()


def carried_bools(real: DType) -> Function:
    """Bools as state, in loops, in outputs; a mask read from them."""
    d = Draft("carried_bools", real)
    a, b = d.input("a"), d.input("b", BOOL)
    up, seen, k = d.state("up", BOOL), d.state("seen", BOOL), d.state("k", I32)

    def body(i: Value, flip: Value, some: Value) -> Sequence[Value]:
        return d("add", i, 1), d("not", flip), d("or", some, d("and", flip, b))

    end = d("and", k, 3)
    _, up_next, some = d.loop(
        [d.const(0, I32), up, seen], lambda i, flip, some: [d("lt", i, end)], body
    )
    k_next = d("add", k, 1)
    d.store(up=d("xor", up_next, d("lt", a, 0.0)), seen=some, k=k_next)
    d.output("out", d("and", some, up_next))
    d.stop(d("and", d("gt", k_next, 5), up_next))
    return d.function()


def untouched(real: DType) -> Function:
    """State that is never assigned, state that is never read, and a swap."""
    d = Draft("untouched", real)
    a = d.input("a")
    x, y = d.state("x"), d.state("y")
    d.state("still")
    d.state("unread")
    k = d.state("k", I64)
    d.store(x=y, y=x, unread=d("add", a, 1.0), k=d("sub", k, 1))
    d.output("out", x)
    d.stop(d("le", d("sub", k, 1), 0))
    return d.function()


def at_once(real: DType) -> Function:
    """Done after the first step, whatever it holds."""
    d = Draft("at_once", real)
    x = d.state("x")
    d.store(x=d("add", x, 1.0))
    d.stop(True)
    return d.function()


def never(real: DType) -> Function:
    """Never done."""
    d = Draft("never", real)
    x = d.state("x")
    d.store(x=d("add", x, 1.0))
    d.stop(False)
    return d.function()


def launch_and_sample(real: DType) -> Function:
    """Long chains that depend on Params only, and on inputs only, with a loop in each."""
    d = Draft("launch_and_sample", real)
    p, trips = d.uniform("p"), d.uniform("trips", I64)
    a, k = d.input("a"), d.input("k", I32)
    x = d.state("x")

    def power(base: Value, count: Value) -> Value:
        def body(i: Value, y: Value) -> Sequence[Value]:
            return d("add", i, 1), d("mul", y, base)

        start = d.const(0, count.dtype)
        return d.loop([start, d.const(1.0)], lambda i, y: [d("lt", i, count)], body)[1]

    everywhere = power(p, trips)
    own = power(a, d("and", k, 7))
    d.store(x=d("fma", own, everywhere, x))
    d.stop(d("gt", d("abs", x), 10.0))
    return d.function()


def stop_used_twice(real: DType) -> Function:
    """The stop test of a time is stored and chooses, too."""
    d = Draft("stop_used_twice", real)
    t_end, dt = d.input("t_end"), d.input("dt")
    t, x, over = d.state("t"), d.state("x"), d.state("over", BOOL)
    t_next = d("add", t, dt)
    done = d("ge", t_next, t_end)
    d.store(t=t_next, x=d("select", done, d("neg", x), d("add", x, 1.0)), over=done)
    d.stop(done)
    return d.function()


PROGRAMS: Mapping[str, Callable[[DType], Function]] = {
    write.__name__: write
    for write in (
        oscillator, counter, unsigned, endless, stateless, stateless_stop, nested, uniform_loops,
        carried_bools, untouched, at_once, never, launch_and_sample, stop_used_twice,
    )
}  # fmt: skip
"""Every program above, by name."""
