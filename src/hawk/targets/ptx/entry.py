"""A kernel as an LLVM module for the GPU: each thread takes samples, one after the other.

    for sample in (thread, thread + threads, ...):          (threads of the whole launch)
        unless it is done: load, up to STEPS steps in registers, store

The parameters are the kernel's planes in their order, arrays and tables as addresses and numbers as
themselves; then `n`, the samples, and `steps`, the most that a sample may take, both int64.
"""

from __future__ import annotations

from collections.abc import Sequence

from hawk.ir.nodes import ARRAYS, TABLES, Apply, Function, Plane, Role
from hawk.ir.types import DType
from hawk.targets.llvm import RARE, Emitter
from hawk.targets.shape import LLVM_TYPES, MEMORY_TYPES, ONE, Shape
from hawk.targets.stored import stop_of, stored_planes
from hawk.targets.uniform import varying_values

TRIPLE = "nvptx64-nvidia-cuda"
THREADS = 256
"""Threads of a block, at most. With 255 registers each they fill the register file."""
GLOBAL = "ptr addrspace(1)"
_INDEX = "llvm.nvvm.read.ptx.sreg"


def module_text(fn: Function, name: str) -> str:
    """The LLVM module of `fn`, whose one kernel is called `name`.

    `fn` has been through the passes. The module calls nothing outside itself.
    """
    entry = Entry(fn)
    entry.write()
    body = "\n".join(["entry:", *entry.emitter.stack, *entry.emitter.lines])
    head = f"define ptx_kernel void @{name}({', '.join(entry.parameters)})"
    return "\n".join(
        (
            f'target triple = "{TRIPLE}"',
            *entry.emitter.functions,
            f'{head} nounwind "nvvm.maxntid"="{THREADS}" "nvvm.minctasm"="1" {{\n{body}\n}}',
            *(f"declare i32 @{_INDEX}.{each}.x()" for each in ("tid", "ntid", "ctaid", "nctaid")),
            f'{RARE} = !{{!"branch_weights", i32 1, i32 1000}}',
        )
    )


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
    """Writes the one kernel of a module."""

    def __init__(self, fn: Function) -> None:
        self.fn = fn
        self.emitter = _Scalars(ONE, varying_values(fn))
        self.mask = next((plane for plane in fn.planes if plane.role is Role.MASK), None)
        self.stored = stored_planes(fn)
        self.states = [(plane, end) for plane, end in self.stored if plane.role is Role.STATE]
        self.parameters: list[str] = []
        self.address: dict[Plane, str] = {}

    def write(self) -> None:
        e = self.emitter
        self._planes()
        e.statements(self.fn.launch)
        first, threads = self._threads()
        head, leave, body = e.label("samples"), e.label("leave"), e.label("sample")
        before = e.here
        e.jump(head)
        e.place(head)
        at = len(e.lines)
        sample = e.define("phi")
        e.branch(e.define(f"icmp slt i64 {sample}, %n"), body, leave)
        e.place(body)
        with e.scope():
            self._sample(sample)
        following = e.define(f"add i64 {sample}, {threads}")
        e.lines[at] = f"  {sample} = phi i64 [ {first}, %{before} ], [ {following}, %{e.here} ]"
        e.jump(head)
        e.place(leave)
        e.line("ret void")

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
            elif plane.role in TABLES:
                self.parameters.append(f"{GLOBAL} {name}")
                if plane.read is not None:
                    e.tables.add(plane.read)
                    e.bind(plane.read, (e.define(f"addrspacecast {GLOBAL} {name} to ptr"),))
            else:
                self.parameters.append(f"{MEMORY_TYPES[plane.dtype]} {name}")
                if plane.read is not None:
                    e.bind(plane.read, (self._read(plane.dtype, name),))
        self.parameters += ["i64 %n", "i64 %steps"]

    def _read(self, dtype: DType, name: str) -> str:
        """A number as the program holds it: a bool in memory is a byte."""
        return self.emitter.define(f"icmp ne i8 {name}, 0") if dtype is DType.BOOL else name

    def _threads(self) -> tuple[str, str]:
        """This thread's number, and how many there are."""
        e = self.emitter
        tid, ntid, block, blocks = (
            e.define(f"zext i32 {e.define(f'call i32 @{_INDEX}.{each}.x()')} to i64")
            for each in ("tid", "ntid", "ctaid", "nctaid")
        )
        start = e.define(f"mul i64 {block}, {ntid}")
        return e.define(f"add i64 {start}, {tid}"), e.define(f"mul i64 {blocks}, {ntid}")

    # -- a sample --------------------------------------------------------------------------------

    def _sample(self, sample: str) -> None:
        """Load it, take its steps, store it; nothing of it if it is done."""
        e = self.emitter
        run, over = e.label("run"), e.label("over")
        if self.mask is not None:
            done = self._load(self.mask, sample)
            e.branch(done, over, run)
        else:
            e.jump(run)
        e.place(run)
        for plane in self.fn.planes:
            if plane.role is Role.INDEX and plane.read is not None:
                e.bind(plane.read, (sample,))
            elif plane.role in ARRAYS and plane.read is not None:
                e.bind(plane.read, (self._load(plane, sample),))
        e.statements(self.fn.sample)
        self._steps()
        for plane, end in self.stored:
            self._store(plane, sample, e.lanes(end)[0])
        stop = stop_of(self.fn)
        if self.mask is not None and stop is not None:
            self._store(self.mask, sample, e.lanes(stop)[0])
        e.jump(over)
        e.place(over)

    def _steps(self) -> None:
        """At least one step, then more until the sample is done or has taken all."""
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
        again = e.define(f"icmp ult i64 {taken}, %steps")
        if stop is not None:
            going = e.define(f"xor i1 {e.lanes(stop)[0]}, true")
            again = e.define(f"and i1 {again}, {going}")
        ends = [e.lanes(end)[0] for plane, end in self.states if plane.read is not None]
        e.end_loop(head, again, [taken, *ends])

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
