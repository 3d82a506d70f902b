"""Native code of a traced program, from the cache where it is there."""

from __future__ import annotations

import time
from dataclasses import replace

from hawk.cache import LOADED
from hawk.ir.nodes import Function
from hawk.targets.base import Compiled, Image


def native_code(fn: Function, *, name: str, file: str, way: str, lone: bool = False) -> Compiled:
    """The code of `fn`, which has not been through the passes.

    `name` and `file` tell people what it is; `way` says which of the ways to compile it this is:
    its float width, what is one number for all samples. `lone`: advance one sample at a time.
    """
    # llvmlite takes 30 ms to load, so it waits until something is compiled, and the cache with it.
    from hawk.cache.lookup import Wanted, shared
    from hawk.ir.printer import to_text
    from hawk.targets.cpu.link import load
    from hawk.targets.cpu.machine import host, versions

    def make() -> Image:
        # What is in the cache needs neither passes nor emitter.
        from hawk.passes.pipeline import optimise
        from hawk.targets.cpu.compile import build
        from hawk.targets.cpu.width import variant

        best = optimise(fn)
        return build(best, variant=variant(best, host(), 1, 1) if lone else None)

    started = time.perf_counter()
    wanted = Wanted(
        kernel=name,
        file=file,
        program=to_text(replace(fn, name=""), locations=False, names=False),
        variant=f"{way}{', one sample at a time' * lone}",
        machine=host().identity,
        versions=versions(),
    )
    compiled, cached = shared(LOADED).get_or_make(wanted, make, load)
    return replace(compiled, cached=cached, build_seconds=time.perf_counter() - started)
