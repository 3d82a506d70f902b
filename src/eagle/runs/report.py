"""What a run did: plain data that explains itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from numpy.typing import NDArray

from hawk.kernel import Mathematics

Status: TypeAlias = Literal["ready", "running", "done", "max_steps", "interrupted"]
"""`ready`: not run yet. `running`: on its way. `done`: every sample is. `max_steps`: some samples
stopped at the cap. `interrupted`: Ctrl-C or another exception came before the end."""


@dataclass(frozen=True, repr=False)
class RunReport:
    """What a run over a batch did. Prints as a sentence, compares and pickles."""

    n: int
    """Samples in the batch."""
    finished: int
    """Samples that are done."""
    done: bool
    """Are all of them?"""
    status: Status
    launches: int
    steps: int
    """Steps asked for in all launches together; no sample took more."""
    exact_steps: bool
    """True where some sample took exactly `steps`; otherwise the slowest may have taken fewer."""
    launches_by_k: dict[int, int]
    """How many launches asked for how many steps."""
    max_steps: int
    """The cap of the run."""
    worst: int | None
    """The first sample that is not done; None when all are."""
    compactions: int
    """Times that the live samples were gathered into a map."""
    reorders: int
    """Times that the live samples were moved to the front."""
    mode: str
    """How the steps of a launch were chosen: `steps=1`, `steps=16`, `steps="auto"`, `one pass`."""
    mapped: bool
    """Did a map choose the samples of a launch?"""
    threads: int
    """Most threads that could work on a launch."""
    wall_s: float = field(compare=False)
    """Seconds the run took, from the first launch to the end."""
    build_s: float = field(compare=False)
    """Seconds spent on compiling before it; near 0 when the kernel was there already."""
    math: Mathematics = "portable"
    """That of the kernel: of `"fast"` functions may be off by 4 units in the last place, not 1."""

    @classmethod
    def of(cls, **fields: Any) -> RunReport:
        """A report of these fields; a frozen one sets each by a call, which takes 8 us for all."""
        report = cls.__new__(cls)
        report.__dict__.update(fields)
        return report

    def __str__(self) -> str:
        steps, launches = _count(self.steps, "step"), _count(self.launches, "launch", "es")
        return (
            f"{self._samples()}: {steps if self.exact_steps else f'at most {steps}'} in "
            f"{launches} ({self.mode}), {self.wall_s:.3g} s{self._promise()}"
        )

    def __repr__(self) -> str:
        return f"<RunReport: {self}>"

    def _promise(self) -> str:
        """What of hawk's promises does not hold, by the kernel's own choice."""
        if self.math == "portable":
            return ""
        return f'; math="{self.math}": functions to 4 units in the last place, not 1'

    def _samples(self) -> str:
        """How it ended; what went wrong comes first."""
        some = f"{self.finished:,} of {_count(self.n, 'sample')} done"
        if self.status == "interrupted":
            return f"interrupted with {some}"
        if self.done:
            return {0: "no samples", 1: "1 sample done"}.get(self.n, f"all {self.n:,} samples done")
        if self.status == "running":
            return f"{some} so far"
        return (
            f"{some}, {self.n - self.finished:,} stopped at max_steps={self.max_steps} "
            f"(worst: sample {self.worst})"
        )


def _count(number: int, noun: str, ending: str = "s") -> str:
    return f"{number:,} {noun}{'' if number == 1 else ending}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SimResult:
    """A batch at the end of a run.

    The state planes and outputs are here by attribute and by item, `result.x` and `result["x"]`,
    each an array `(n,)`. State is changed in place: `result.x` is the caller's own array. A Mutable
    that is an object is one here, `result.body.mass`, which is also `result.body_mass`.
    """

    planes: dict[str, NDArray[Any]]
    """State planes, then outputs."""
    finished: NDArray[Any]
    """True where the sample is done: bool `(n,)`."""
    status: Status
    report: RunReport
    allocated: tuple[str, ...] = ()
    """State planes that the caller left out and eagle made."""
    steps_taken: NDArray[Any] | None = None
    """Steps each sample took in this run: int64 `(n,)` with `count_steps=True`, else None."""
    _objects: dict[str, Any] = field(default_factory=dict[str, Any])
    """State and outputs that are objects of a dataclass: their fields are the planes."""

    @property
    def done(self) -> bool:
        """Is every sample done?"""
        return self.report.done

    @property
    def steps(self) -> int:
        """Steps of the sample that took most, as the report counts them."""
        return self.report.steps

    @property
    def n(self) -> int:
        """Samples in the batch."""
        return self.report.n

    def __getitem__(self, name: str) -> Any:
        return self._objects[name] if name in self._objects else self.planes[name]

    def __getattr__(self, name: str) -> Any:
        # Only names that are no field come here; before unpickling there are no fields at all.
        if name in ("planes", "_objects") or name.startswith("__"):
            raise AttributeError(name)
        if name not in self.planes and name not in self._objects:
            there = ", ".join([*self._objects, *self.planes])
            what = f"no plane {name!r}; there are {there}; which samples are done is `finished`"
            raise AttributeError(what)
        return self[name]

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self.planes, *self._objects})

    def __str__(self) -> str:
        return str(self.report)

    def __repr__(self) -> str:
        return f"<SimResult {', '.join(self.planes)}: {self.report}>"
