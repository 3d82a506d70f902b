"""Who writes down what is called while a builder of a graph is read, on this thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from hawk.kernel import Kernel


class Recorder(Protocol):
    """What a call of a kernel needs to know of a graph that is being built."""

    def call(
        self,
        kernel: Kernel[..., Any],
        args: Sequence[object],
        planes: Mapping[str, object],
        **options: Any,
    ) -> Any:
        """Write the call down as a node; what it returns stands for what the kernel returns."""
        ...


_here = threading.local()


def recorder() -> Recorder | None:
    """Who is writing down, on this thread; None where calls are just calls."""
    return getattr(_here, "recorder", None)


@contextmanager
def recording(who: Recorder | None) -> Iterator[None]:
    """Let `who` write down what is called inside `with`."""
    before = recorder()
    _here.recorder = who
    try:
        yield
    finally:
        _here.recorder = before
