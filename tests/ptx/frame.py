"""What the threads of a launch hold: registers, and how operands of instructions are read there."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from tests.ptx.kinds import Array, dtype_of, garbage, number, raw_kind, resized
from tests.ptx.memory import Memory
from tests.ptx.parse import Instruction, Kernel, Number, Operand, Register, Symbol, size_of

Threads = NDArray[np.intp]
Run = Callable[[Threads], None]
Read = Callable[[Threads], Array]
"""Numbers of threads: one each, or one that all have."""
Write = Callable[[Threads, Array], None]


class Frame:
    """Registers, parameters and addresses of variables, for every thread of `blocks * width`."""

    def __init__(self, kernel: Kernel, blocks: int, width: int) -> None:
        self.kernel, self.count = kernel, blocks * width
        self.memory = Memory()
        self.registers: dict[str, Array] = {}
        self.parameters: dict[str, NDArray[np.uint8]] = {}
        self.symbols: dict[str, Array] = {}
        """The address of each variable."""
        everyone = self.everyone = np.arange(self.count)
        """All threads. Where these are meant, nothing has to be picked."""
        self.block = everyone // max(1, width)
        self.special: Mapping[str, Array] = {
            "%tid.x": (everyone % max(1, width)).astype(np.uint32),
            "%ntid.x": np.full(self.count, width, np.uint32),
            "%ctaid.x": self.block.astype(np.uint32),
            "%nctaid.x": np.full(self.count, blocks, np.uint32),
        }

    def register(self, ins: Instruction, name: str) -> Array:
        """What a register holds, for every thread. Raises Unknown for one that is not declared."""
        if name in self.special:
            return self.special[name]
        if name not in self.registers:
            try:
                kind = self.kernel.kind_of(name)
            except KeyError:
                raise ins.unknown(f"the register {name}") from None
            self.registers[name] = garbage(raw_kind(kind), self.count)
        return self.registers[name]

    def read(self, ins: Instruction, operand: Operand, kind: str, *, wider: bool = False) -> Read:
        """How an operand is read as a number of a kind. `wider`: its register may be."""
        operand = self._named(operand)
        if isinstance(operand, Number):
            known = number(operand, kind, ins.line)
            return lambda threads: known
        if isinstance(operand, Symbol):
            if operand.name not in self.symbols or kind[1:] != "64":
                raise ins.unknown(f"the operand {operand.name}")
            return self._picked(self.symbols[operand.name].view(dtype_of(kind)))
        if not isinstance(operand, Register):
            raise ins.unknown("an operand of this form")
        held = self.register(ins, operand.name)
        if kind == "pred":
            if held.dtype != bool:
                raise ins.unknown(f"{operand.name} is no predicate")
            return self._picked(held)
        dtype, size = dtype_of(kind), size_of(kind)
        self._fits(ins, operand, held, kind, wider=wider or ins.name == "cvt")
        if held.itemsize == size:
            return self._picked(held.view(dtype))
        narrow = dtype_of(raw_kind(kind))
        return lambda threads: held[threads].astype(narrow).view(dtype)

    def _picked(self, held: Array) -> Read:
        everyone = self.everyone
        return lambda threads: held if threads is everyone else held[threads]

    def write(self, ins: Instruction, operand: Operand, kind: str, *, wider: bool = False) -> Write:
        """How numbers of a kind are put into a register. `wider`: it may be."""
        operand = self._named(operand)
        if isinstance(operand, Symbol) and operand.name == "_":
            return lambda threads, numbers: None
        if not isinstance(operand, Register) or operand.name in self.special:
            raise ins.unknown("a result has to go to a register")
        held, everyone = self.register(ins, operand.name), self.everyone

        def put(threads: Threads, numbers: Array) -> None:
            held[... if threads is everyone else threads] = numbers

        if kind == "pred":
            if held.dtype != bool:
                raise ins.unknown(f"{operand.name} is no predicate")
            return put
        self._fits(ins, operand, held, kind, wider=wider or ins.name == "cvt")
        if held.itemsize > size_of(kind):
            whole = f"b{8 * held.itemsize}"
            return lambda threads, numbers: put(threads, resized(kind, numbers, whole))
        dtype, raw = dtype_of(kind), dtype_of(raw_kind(kind))

        def put_bits(threads: Threads, numbers: Array) -> None:
            assert numbers.dtype == dtype, (ins.text, numbers.dtype)
            put(threads, numbers.view(raw))

        return put_bits

    def _named(self, operand: Operand) -> Operand:
        """A register may have a name without a `%`."""
        if isinstance(operand, Symbol) and operand.name in self.kernel.registers:
            return Register(operand.name)
        return operand

    def _fits(
        self, ins: Instruction, operand: Register, held: Array, kind: str, *, wider: bool
    ) -> None:
        size = size_of(kind)
        if held.dtype == bool or held.itemsize < size or (held.itemsize > size and not wider):
            raise ins.unknown(f"{operand.name} is no {kind}")
