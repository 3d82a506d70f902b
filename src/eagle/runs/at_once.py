"""A run of one launch, of which nobody wants to hear on its way: what most calls of `simulate` are.

It does what a `Simulation` would, and makes none unless it is interrupted: of a small batch the
steps take less time than the objects that know how to go on.
"""

from __future__ import annotations

from contextlib import suppress
from time import perf_counter
from typing import cast

import numpy as np

from eagle.binding import AnyKernel, as_given, whole_batch
from eagle.devices.base import Loaded
from eagle.devices.host.device import HOST, HostLoaded
from eagle.exact import Fit
from eagle.runs.course import Plan
from eagle.runs.policy import OnePass, describe, is_exact, one_pass_steps
from eagle.runs.report import RunReport, SimResult
from eagle.runs.simulation import Simulation

_ONE_PASS = OnePass()
_MODE = describe(_ONE_PASS)


def at_once(kernel: AnyKernel, fit: Fit, max_steps: int) -> SimResult:
    """Run every sample to its end, or to the cap. An exception has the result so far."""
    begun, mark = perf_counter(), object()
    n, name = fit.n, fit.mask
    assert name is not None
    mask = fit.array(name)
    loaded = _loaded(fit)
    try:
        live = n - int(np.count_nonzero(mask))
        launches: dict[int, int] = {}
        threads = 1
        if live:
            loaded.launch(max_steps, to_end=True, mark=mark)
            outcome = loaded.outcome()
            assert outcome is not None
            finished, longest, _, threads = outcome
            live -= finished
            launches[max_steps if live else one_pass_steps(longest, asked=max_steps)] = 1
        report = RunReport.of(
            n=n,
            finished=n - live,
            done=not live,
            status="max_steps" if live else "done",
            launches=len(launches),
            steps=sum(launches),
            exact_steps=is_exact(launches, live=live),
            launches_by_k=launches,
            max_steps=max_steps,
            worst=int(mask.argmin()) if live else None,
            compactions=0,
            reorders=0,
            mode=_MODE,
            mapped=False,
            threads=threads,
            wall_s=perf_counter() - begun,
            build_s=0.0,
            math=kernel.math,
        )
        objects = kernel.signature.objects(fit.held)
        if type(loaded) is HostLoaded and loaded.release():
            fit.kept[HostLoaded] = loaded
        return SimResult(fit.results, mask, report.status, report, _objects=objects)
    except BaseException as stopped:
        plan = Plan(_ONE_PASS, max_steps=max_steps)
        run = Simulation(as_given(kernel, fit), plan, again=False, loaded=loaded)
        with suppress(AttributeError):  # an exception that takes no attributes
            stopped.result = run.left_off(mark, begun)  # pyright: ignore[reportAttributeAccessIssue]
        raise


def _loaded(fit: Fit) -> Loaded:
    """The kernel and its planes: in the block of a call before that was as large, if it is over."""
    # Of several threads one takes it out, and the others make their own.
    before = cast("HostLoaded | None", fit.kept.pop(HostLoaded, None))
    if before is not None and before.take(fit.planes, fit.words, fit.n):
        return before
    return HOST.load(fit.compiled, fit.planes, fit.words, whole_batch(fit.n))
