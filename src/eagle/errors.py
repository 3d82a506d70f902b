"""What eagle says when a call cannot be done as asked."""

from __future__ import annotations

import sys


class BindError(ValueError):
    """Arrays and numbers that do not fit the kernel they were given to.

    Everything that is wrong is in one message, one line a problem, and no array was touched.
    `door` is the call that was made, `kernel` the kernel's name, `problems` the sentences.
    """

    def __init__(self, door: str, kernel: str, problems: tuple[str, ...]) -> None:
        super().__init__(door, kernel, problems)
        self.door, self.kernel, self.problems = door, kernel, problems

    def __str__(self) -> str:
        if len(self.problems) == 1:
            return f"{self.door}: {self.problems[0]}"
        head = f"{self.door}: {len(self.problems)} problems with the arguments of {self.kernel}"
        return "\n  ".join((head, *self.problems))


BindError.__module__ = "eagle"  # where users find it, and what a traceback should say


class Busy(RuntimeError):
    """One `Simulation` or `Bound` was used by two threads at once.

    Its arrays would have been changed by both. Bind once for each thread; a kernel and a `Deployed`
    can be shared.
    """


class DeviceError(RuntimeError):
    """A GPU, or what is needed to use one, is not there or does not do what it was asked for."""


class PerformanceWarning(UserWarning):
    """Something was done that costs more than it needs to; the message says how to avoid it."""


class LayoutWarning(PerformanceWarning):
    """An array whose samples are its first axis is copied before and after each launch."""


Busy.__module__ = DeviceError.__module__ = PerformanceWarning.__module__ = (
    LayoutWarning.__module__
) = "eagle"


def user_level() -> int:
    """The stack level of the first frame outside of us, for a warning from our caller."""
    level, frame = 1, sys._getframe(1)  # noqa: SLF001 - the public way is in Python 3.12
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in _OURS:
        level, frame = level + 1, frame.f_back
    return level


_OURS = ("eagle", "hawk")
