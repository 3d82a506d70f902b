"""What stands for CuPy in tests: it works on a current stream, by the driver, as CuPy does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

Launch = Callable[[int, Any, float], None]
"""Add a number to an array, on a stream."""


class FakeCupy:
    """The module. `add` is how it launches, `wait` how it waits for a stream."""

    def __init__(self, add: Launch, wait: Callable[[int], None]) -> None:
        self._add, self._wait = add, wait
        self.stream, self.allocators = 0, list[Any]()
        self.waits = False
        """Is a test's function to wait?"""
        self.pools: list[Any] = []
        self.cuda = SimpleNamespace(
            get_current_stream=lambda: SimpleNamespace(ptr=self.stream),
            MemoryPool=self._pool,
            Device=self._device,
            using_allocator=self._using,
            ExternalStream=self.on,
        )

    def add(self, x: Any, number: float) -> None:
        """Add a number to all of `x`, on the current stream."""
        self._add(self.stream, x, number)

    def wait(self) -> None:
        """Wait for the current stream, as whoever reads a number does."""
        self._wait(self.stream)

    @contextmanager
    def on(self, stream: int) -> Iterator[None]:
        before, self.stream = self.stream, stream
        try:
            yield
        finally:
            self.stream = before

    def _pool(self) -> Any:
        pool = Pool()
        self.pools.append(pool)
        return pool

    @contextmanager
    def _device(self, number: int) -> Iterator[None]:
        assert number == 0
        yield

    @contextmanager
    def _using(self, allocator: Any) -> Iterator[None]:
        self.allocators.append(allocator)
        try:
            yield
        finally:
            self.allocators.pop()


class Pool:
    """A memory pool."""

    def malloc(self, size: int) -> int:
        return size
