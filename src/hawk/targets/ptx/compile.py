"""LLVM's text for the GPU to PTX."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

import llvmlite.binding as llvm

from hawk.ir.nodes import Function
from hawk.locks import compiling
from hawk.targets.parsed import parsed
from hawk.targets.ptx.chip import Chip, chip
from hawk.targets.ptx.entry import TRIPLE, module_text
from hawk.targets.ways import Way

_NO_NAME = re.compile(r"\W", re.ASCII)
_NO_BEGIN = re.compile(r"^(?=\d|_$)")
"""Where a letter is missing: a name of PTX is no `_` alone and begins with no digit."""


def ptx_text(fn: Function, arch: str, ways: Sequence[Way] = (Way.PLAIN,)) -> str:
    """The PTX of `fn`, which has been through the passes, for a chip such as `sm_90`.

    It has an entry for each of the `ways` to launch it, whose name is `entry_name(fn, way)`.
    Raises HawkError (H502) for a chip that is not known.
    """
    return emitted(module_text(fn, entry_name(fn), ways), chip(arch))


def entry_name(fn: Function, way: Way = Way.PLAIN) -> str:
    """What the kernel is called in the PTX."""
    return _NO_BEGIN.sub("k", _NO_NAME.sub("_", fn.name)) + way.value


def emitted(text: str, known: Chip) -> str:
    """The PTX of an LLVM module."""
    with compiling():
        machine = _machine(known)
        # It says how numbers are aligned: without it each int64 would be loaded as two halves.
        layout = f'target datalayout = "{machine.target_data}"'
        return machine.emit_assembly(parsed(f"{layout}\n{text}"))


@functools.cache
def _machine(known: Chip) -> llvm.TargetMachine:
    """LLVM's code generator for a chip."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(TRIPLE)
    return target.create_target_machine(cpu=known.name, features=known.features, opt=3)
