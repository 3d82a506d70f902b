"""A kernel for one thread of a GPU, which takes samples, one after the other.

    for sample in (thread, thread + threads, ...):          (threads of the whole launch)
        unless it is done: load, up to STEPS steps in registers, store

The first parameters are the kernel's planes in their order, arrays and tables as addresses and
numbers as themselves. What follows depends on the way it is launched, see `Way`. A number that is
made on the GPU, such as a sum over the batch, is an address too: see `hawk.targets.module.Kernel`.
Where threads take samples in turns, see `hawk.targets.turns`.
"""

from __future__ import annotations

from collections.abc import Sequence

from hawk.ir.nodes import ARRAYS, TABLES, Apply, Function, Plane, Role
from hawk.ir.types import DType
from hawk.targets.llvm import Emitter
from hawk.targets.shape import LLVM_TYPES, MEMORY_TYPES, ONE, Shape
from hawk.targets.stored import stop_of, stored_planes
from hawk.targets.uniform import varying_values
from hawk.targets.ways import GLOBAL, Dialect, Way, Words


class _Scalars(Emitter):
    """The emitter for a thread."""

    def apply(self, node: Apply, args: Sequence[str], shape: Shape | None = None) -> str:
        """`lt` and `gt` of floats say what is not so.

        LLVM takes `x if x < 0.0 else 0.0` for a minimum, in which -0.0 is the same as 0.0 to it;
        PTX's instruction says -0.0. It does not see it in the opposite, which costs nothing.
        """
        opposite = _OPPOSITE.get(node.op)
        dtype = node.args[-1].dtype
        if opposite is None or not dtype.is_float:
            return super().apply(node, args, shape)
        other = self.define(f"fcmp {opposite} {LLVM_TYPES[dtype]} {args[0]}, {args[1]}")
        return self.define(f"xor i1 {other}, true")


_OPPOSITE = {"lt": "uge", "gt": "ule"}


