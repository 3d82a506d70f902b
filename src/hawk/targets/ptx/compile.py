"""LLVM's text for the GPU to PTX."""

from __future__ import annotations

import functools
import re

import llvmlite.binding as llvm

from hawk.errors import HawkError
from hawk.ir.nodes import Function
from hawk.locks import compiling
from hawk.targets.ptx.chip import Chip, chip
from hawk.targets.ptx.entry import TRIPLE, module_text

_NO_NAME = re.compile(r"\W", re.ASCII)
_NO_BEGIN = re.compile(r"^(?=\d|_$)")
"""Where a letter is missing: a name of PTX is no `_` alone and begins with no digit."""


def refuse_together(fn: Function) -> None:
    """Raises HawkError (H503) for a traced kernel whose samples take their steps together."""
    for each in (*fn.reductions, *fn.scatters):
        what = f"{fn.name} reduces or scatters, which is not made for GPUs yet"
        raise HawkError("H503", what, each.loc, "run it on the CPU")


def ptx_text(fn: Function, arch: str) -> str:
    """The PTX of `fn`, which has been through the passes, for a chip such as `sm_90`.

    Raises HawkError (H502) for a chip that is not known.
    """
    known = chip(arch)
    text = module_text(fn, _NO_BEGIN.sub("k", _NO_NAME.sub("_", fn.name)))
    with compiling():
        return _machine(known).emit_assembly(_parsed(text))


def _parsed(text: str) -> llvm.ModuleRef:
    module = llvm.parse_assembly(text)
    module.verify()
    return module


@functools.cache
def _machine(known: Chip) -> llvm.TargetMachine:
    """LLVM's code generator for a chip."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(TRIPLE)
    return target.create_target_machine(cpu=known.name, features=known.features, opt=3)
