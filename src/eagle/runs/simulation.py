"""A batch that runs until each sample is done: the one thing behind all four ways to ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, partial
from operator import index
from time import perf_counter
from typing import Any, NamedTuple, NoReturn, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eagle.binding import AnyKernel, Binding, Door, bind
from eagle.deploy import Deployed, as_kernel, both_given
from eagle.devices.base import Turn
from eagle.errors import Busy
from eagle.params import shown, whole
from eagle.runs.counting import STEPS_TAKEN, counting
from eagle.runs.course import Course, Plan
from eagle.runs.policy import OnePass, describe, policy_for, total_steps
from eagle.runs.report import RunReport, SimResult, Status
from hawk.ir.nodes import CHANGED, Role

LARGEST = 2**63 - 1

OnProgress: TypeAlias = "Callable[[RunReport], object]"


class Simulation:
    """A kernel with its arrays and a cap, to run and run again.

    Made by `simulation` (one pass) and `until_done` (launch by launch). Raises `Busy` when two
    threads use it at once.
    """

    def __init__(
        self,
        binding: Binding,
        plan: Plan,
        *,
        again: bool,
        on_progress: OnProgress | None = None,
        progress: bool = False,
    ) -> None:
        assert binding.mask is not None
        self._binding, self._plan = binding, plan
        self._on_progress, self._progress = on_progress, progress
        self._loaded = binding.load()
        self._mask = binding.arrays[binding.mask]
        self._steps_taken = binding.arrays.get(STEPS_TAKEN)
        self._turn = Turn()
        self._start = _written(binding) if again else {}
        self._status: Status = "ready"
        self._report: RunReport | None = None
        self._course: Course | None = None
        """A run that is on its way, or was interrupted."""
        self._begun = self._seconds = 0.0
        """When `run` was called, and the seconds that the same run took before that."""

    @property
    def n(self) -> int:
        """Samples in the batch."""
        return self._binding.n

    @property
    def status(self) -> Status:
        """How the last run ended: `"done"`, `"max_steps"`, `"interrupted"`; `"ready"` before it."""
        return self._status

    @property
    def report(self) -> RunReport | None:
        """What the last run did; None before the first."""
        return self._report

    def run(self) -> SimResult:
        """Run until every sample is done, or has taken `max_steps` steps in this run.

        Samples that are done stay as they are. After a run that stopped at the cap another one
        goes on from there.

        Ctrl-C raises KeyboardInterrupt within 0.2 s, when every sample holds a whole number of
        steps; so does any exception that a signal handler or `on_progress` raises. It carries the
        SimResult so far as `result`, and `run` goes on with the same run: no sample takes more than
        `max_steps` in all of it, and it ends in the bits of a run that was not interrupted.
        """
        mine, turn = object(), self._turn
        try:
            if not turn.take(mine):
                raise self._busy()
            if not self._binding.careful:
                return self._run()
            with self._binding.watched():
                return self._run()
        finally:
            if turn.holder is mine:
                turn.holder = None

    def reset(self) -> None:
        """Put everything that runs change back to what it was when the simulation was made."""
        mine, turn = object(), self._turn
        try:
            if not turn.take(mine):
                raise self._busy()
            self._course = None
            for name, start in self._start.items():
                self._binding.arrays[name][...] = start
            self._binding.give()
            self._status, self._report = "ready", None
        finally:
            if turn.holder is mine:
                turn.holder = None

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Simulation belongs to arrays of this process and cannot be pickled; "
            f"send {self._binding.kernel.name}, the arrays and max_steps, and make it there"
        )

    def __repr__(self) -> str:
        return f"<Simulation of {self._binding.kernel.name}, n={self.n}: {self._status}>"

    def _busy(self) -> Busy:
        name = self._binding.kernel.name
        return Busy(f"this Simulation of {name} is being used by another thread")

    # -- a run -----------------------------------------------------------------------------------

    def _run(self) -> SimResult:
        self._begun = perf_counter()
        course = self._course or self._new_course()
        try:
            self._advance(course)
            result = self._result(course, "max_steps" if course.live else "done")
        except BaseException as stopped:
            self._status = "interrupted"
            result = self._result(course, "interrupted")
            with suppress(AttributeError):  # an exception that takes no attributes
                stopped.result = result  # pyright: ignore[reportAttributeAccessIssue]
            raise
        self._course = None
        return result

    def _new_course(self) -> Course:
        if self._steps_taken is not None:
            self._steps_taken[...] = 0
        self._seconds = 0.0
        self._course = Course(self._plan, self._loaded, np.atleast_1d(self._mask))
        return self._course

    def _advance(self, course: Course) -> None:
        if self._on_progress is None and not self._progress:
            course.advance()
            return
        tell = None if self._on_progress is None else partial(self._tell, course, self._on_progress)
        if not self._progress:
            course.advance(tell=tell)
            return
        from eagle.runs.progress import display

        shown = display(self._binding.kernel.name, self.n)
        try:
            course.advance(
                each=lambda: shown.show(self.n - course.live),
                tell=tell,
                watch=lambda finished: shown.show(self.n - course.live + finished),
            )
        finally:
            shown.close(self.n - self._live())

    def _tell(self, course: Course, on_progress: OnProgress) -> None:
        over = "max_steps" if course.live else "done"
        status: Status = "running" if course.live and not course.is_over else over
        self._binding.give()  # the function may look at the arrays
        on_progress(self._made(course, status))
        self._binding.bring()

    def _result(self, course: Course, status: Status) -> SimResult:
        report = self._made(course, status)
        self._seconds, self._status, self._report = report.wall_s, status, report
        planes, allocated = self._binding.results, self._binding.allocated
        if self._steps_taken is not None:
            del planes[STEPS_TAKEN]
            allocated = tuple(name for name in allocated if name != STEPS_TAKEN)
        finished = self._binding.given_back(self._binding.mask or "")
        return SimResult(planes, finished, status, report, allocated, self._steps_taken)

    def _made(self, course: Course, status: Status) -> RunReport:
        """What the course did until now."""
        launches_by_k, exact = course.counted()
        # A launch that was interrupted is not counted, but its samples may be done.
        live = self._live() if status == "interrupted" else course.live
        steps = total_steps(launches_by_k)
        if self._steps_taken is not None:
            steps, exact = int(self._steps_taken.max(initial=0)), True
        n = self.n
        return RunReport.of(
            n=n,
            finished=n - live,
            done=not live,
            status=status,
            launches=sum(launches_by_k.values()),
            steps=steps,
            exact_steps=exact,
            launches_by_k=launches_by_k,
            max_steps=self._plan.max_steps,
            worst=int(self._mask.argmin()) if live else None,
            compactions=course.compactions,
            reorders=0,
            mode=describe(self._plan.policy),
            mapped=course.mapped,
            threads=course.threads,
            wall_s=self._seconds + perf_counter() - self._begun,
            build_s=self._binding.build_seconds,
        )

    def _live(self) -> int:
        return self.n - int(np.count_nonzero(self._mask))


def _written(binding: Binding) -> dict[str, NDArray[Any]]:
    """Copies of the planes that launches write."""
    names = [slot.name for slot in binding.compiled.planes if slot.role in CHANGED]
    return {name: binding.arrays[name].copy() for name in names}


# -- the four ways to ask for it -------------------------------------------------------------------


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
    Ctrl-C raises KeyboardInterrupt within 0.2 s, with the result so far as its `result`; see
    `Simulation.run`.
    """
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
