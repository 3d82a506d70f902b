"""A GPU made of NumPy: runs the text of a kernel, all threads at once, each at its own place.

Threads that stand at one place go on together, whichever they are: the lowest place in the text
first, or in an order that is drawn (`seed`). A kernel must give the same either way. Threads of a
block that wait at a barrier go on when all of the block wait there that have not ended; so do those
of a warp at a barrier of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.ptx.access import ACCESS, packed
from tests.ptx.frame import Frame, Run, Threads
from tests.ptx.kinds import garbage
from tests.ptx.meanings import meaning_of
from tests.ptx.memory import Region, as_bytes
from tests.ptx.parse import Instruction, Kernel, Module, Number, Several, Symbol, parse, size_of

MOST = 50_000_000
"""Instructions of all threads together, after which a launch is taken for endless."""
WARP = 32
JUMPS = frozenset({"bra", "brx", "ret", "exit", "bar", "barrier"})
"""What threads do not go on from to the instruction behind, or not at once."""
NOTHING = frozenset({"membar", "fence"})
"""What orders accesses of memory, which are in order here."""


class Endless(AssertionError):
    """A launch does not come to its end."""


def launch(
    text: str | Module,
    arguments: Sequence[Any],
    *,
    blocks: int = 1,
    threads: int = 32,
    kernel: str | None = None,
    seed: int | None = None,
) -> None:
    """Run a kernel of a module; arrays among the arguments hold what it wrote there.

    An array that is not writable may not be written. None is the address 0. Numbers are NumPy's,
    of the parameter's size. `kernel`: its name, where there are several. Raises Unknown, Trespass,
    Endless.
    """
    module = parse(text) if isinstance(text, str) else text
    first, *more = module.kernels.values()
    assert kernel is not None or not more, "which kernel?"
    chosen = module.kernels[kernel] if kernel else first
    assert chosen.least <= threads <= chosen.most, f"{threads} threads of a block"
    Machine(module, chosen, blocks, threads).run(arguments, seed)


class Machine:
    """One launch. A machine runs once."""

    def __init__(self, module: Module, kernel: Kernel, blocks: int, threads: int) -> None:
        self.module, self.kernel, self.blocks = module, kernel, blocks
        self.frame = Frame(kernel, blocks, threads)
        self.waiting: dict[int, list[Threads]] = {}
        """At each place the threads that are to go on from there."""
        self.at_barrier: list[tuple[int, Threads, NDArray[np.intp]]] = []
        """Threads at a barrier: where they go on, which they are, the group of every thread."""
        within = np.arange(blocks * threads) % max(1, threads)
        self.warp = self.frame.block * -(-threads // WARP) + within // WARP
        self.live = np.ones(self.frame.count, bool)

    def run(self, arguments: Sequence[Any], seed: int | None) -> None:
        given = self._bind(arguments)
        self._variables()
        self.frame.memory.seal()
        # Every instruction is known, also those that no thread comes by.
        self.code = [self._compiled(place, ins) for place, ins in enumerate(self.kernel.body)]
        self.starts = {*self.kernel.labels.values(), len(self.code)}
        with np.errstate(all="ignore"):
            self._execute(None if seed is None else Random(seed))
        for array, region in given:
            as_bytes(array)[:] = self.frame.memory.content(region)

    def _bind(self, arguments: Sequence[Any]) -> list[tuple[NDArray[Any], Region]]:
        """Put arguments where the kernel finds them; the arrays to copy back."""
        given: list[tuple[NDArray[Any], Region]] = []
        memory = self.frame.memory
        for parameter, value in zip(self.kernel.parameters, arguments, strict=True):
            if parameter.address and value is None:
                value = np.uint64(0)
            elif parameter.address:
                assert isinstance(value, np.ndarray)
                assert value.flags.c_contiguous
                name, writable = parameter.name, value.flags.writeable
                at = memory.add(name, "global", as_bytes(value), writable=writable)
                if writable:
                    given.append((value, memory.regions[-1]))
                value = np.uint64(at)
            content = as_bytes(value)
            assert len(content) == size_of(parameter.kind), (parameter, value)
            self.frame.parameters[parameter.name] = content
        return given

    def _variables(self) -> None:
        """Memory of the module, of each block and of each thread."""
        frame = self.frame
        for each in (*self.module.variables, *self.kernel.variables):
            copies = {"shared": self.blocks, "local": frame.count}.get(each.space, 1)
            size = -(-len(each.content) // 16) * 16
            content = garbage("b64", copies * size // 8).view(np.uint8).copy()
            if each.space in ("global", "const"):
                content[: len(each.content)] = np.frombuffer(each.content, np.uint8)
            writable = each.space != "const"
            at = frame.memory.add(each.name, each.space, content, writable=writable)
            everyone = np.arange(frame.count)
            copy = {"shared": frame.block, "local": everyone}.get(each.space, 0 * everyone)
            frame.symbols[each.name] = (at + size * copy).astype(np.uint64)

    # -- threads ---------------------------------------------------------------------------------

    def _execute(self, random: Random | None) -> None:
        left = MOST
        self._go(0, self.frame.everyone)
        while self.waiting:
            place = min(self.waiting) if random is None else random.choice(list(self.waiting))
            parts = self.waiting.pop(place)
            threads = parts[0] if len(parts) == 1 else np.sort(np.concatenate(parts))
            if random is not None and len(threads) > 1 and random.random() < 0.3:
                cut = random.randrange(1, len(threads))
                self._go(place, threads[cut:])
                threads = threads[:cut]
            if len(threads) == self.frame.count:
                threads = self.frame.everyone
            left -= self._stretch(place, threads)
            if left < 0:
                raise Endless(f"{self.kernel.name}: still at {self.kernel.body[place].text!r}")
            self._release()
        assert not self.at_barrier, "threads wait at a barrier that others will never come to"

    def _stretch(self, start: int, threads: Threads) -> int:
        """Go on from a place to the next jump or label; how many instructions that took."""
        place = start
        while True:
            if place == len(self.code):
                raise Endless(f"{self.kernel.name}: threads run beyond its end")
            ins = self.kernel.body[place]
            some = threads
            if ins.guard and ins.name not in JUMPS:
                some = threads[self._holds(ins, threads)]
            if len(some):
                self.code[place](some)
            place += 1
            if ins.name in JUMPS:
                return (place - start) * len(threads)
            if place in self.starts:
                self._go(place, threads)
                return (place - start) * len(threads)

    def _go(self, place: int, threads: Threads) -> None:
        if len(threads):
            self.waiting.setdefault(place, []).append(threads)

    def _holds(self, ins: Instruction, threads: Threads) -> NDArray[np.bool]:
        """For which threads is the instruction's guard as it should be?"""
        if not ins.guard:
            return np.ones(len(threads), bool)
        return self.frame.register(ins, ins.guard)[threads] != ins.unless

    def _release(self) -> None:
        """Let the blocks go on that are complete at a barrier."""
        if not self.at_barrier:
            return
        waits = np.zeros(self.frame.count, bool)
        for _, threads, _ in self.at_barrier:
            waits[threads] = True
        before, self.at_barrier = self.at_barrier, []
        for place, threads, groups in before:
            late = np.bincount(groups[self.live & ~waits], minlength=self.frame.count)
            free = late[groups[threads]] == 0
            self._go(place, threads[free])
            if not free.all():
                self.at_barrier.append((place, threads[~free], groups))

    # -- instructions ----------------------------------------------------------------------------

    def _compiled(self, place: int, ins: Instruction) -> Run:
        """An instruction as something to call with the threads that execute it. Raises Unknown."""
        if ins.name in JUMPS:
            return self._jump(place, ins)
        if ins.name in ACCESS:
            return ACCESS[ins.name](self.frame, ins)
        if ins.name in NOTHING:
            return lambda threads: None
        if ins.name == "mov" and any(isinstance(each, Several) for each in ins.operands):
            return packed(self.frame, ins)
        meaning = meaning_of(ins)
        if len(ins.operands) != 1 + len(meaning.operands):
            raise ins.unknown(f"{1 + len(meaning.operands)} operands are expected")
        target, *sources = ins.operands
        kinds = zip(sources, meaning.operands, strict=True)
        reads = [self.frame.read(ins, source, kind) for source, kind in kinds]
        write, compute = self.frame.write(ins, target, meaning.result), meaning.compute
        return lambda threads: write(threads, compute(*[read(threads) for read in reads]))

    def _jump(self, place: int, ins: Instruction) -> Run:
        if ins.name in ("ret", "exit"):

            def leave(threads: Threads) -> None:
                gone = self._holds(ins, threads)
                self.live[threads[gone]] = False
                self._go(place + 1, threads[~gone])

            return leave
        if ins.name in ("bar", "barrier"):
            warp = ins.modifiers == ("warp", "sync")
            if not warp and ins.modifiers[:1] != ("sync",):
                raise ins.unknown("only a barrier of a whole block or warp is known")
            if len(ins.operands) != 1 or ins.guard:
                raise ins.unknown("all of a block or a warp are at a barrier")
            if warp and ins.operands[0] != Number("-1"):
                raise ins.unknown("a barrier is one of all threads of a warp")
            groups = self.warp if warp else self.frame.block
            return lambda threads: self.at_barrier.append((place + 1, threads, groups))
        if ins.name == "brx":
            return self._branch_table(place, ins)
        (label,) = ins.operands
        if not isinstance(label, Symbol) or label.name not in self.kernel.labels:
            raise ins.unknown("no such label")
        to = self.kernel.labels[label.name]

        def jump(threads: Threads) -> None:
            taken = self._holds(ins, threads)
            self._go(to, threads[taken])
            self._go(place + 1, threads[~taken])

        return jump

    def _branch_table(self, place: int, ins: Instruction) -> Run:
        index, table = ins.operands
        if not isinstance(table, Symbol) or table.name not in self.kernel.tables:
            raise ins.unknown("no such table")
        read = self.frame.read(ins, index, "u32")
        targets = [self.kernel.labels[each] for each in self.kernel.tables[table.name]]

        def jump(threads: Threads) -> None:
            taken = self._holds(ins, threads)
            self._go(place + 1, threads[~taken])
            threads = threads[taken]
            choice = np.broadcast_to(read(threads), threads.shape)
            assert (choice < len(targets)).all(), "a branch beyond its table is not defined"
            for each in np.unique(choice):
                self._go(targets[each], threads[choice == each])

        return jump