class Entry:
    """Writes one kernel."""

    def __init__(
        self, fn: Function, way: Way, dialect: Dialect, held: frozenset[str] = frozenset()
    ) -> None:
        self.fn, self.way, self.dialect, self.held = fn, way, dialect, held
        self.emitter = _Scalars(ONE, varying_values(fn))
        self.mask = next((plane for plane in fn.planes if plane.role is Role.MASK), None)
        self.tells = way is not Way.PLAIN and self.mask is not None
        """Does it say what became done?"""
        self.stored = stored_planes(fn)
        self.states = [(plane, end) for plane, end in self.stored if plane.role is Role.STATE]
        self.parameters: list[str] = []
        self.address: dict[Plane, str] = {}
        self.steps = "%steps"
        self.write()

    def text(self, name: str) -> str:
        """The function of that name."""
        e = self.emitter
        assert not e.functions, "one sample at a time has no need of functions"
        body = "\n".join(["entry:", *e.stack, *e.lines])
        head = f"define {self.dialect.head} void @{name}({', '.join(self.parameters)})"
        return f"{head} {self.dialect.attributes} {{\n{body}\n}}"

    def write(self) -> None:
        e = self.emitter
        self._planes()
        samples = self._launch()
        e.statements(self.fn.launch)
        first, threads = self.dialect.place(e)
        head, leave, body = e.label("samples"), e.label("leave"), e.label("sample")
        before = e.here
        e.jump(head)
        e.place(head)
        at = len(e.lines)
        position, finished = e.define("phi"), e.define("phi")
        longest = e.define("phi") if self.tells else "0"
        e.branch(e.define(f"icmp slt i64 {position}, {samples}"), body, leave)
        e.place(body)
        with e.scope():
            sample = position
            if self.way is Way.MAPPED:
                at_map = e.define(f"getelementptr i64, {GLOBAL} %map, i64 {position}")
                sample = e.define(f"load i64, {GLOBAL} {at_map}")
            ended, taken = self._sample(sample)
        following = e.define(f"add i64 {position}, {threads}")
        total = e.define(f"add i64 {finished}, {ended}")
        phis = [(position, first, following), (finished, "0", total)]
        if self.tells:
            longer = e.define(f"icmp ugt i64 {taken}, {longest}")
            most = e.define(f"select i1 {longer}, i64 {taken}, i64 {longest}")
            phis.append((longest, "0", most))
        for line, (name, start, end) in enumerate(phis, at):
            e.lines[line] = f"  {name} = phi i64 [ {start}, %{before} ], [ {end}, %{e.here} ]"
        e.jump(head)
        e.place(leave)
        if self.tells:
            self._tell(finished, longest)
        e.line("ret void")

    def _launch(self) -> str:
        """The parameters after the planes; how many samples there are, or positions."""
        self.parameters += {
            Way.PLAIN: ("i64 %n", "i64 %steps"),
            Way.AUTO: ("i64 %n", f"{GLOBAL} %words"),
            Way.MAPPED: (f"{GLOBAL} %words", f"{GLOBAL} %map"),
            Way.TURNS: ("i64 %n", f"{GLOBAL} %words", f"{GLOBAL} %hands"),
        }[self.way]
        if self.way is not Way.PLAIN:
            self.steps = self._said(Words.STEPS)
        return self._said(Words.LIVE) if self.way is Way.MAPPED else "%n"

    def _word(self, word: Words) -> str:
        """Where it is in memory."""
        return self.emitter.define(f"getelementptr i64, {GLOBAL} %words, i64 {int(word)}")

    def _said(self, word: Words) -> str:
        return self.emitter.define(f"load i64, {GLOBAL} {self._word(word)}")

    def _atomic(self, operation: str, word: Words, number: str) -> str:
        """Change a word as if no other thread were there; what it was before."""
        scope = f'syncscope("{self.dialect.scope}")'
        at = self._word(word)
        return self.emitter.define(
            f"atomicrmw {operation} {GLOBAL} {at}, i64 {number} {scope} monotonic"
        )

    def _tell(self, finished: str, longest: str) -> None:
        """Add what became done, and say how long that took.

        Whole numbers add up to the same in any order, and the greatest is the same one.
        """
        e = self.emitter
        some, none = e.label("some"), e.label("none")
        e.branch(e.define(f"icmp ne i64 {finished}, 0"), some, none)
        e.place(some)
        self._atomic("add", Words.FINISHED, finished)
        self._atomic("umax", Words.LONGEST, longest)
        e.jump(none)
        e.place(none)

    def _planes(self) -> None:
        """The parameters, and what they are to the program."""
        e = self.emitter
        for place, plane in enumerate(self.fn.planes):
            name = f"%p{place}"
            if plane.role is Role.INDEX:
                continue
            if plane.role in ARRAYS:
                self.parameters.append(f"{GLOBAL} {name}")
                self.address[plane] = name
            elif plane.name in self.held:
                self.parameters.append(f"{GLOBAL} {name}")
                if plane.read is not None:
                    kind = MEMORY_TYPES[plane.dtype]
                    number = e.define(f"load {kind}, {GLOBAL} {name}")
                    e.bind(plane.read, (self._read(plane.dtype, number),))
            elif plane.role in TABLES:
                self.parameters.append(f"{GLOBAL} {name}")
                if plane.read is not None:
                    e.tables.add(plane.read)
                    e.bind(plane.read, (e.define(f"addrspacecast {GLOBAL} {name} to ptr"),))
            else:
                self.parameters.append(f"{MEMORY_TYPES[plane.dtype]} {name}")
                if plane.read is not None:
                    e.bind(plane.read, (self._read(plane.dtype, name),))

    def _read(self, dtype: DType, name: str) -> str:
        """A number as the program holds it: a bool in memory is a byte."""
        return self.emitter.define(f"icmp ne i8 {name}, 0") if dtype is DType.BOOL else name

    # -- a sample --------------------------------------------------------------------------------

    def _sample(self, sample: str) -> tuple[str, str]:
        """Load it, take its steps, store it; nothing of it if it is done.

        Gives the number of samples that became done by that, one or none, and the steps it took
        if it did, else 0.
        """
        e = self.emitter
        before, run, over = e.here, e.label("run"), e.label("over")
        if self.mask is not None:
            done = self._load(self.mask, sample)
            before = e.here
            e.branch(done, over, run)
        else:
            e.jump(run)
        e.place(run)
        self._open(sample)
        steps = self._steps()
        for plane, end in self.stored:
            self._store(plane, sample, e.lanes(end)[0])
        stop = stop_of(self.fn)
        ended = taken = "0"
        if self.mask is not None and stop is not None:
            self._store(self.mask, sample, e.lanes(stop)[0])
            ended = e.define(f"zext i1 {e.lanes(stop)[0]} to i64")
            if self.tells:
                taken = e.define(f"select i1 {e.lanes(stop)[0]}, i64 {steps}, i64 0")
        after = e.here
        e.jump(over)
        e.place(over)
        if self.mask is None:
            return "0", "0"
        finished = e.phi("i64", (ended, after), ("0", before))
        return finished, e.phi("i64", (taken, after), ("0", before)) if self.tells else "0"

    def _open(self, sample: str) -> None:
        """Load it, and compute what all of its steps have in common."""
        e = self.emitter
        for plane in self.fn.planes:
            if plane.role is Role.INDEX and plane.read is not None:
                e.bind(plane.read, (sample,))
            elif plane.role in ARRAYS and plane.read is not None:
                e.bind(plane.read, (self._load(plane, sample),))
        e.statements(self.fn.sample)

    def _steps(self) -> str:
        """At least one step, then more until the sample is done or has taken all; how many."""
        e, stop = self.emitter, stop_of(self.fn)
        reads = [plane.read for plane, _ in self.states]
        carried = [
            (LLVM_TYPES[plane.dtype], e.names[read][0])
            for (plane, _), read in zip(self.states, reads, strict=True)
            if read is not None
        ]
        head = e.begin_loop([("i64", "0"), *carried])
        names = iter(head.phis[1:])
        for read in reads:
            if read is not None:
                e.bind(read, (next(names),))
        e.statements(self.fn.step)
        taken = e.define(f"add i64 {head.phis[0]}, 1")
        again = e.define(f"icmp ult i64 {taken}, {self.steps}")
        if stop is not None:
            going = e.define(f"xor i1 {e.lanes(stop)[0]}, true")
            again = e.define(f"and i1 {again}, {going}")
        ends = [e.lanes(end)[0] for plane, end in self.states if plane.read is not None]
        e.end_loop(head, again, [taken, *ends])
        return taken

    def _at(self, plane: Plane, sample: str) -> str:
        memory = MEMORY_TYPES[plane.dtype]
        return self.emitter.define(
            f"getelementptr {memory}, {GLOBAL} {self.address[plane]}, i64 {sample}"
        )

    def _load(self, plane: Plane, sample: str) -> str:
        kind, at = MEMORY_TYPES[plane.dtype], self._at(plane, sample)
        return self._read(plane.dtype, self.emitter.define(f"load {kind}, {GLOBAL} {at}"))

    def _store(self, plane: Plane, sample: str, value: str) -> None:
        e, kind = self.emitter, MEMORY_TYPES[plane.dtype]
        if plane.dtype is DType.BOOL:
            value = e.define(f"zext i1 {value} to i8")
        e.line(f"store {kind} {value}, {GLOBAL} {self._at(plane, sample)}")
