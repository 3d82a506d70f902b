"""Instructions that read and write memory, and those that put registers together."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tests.ptx.frame import Frame, Read, Run, Threads
from tests.ptx.kinds import Array, dtype_of, raw_kind
from tests.ptx.parse import Address, Instruction, Several, Symbol, size_of

SPACES = ("global", "local", "shared", "const", "param")
SCOPES = ("cta", "gpu", "sys")
WITHOUT_MEANING = ("nc", "volatile", "relaxed", "acquire", "release", "weak", *SCOPES)
"""Said of an access for caches and for other threads: here everybody sees everything at once."""


def _access(ins: Instruction) -> tuple[str, int, str]:
    """The space, the length of the vector and the kind of an access. Raises Unknown."""
    *before, kind = ins.modifiers
    space, length = "", 1
    for each in before:
        if each in SPACES:
            space = each
        elif each in ("v2", "v4"):
            length = int(each[1])
        elif each not in WITHOUT_MEANING:
            raise ins.unknown("modifiers")
    return space, length, kind


def _places(
    frame: Frame, ins: Instruction, address: Address, size: int, length: int
) -> Callable[[Threads], list[Array]]:
    """The address of each number of a vector, for each thread."""
    at = frame.read(ins, address.base, "u64")

    def places(threads: Threads) -> list[Array]:
        first = np.broadcast_to(at(threads), threads.shape) + np.uint64(address.offset % 2**64)
        assert not (first % np.uint64(size * length)).any(), f"not aligned: {ins.text}"
        return [first + np.uint64(place * size) for place in range(length)]

    return places


def load(frame: Frame, ins: Instruction) -> Run:
    space, length, kind = _access(ins)
    target, source = ins.operands
    targets = target.items if isinstance(target, Several) else (target,)
    if len(targets) != length or not isinstance(source, Address):
        raise ins.unknown("operands")
    writes = [frame.write(ins, each, kind, wider=True) for each in targets]
    size, dtype = size_of(kind), dtype_of(kind)
    if space == "param":
        assert isinstance(source.base, Symbol)
        content = frame.parameters[source.base.name]
        starts = [source.offset + place * size for place in range(length)]
        parts = [content[start : start + size].view(dtype) for start in starts]

        def load_parameter(threads: Threads) -> None:
            for write, part in zip(writes, parts, strict=True):
                write(threads, part)

        return load_parameter
    places = _places(frame, ins, source, size, length)

    def load_memory(threads: Threads) -> None:
        found = [frame.memory.load(at, size, space).view(dtype) for at in places(threads)]
        for write, numbers in zip(writes, found, strict=True):
            write(threads, numbers)

    return load_memory


def store(frame: Frame, ins: Instruction) -> Run:
    space, length, kind = _access(ins)
    target, source = ins.operands
    sources = source.items if isinstance(source, Several) else (source,)
    if len(sources) != length or not isinstance(target, Address) or space in ("param", "const"):
        raise ins.unknown("operands")
    reads = [frame.read(ins, each, raw_kind(kind), wider=True) for each in sources]
    places = _places(frame, ins, target, size_of(kind), length)

    def store_memory(threads: Threads) -> None:
        for at, read in zip(places(threads), reads, strict=True):
            frame.memory.store(at, np.broadcast_to(read(threads), threads.shape), space)

    return store_memory


def convert_address(frame: Frame, ins: Instruction) -> Run:
    """Generic addresses are those of the spaces: `cvta` changes nothing."""
    target, source = ins.operands
    read, write = frame.read(ins, source, "u64"), frame.write(ins, target, "u64")
    return lambda threads: write(threads, read(threads))


ATOMIC: Mapping[str, Callable[[Array, Array], Array]] = {
    "add": lambda a, b: a + b,
    "min": np.minimum,
    "max": np.maximum,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}
"""Operations on integers that leave the same behind in any order."""


def atomic(frame: Frame, ins: Instruction) -> Run:
    """`atom` and `red`: threads come one after the other. Of floats there is none."""
    words = [each for each in ins.modifiers if each not in ("relaxed", *SCOPES)]
    space, name, kind = words if len(words) == 3 else ("", "", "f32")
    if space not in ("global", "shared") or name not in ATOMIC or kind[0] == "f":
        raise ins.unknown("an atomic operation of this kind")
    *targets, address, source = ins.operands
    if not isinstance(address, Address) or len(targets) != (ins.name == "atom"):
        raise ins.unknown("operands")
    writes = [frame.write(ins, each, kind) for each in targets]
    read, size = frame.read(ins, source, kind), size_of(kind)
    places, dtype, change = _places(frame, ins, address, size, 1), dtype_of(kind), ATOMIC[name]

    def run(threads: Threads) -> None:
        (at,), numbers = places(threads), np.broadcast_to(read(threads), threads.shape)
        before = np.empty(len(threads), dtype)
        for one in range(len(threads)):
            here = slice(one, one + 1)
            before[here] = frame.memory.load(at[here], size, space).view(dtype)
            after = change(before[here], numbers[here]).astype(dtype)
            frame.memory.store(at[here], after.view(dtype_of(raw_kind(kind))), space)
        for write in writes:
            write(threads, before)

    return run


def packed(frame: Frame, ins: Instruction) -> Run:
    """`mov` between a register and the parts of it, the lowest first."""
    (kind,), (target, source) = ins.modifiers, ins.operands
    parts = target if isinstance(target, Several) else source
    assert isinstance(parts, Several)
    size = size_of(kind) // len(parts.items)
    whole, part = raw_kind(kind), f"b{8 * size}"
    wide, narrow = dtype_of(whole), dtype_of(part)
    shifts = [wide.type(8 * size * place) for place in range(len(parts.items))]
    if parts is target:
        read = frame.read(ins, source, whole)
        writes = [frame.write(ins, each, part) for each in parts.items]

        def unpack(threads: Threads) -> None:
            numbers = read(threads)
            for shift, write in zip(shifts, writes, strict=True):
                write(threads, (numbers >> shift).astype(narrow))

        return unpack
    reads: list[Read] = [frame.read(ins, each, part) for each in parts.items]
    put = frame.write(ins, target, whole)

    def pack(threads: Threads) -> None:
        total = np.zeros(1, wide)
        for shift, each in zip(shifts, reads, strict=True):
            total = total | each(threads).astype(wide) << shift
        put(threads, total)

    return pack


ACCESS: Mapping[str, Callable[[Frame, Instruction], Run]] = {
    "ld": load,
    "st": store,
    "cvta": convert_address,
    "atom": atomic,
    "red": atomic,
}
