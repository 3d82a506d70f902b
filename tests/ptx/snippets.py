"""Short kernels around a few instructions, to try those alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.ptx.kinds import dtype_of
from tests.ptx.machine import launch
from tests.ptx.meanings import meaning_of
from tests.ptx.parse import instruction

HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
REGISTERS = """
  .reg .pred %p<9>;
  .reg .b16 %rs<9>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<30>;
  .reg .b32 %t<2>;
"""
_FAMILY = {"16": "%rs", "32": "%r", "64": "%rd"}


def kernel(body: str, parameters: int = 1, before: str = "", inside: str = "") -> str:
    """A module of a kernel `f` with arrays as parameters, whose addresses are in %rd20 and on.

    %rd10 is the number of the thread in its block, %rd11 eight times that.
    """
    names = [f"f_param_{place}" for place in range(parameters)]
    declared = ", ".join(f".param .u64 .ptr .global .align 1 {name}" for name in names)
    loads = "\n".join(
        f"  ld.param.b64 %rd{20 + place}, [{name}];" for place, name in enumerate(names)
    )
    return f"""{HEAD}{before}
.visible .entry f({declared})
{{{REGISTERS}{inside}
{loads}
  mov.u32 %t0, %tid.x;
  cvt.u64.u32 %rd10, %t0;
  shl.b64 %rd11, %rd10, 3;
{body}
  ret;
}}
"""


def one(text: str, columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """What an instruction such as `add.s32` gives for the operands of each row."""
    meaning = meaning_of(instruction(1, text))
    lines: list[str] = []
    names: list[str] = []
    for place, kind in enumerate(meaning.operands):
        size = "16" if kind[1:] == "8" else kind[1:]
        held = f"%p{place}" if kind == "pred" else f"{_FAMILY[size]}{place}"
        at, to = f"%rd{12 + place}", "%r8" if kind == "pred" else held
        read = "b32" if kind == "pred" else f"b{size}"
        lines += [f"add.s64 {at}, %rd{20 + place}, %rd11;", f"ld.global.{read} {to}, [{at}];"]
        lines += [f"setp.ne.s32 {held}, %r8, 0;"] if kind == "pred" else []
        names.append(held)
    wide = meaning.result == "pred"
    result = "%p8" if wide else f"{_FAMILY[meaning.result[1:]]}8"
    lines.append(f"{text} {', '.join([result, *names])};")
    lines += ["selp.b32 %r8, 1, 0, %p8;"] if wide else []
    size, held = ("32", "%r8") if wide else (meaning.result[1:], result)
    count = len(columns)
    lines += [
        f"add.s64 %rd12, %rd{20 + count}, %rd11;",
        f"st.global.b{size} [%rd12], {held};",
    ]
    rows = len(columns[0])
    given: list[NDArray[Any]] = []
    for kind, column in zip(meaning.operands, columns, strict=True):
        words = np.zeros(rows, np.uint64)
        for place, each in enumerate(column):
            words[place : place + 1].view(np.uint8)[: each.nbytes] = np.frombuffer(
                each.tobytes(), np.uint8
            )
        given.append(words)
    out = np.zeros(rows, np.uint64)
    launch(kernel("\n".join(lines), count + 1), [*given, out], threads=rows)
    dtype = dtype_of("b32" if wide else meaning.result)
    return out.view(np.uint8).reshape(rows, 8)[:, : dtype.itemsize].copy().view(dtype)[:, 0]


def column(kind: str, numbers: Sequence[float]) -> NDArray[Any]:
    """Numbers as those of a kind; integers wrap, and stand in a register of 16 bits at least."""
    if kind[0] == "f":
        with np.errstate(all="ignore"):
            return np.array(numbers, dtype_of(kind))
    bits = {"pred": 32, "8": 16}.get(kind if kind == "pred" else kind[1:]) or int(kind[1:])
    return np.array([int(each) % 2**bits for each in numbers], f"u{bits // 8}")
