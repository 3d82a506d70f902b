"""A batch that runs until each sample is done: the one thing behind all four ways to ask."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import Any, NoReturn, TypeAlias

from eagle.binding import Binding
from eagle.devices.base import Loaded, Turn
from eagle.devices.host.device import HOST
from eagle.errors import Busy
from eagle.runs.batch import Batch, HostBatch, Running
from eagle.runs.counting import STEPS_TAKEN
from eagle.runs.course import Plan
from eagle.runs.policy import describe, total_steps
from eagle.runs.report import RunReport, SimResult, Status
from hawk.annotations import owner
from hawk.ir.nodes import CHANGED

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
        loaded: Loaded | None = None,
    ) -> None:
        """`loaded`: the kernel and its planes, where they were put together already."""
        assert binding.mask is not None
        self._binding, self._plan = binding, plan
        self._on_progress, self._progress = on_progress, progress
        self._batch = _batch(binding, plan, loaded)
        self._turn = Turn()
        self._start = self._batch.copies() if again else {}
        self._status: Status = "ready"
        self._report: RunReport | None = None
        self._course: Running | None = None
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

    @property
    def planes(self) -> dict[str, tuple[Any, bool]]:
        """All arrays of the run, the caller's own where he gave any, and whether it writes them."""
        binding = self._binding
        written = {owner(each.name) for each in binding.compiled.planes if each.role in CHANGED}
        names = dict.fromkeys(map(owner, (*binding.own, *binding.arrays)))
        return {name: (binding.given_back(name), name in written) for name in names}

    @property
    def name(self) -> str:
        """The name of its kernel."""
        return self._binding.kernel.name

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
                self._batch.put_back(name, start)
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
        try:
            course = self._course or self._new_course()
            self._advance(course)
            result = self._result(course, "max_steps" if course.live else "done")
        except BaseException as stopped:
            self._status = "interrupted"
            course = self._course or self._new_course()  # it may have come before there was one
            result = self._result(course, "interrupted")
            with suppress(AttributeError):  # an exception that takes no attributes
                stopped.result = result  # pyright: ignore[reportAttributeAccessIssue]
            raise
        self._course = None
        return result

    def left_off(self, mark: object, begun: float) -> SimResult:
        """What a launch of `mark` did that began at `begun`, and that an exception ended."""
        self._begun = begun
        self._course = self._batch.course(self._plan, mark)
        return self._result(self._course, "interrupted")

    def _new_course(self) -> Running:
        self._batch.count_anew()
        self._seconds = 0.0
        self._course = course = self._batch.course(self._plan)
        return course

    def _advance(self, course: Running) -> None:
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

    def _tell(self, course: Running, on_progress: OnProgress) -> None:
        over = "max_steps" if course.live else "done"
        status: Status = "running" if course.live and not course.is_over else over
        self._binding.give()  # the function may look at the arrays
        on_progress(self._made(course, status))
        self._binding.bring()

    def _result(self, course: Running, status: Status) -> SimResult:
        report = self._made(course, status)
        self._seconds, self._status, self._report = report.wall_s, status, report
        planes, allocated = self._binding.results, self._binding.allocated
        if self._batch.counts_steps:
            del planes[STEPS_TAKEN]
            allocated = tuple(name for name in allocated if name != STEPS_TAKEN)
        finished = self._binding.given_back(self._binding.mask or "")
        # The next run counts in the same array.
        taken = self._batch.steps_taken()
        objects = self._binding.objects
        return SimResult(planes, finished, status, report, allocated, taken, objects)

    def _made(self, course: Running, status: Status) -> RunReport:
        """What the course did until now."""
        launches_by_k, exact = course.counted()
        # A launch that was interrupted is not counted, but its samples may be done.
        live = self._live() if status == "interrupted" else course.live
        steps = total_steps(launches_by_k)
        if self._batch.counts_steps:
            steps, exact = self._batch.most_steps(), True
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
            worst=self._batch.worst() if live else None,
            compactions=course.compactions,
            reorders=0,
            mode=describe(self._plan.policy),
            mapped=course.mapped,
            threads=course.threads,
            wall_s=self._seconds + perf_counter() - self._begun,
            build_s=self._batch.build_seconds,
            math=self._binding.kernel.math,
        )

    def _live(self) -> int:
        return self._batch.live()


def _batch(binding: Binding, plan: Plan, loaded: Loaded | None) -> Batch:
    """The arrays of a run; `loaded`: with their kernel, where they were put together already."""
    if binding.device is HOST:
        return HostBatch(binding, binding.load() if loaded is None else loaded)
    from eagle.runs.on_device import DeviceBatch  # for those who have one

    return DeviceBatch(binding, plan)
