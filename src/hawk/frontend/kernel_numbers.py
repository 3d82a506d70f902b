"""The numbers of a kernel while it is traced: values of the program that a builder writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hawk.frontend.arithmetic import Arithmetic
from hawk.frontend.debug import HAWK
from hawk.frontend.events import OF_GRID, Event, Watch
from hawk.frontend.operators import Kind, Literal, literal
from hawk.frontend.values import Scalar
from hawk.ir.builder import Builder
from hawk.ir.hidden import (
    dimension_name,
    dimension_plane,
    extent_name,
    extent_plane,
    place_plane,
    whole_name,
    whole_plane,
)
from hawk.ir.nodes import Block, Plane
from hawk.ir.types import DType

_SAME = {f"to_{dtype.value}": dtype for dtype in DType}


class KernelNumbers(Arithmetic):
    """Arithmetic that appends operations to a program.

    `name` is the user's name of the next result, if it gets one; for printing only.
    """

    __slots__ = ("as_long", "builder", "fast", "hidden", "name", "real", "watch")

    def __init__(
        self, builder: Builder, real: DType, watch: Watch | None = None, *, fast: bool = False
    ) -> None:
        self.builder, self.real, self.watch, self.fast = builder, real, watch, fast
        self.name = ""
        self.hidden: dict[str, Plane] = {}
        """Planes that nobody passes, which the program reads."""
        self.as_long: dict[tuple[str, str], None] = {}
        """Pairs of tables that have to have as many elements."""

    def is_number(self, value: object) -> bool:
        return isinstance(value, Scalar)

    def kind(self, value: Any) -> Kind:
        if isinstance(value, Scalar):
            return Literal.INT if value.free else value.value.dtype
        return literal(value)

    def emit(self, op: str, *values: Any, free: bool = False) -> Scalar:
        if _SAME.get(op) is values[0].value.dtype:
            return Scalar(values[0].value)
        if self.watch is not None:
            self.watch.operation(op, values)
        name = "" if op in _SAME else self.name
        result = self.builder.apply(op, *[value.value for value in values], name=name)
        if name:
            self.name = ""
        return Scalar(result, free)

    def constant(self, number: Any, dtype: DType, *, free: bool = False) -> Scalar:
        return Scalar(self.builder.const(number, dtype), free)

    def known(self, value: Any) -> Any:
        return value.number

    def where(
        self, test: Any, then: Callable[[], tuple[Any, ...]], orelse: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        if self.known(test) is not None:
            return then() if self.known(test) else orelse
        with self.builder.block() as items:
            values = then()
        taken = Block(tuple(items), tuple(value.value for value in values))
        other = Block((), tuple(value.value for value in orelse))
        return tuple(
            Scalar(result) for result in self.builder.branch(test.value, taken, other, rare=True)
        )

    def repeat(
        self,
        carried: tuple[Any, ...],
        test: Callable[..., Any],
        body: Callable[..., tuple[Any, ...]],
    ) -> tuple[Any, ...]:
        blocks: list[Block] = []
        for part in (test, body):
            params = tuple(self.builder.param(each.value.dtype) for each in carried)
            with self.builder.block() as items:
                ends = part(*[Scalar(param) for param in params])
            ends = ends if isinstance(ends, tuple) else (ends,)
            blocks.append(Block(tuple(items), tuple(end.value for end in ends), params))
        results = self.builder.loop([each.value for each in carried], *blocks)
        return tuple(Scalar(result) for result in results)

    def alike(self, table: str, other: str) -> None:
        self.as_long[_plane(table), _plane(other)] = None

    def place(self, name: str) -> Scalar:
        plane = self.hidden.setdefault(name, place_plane(name))
        assert plane.read is not None
        return Scalar(plane.read)

    def extent(self, table: str, axis: int) -> Scalar:
        table = _plane(table)
        plane = self.hidden.setdefault(extent_name(table, axis), extent_plane(table, axis))
        assert plane.read is not None
        return Scalar(plane.read)

    def dimension(self, axis: str) -> Scalar:
        plane = self.hidden.setdefault(dimension_name(axis), dimension_plane(axis))
        assert plane.read is not None
        return Scalar(plane.read)

    def whole(self, grid: str, dtype: DType) -> Scalar:
        grid = _plane(grid)
        plane = self.hidden.setdefault(whole_name(grid), whole_plane(grid, dtype))
        assert plane.read is not None
        return Scalar(plane.read)

    def beyond_grid(
        self, grid: str, axis: int | None, index: Any, beyond: Callable[[], Any]
    ) -> None:
        if self.watch is not None and not self.builder.loc.file.startswith(HAWK):
            along = "" if axis is None or self.grid is None else f" along {self.grid.axes[axis]}"
            text = f"{OF_GRID} `{grid}`{along}"
            self.watch.note(Event.OUTSIDE, beyond(), self.builder.loc, text)

    def beyond_table(self, table: str, axis: int, index: Any, beyond: Callable[[], Any]) -> None:
        if self.watch is not None and not self.builder.loc.file.startswith(HAWK):
            text = f"an index of `{table}`" + (f" along axis {axis}" if axis else "")
            self.watch.note(Event.OUTSIDE, beyond(), self.builder.loc, text)

    @contextmanager
    def aside(self) -> Iterator[None]:
        name, self.name = self.name, ""
        try:
            yield
        finally:
            self.name = name

    @contextmanager
    def unwatched(self) -> Iterator[None]:
        watch, self.watch = self.watch, None
        name, self.name = self.name, ""
        try:
            yield
        finally:
            self.watch, self.name = watch, name

    def terms(
        self, dtype: DType, first: Any, second: Any, added: Any, signs: str
    ) -> tuple[Any, ...]:
        name, self.name = self.name, ""  # the user's name is that of the sum
        values = super().terms(dtype, first, second, added, signs)
        self.name = name
        return values


def _plane(name: str) -> str:
    """The plane that a kernel calls so: `air_height` for `air.height`."""
    return name.replace(".", "_")
