"""LLVM's module of a text, in a context of its own: all that LLVM makes for it goes with it."""

from __future__ import annotations

import llvmlite.binding as llvm


def parsed(text: str) -> llvm.ModuleRef:
    """The module, verified. Raises RuntimeError for what is no module.

    LLVM keeps each constant and each type that it has seen for as long as the context lives. In the
    context of the process, which is there by default, 400 vector constants would stay as 200 KB.
    """
    module = llvm.parse_assembly(text, llvm.create_context())
    module.verify()
    return module
