"""The control register for floats, which functions that compute set to its default and put back.

A library linked with -ffast-math has the thread that loads it flush small numbers to 0.
"""

from __future__ import annotations

from typing import NamedTuple

from hawk.targets.cpu.machine import Machine


class Control(NamedTuple):
    """Statements for the beginning and the end of a routine."""

    begin: str
    end: str


def default_control(machine: Machine) -> Control:
    """Round to nearest, keep subnormals; and put back what was there."""
    if not machine.is_x86:
        return Control("", "")
    begin = (
        "%saved = alloca i32\n  %ours = alloca i32\n"
        "  call void @llvm.x86.sse.stmxcsr(ptr %saved)\n  store i32 8064, ptr %ours\n"
        "  call void @llvm.x86.sse.ldmxcsr(ptr %ours)"
    )
    return Control(begin, "call void @llvm.x86.sse.ldmxcsr(ptr %saved)")
