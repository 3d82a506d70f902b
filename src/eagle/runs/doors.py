"""The four ways to ask for a run, and what is wrong with what was asked."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from operator import index
from typing import NamedTuple, SupportsIndex

import numpy as np

from eagle.binder import bind
from eagle.binding import AnyKernel, Door
from eagle.deploy import Deployed, as_kernel, both_given, refuse_threads
from eagle.exact import exact
from eagle.params import shown, whole
from eagle.runs.at_once import at_once
from eagle.runs.counting import counting
from eagle.runs.course import Plan
from eagle.runs.policy import OnePass, policy_for
from eagle.runs.report import RunReport, SimResult
from eagle.runs.simulation import OnProgress, Simulation
from hawk.ir.nodes import Role
from hawk.kernel import Kernel

LARGEST = 2**63 - 1


def simulate(
    kernel: AnyKernel | Deployed,
    /,
    *,
    max_steps: SupportsIndex,
    n: SupportsIndex | None = None,
    threads: SupportsIndex | None = None,
    out: object = None,
    buffer: object = None,
    every: SupportsIndex | None = None,
    on_progress: OnProgress | None = None,
    progress: bool = False,
    count_steps: bool = False,
    layout: object = None,
    **planes: object,
) -> SimResult:
    """Run a batch until each sample is done, all in one launch.

    `planes` are the kernel's planes by name: arrays `(n,)` of the kernel's types, contiguous, and
    numbers for each `Param`. State is changed in place; what is never read before it is written
    may be left out. No sample takes more than `max_steps` steps, from 1 to 2**63-1; those that
    would keep their state there, and the result's status is `"max_steps"`. `out`, also called
    `buffer`, takes arrays for what the kernel returns. `n` is the number of samples where no array
    tells. `threads` bounds the threads that work on it.

    `every=N` takes all samples N steps further, then calls `on_progress` with a RunReport, and so
    on until the end, which it is told too. `progress=True` shows how many samples are done, at
    5 pictures a second. `count_steps=True` counts the steps of each sample, as
    `result.steps_taken`, and makes `report.steps` exact.

    Nothing is copied or converted, but for small arrays with the samples first (LayoutWarning):
    BindError says all that does not fit before anything is written. `layout`, `"samples_first"` or
    `"samples_last"`, or a dict that says it by plane, is for arrays whose shape reads both ways.
    Arrays on a GPU run there, in launches that the GPU makes by itself; `threads` is not for them.
    Ctrl-C raises KeyboardInterrupt within 0.2 s, with the result so far as its `result`; see
    `Simulation.run`.
    """
    if (
        type(kernel) is Kernel
        and type(max_steps) is int
        and 1 <= max_steps <= LARGEST
        and n is threads is out is buffer is every is on_progress is layout is None
        and progress is count_steps is False
    ):
        fit = exact(kernel, planes)
        if fit is not None and fit.mask is not None:
            return at_once(kernel, fit, max_steps)
    options = _Options("eagle.simulate", max_steps, n, threads, out, buffer, layout)
    told = _Told(every, on_progress, progress, count_steps)
    return _simulation(kernel, options, told, planes, one_pass=True, again=False).run()


def simulation(
    kernel: AnyKernel | Deployed,
    /,
    *,
    max_steps: SupportsIndex,
    n: SupportsIndex | None = None,
    threads: SupportsIndex | None = None,
    out: object = None,
    buffer: object = None,
    every: SupportsIndex | None = None,
    on_progress: OnProgress | None = None,
    progress: bool = False,
    count_steps: bool = False,
    layout: object = None,
    **planes: object,
) -> Simulation:
    """What `simulate` would run, to be run with `.run()`, put back with `.reset()`, run again."""
    options = _Options("eagle.simulation", max_steps, n, threads, out, buffer, layout)
    told = _Told(every, on_progress, progress, count_steps)
    return _simulation(kernel, options, told, planes, one_pass=True, again=True)


def run_until_done(
    kernel: Deployed | AnyKernel,
    /,
    *,
    max_steps: SupportsIndex,
    n: SupportsIndex | None = None,
    threads: SupportsIndex | None = None,
    out: object = None,
    buffer: object = None,
    every: SupportsIndex | None = None,
    on_progress: OnProgress | None = None,
    progress: bool = False,
    count_steps: bool = False,
    layout: object = None,
    **planes: object,
) -> RunReport:
    """Launch a kernel until each sample is done; say how many launches of how many steps it took.

    One launch takes what the kernel's `steps=` says, the last one what is left of `max_steps`, and
    with `every=N` none goes past a multiple of N. Everything else is as in `simulate`; an exception
    has the report so far as its `result`.
    """
    options = _Options("eagle.run_until_done", max_steps, n, threads, out, buffer, layout)
    told = _Told(every, on_progress, progress, count_steps)
    simulation = _simulation(kernel, options, told, planes, one_pass=False, again=False)
    try:
        return simulation.run().report
    except BaseException as stopped:
        result = getattr(stopped, "result", None)
        if isinstance(result, SimResult):
            stopped.result = result.report  # pyright: ignore[reportAttributeAccessIssue]
        raise


def until_done(
    kernel: Deployed | AnyKernel,
    /,
    *,
    max_steps: SupportsIndex,
    n: SupportsIndex | None = None,
    threads: SupportsIndex | None = None,
    out: object = None,
    buffer: object = None,
    every: SupportsIndex | None = None,
    on_progress: OnProgress | None = None,
    progress: bool = False,
    count_steps: bool = False,
    layout: object = None,
    **planes: object,
) -> Simulation:
    """What `run_until_done` would run, to be run with `.run()`, put back with `.reset()`."""
    options = _Options("eagle.until_done", max_steps, n, threads, out, buffer, layout)
    told = _Told(every, on_progress, progress, count_steps)
    return _simulation(kernel, options, told, planes, one_pass=False, again=True)


class _Options(NamedTuple):
    """What all four take besides the kernel and its planes."""

    door: str
    max_steps: SupportsIndex
    n: SupportsIndex | None
    threads: SupportsIndex | None
    out: object
    buffer: object
    layout: object


class _Told(NamedTuple):
    """What is wanted to be known of a run."""

    every: SupportsIndex | None
    on_progress: OnProgress | None
    progress: bool
    count_steps: bool


_door = cache(Door)
_NOTHING_TOLD = _Told(None, None, progress=False, count_steps=False)


def _simulation(
    given: AnyKernel | Deployed,
    options: _Options,
    told: _Told,
    planes: Mapping[str, object],
    *,
    one_pass: bool,
    again: bool,
) -> Simulation:
    kernel = as_kernel(given, options.door)
    problems = [*_never_finishes(kernel), *_out_of_range("max_steps", options.max_steps)]
    if options.threads is not None:
        problems += _out_of_range("threads", options.threads)
    problems += both_given(options.out, options.buffer)
    if told != _NOTHING_TOLD:
        problems += _wrongly_told(told)
    binding = bind(
        counting(kernel) if told.count_steps else kernel,
        door=_door(options.door),
        planes=planes,
        n=options.n,
        out=options.buffer if options.out is None else options.out,
        problems=problems,
        layout=options.layout,
    )
    if options.threads is not None:
        refuse_threads(binding, _door(options.door))
    plan = Plan(
        OnePass() if one_pass else policy_for(kernel.steps, largest=kernel.steps_max),
        max_steps=index(options.max_steps),
        threads=None if options.threads is None else index(options.threads),
        every=None if told.every is None else index(told.every),
    )
    return Simulation(
        binding, plan, again=again, on_progress=told.on_progress, progress=told.progress
    )


def _never_finishes(kernel: AnyKernel) -> list[str]:
    if Role.MASK in [parameter.role for parameter in kernel.parameters]:
        return []
    message = (
        f"{kernel.name} never finishes a sample; write `terminated: Terminated` in its signature "
        "and `terminated = ...` in its body, where it is known whether the sample is done "
        f"(for a fixed number of steps: hawk.steps({kernel.name}, 1000)(...))"
    )
    return [message]


def _out_of_range(name: str, number: SupportsIndex) -> list[str]:
    parsed = whole(number)
    if parsed is not None and 1 <= parsed <= LARGEST:
        return []
    fix = f"{name}={_EXAMPLES[name]}"
    if isinstance(number, (float, np.floating)) and number.is_integer() and 1 <= number < LARGEST:
        fix = f"{name}=int({name})"
    return [
        f"{name!r}: expected a whole number from 1 to 2**63-1, got {shown(number)}; write {fix}"
    ]


_EXAMPLES = {"max_steps": "1_000_000", "threads": "1", "every": "1_000"}


def _wrongly_told(told: _Told) -> list[str]:
    problems = [] if told.every is None else _out_of_range("every", told.every)
    if told.on_progress is not None and not callable(told.on_progress):
        problems.append(f"'on_progress': expected a function, got {shown(told.on_progress)}")
    elif told.on_progress is not None and told.every is None:
        problems.append("'on_progress': say how often; write every=1000, steps between two calls")
    for name in ("progress", "count_steps"):
        value = getattr(told, name)
        if not isinstance(value, (bool, np.bool)):
            problems.append(f"{name!r}: expected True or False, got {shown(value)}")
    return problems
