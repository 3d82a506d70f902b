"""The numbers of a kernel while it is traced: values of the program that a builder writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hawk.frontend.arithmetic import Arithmetic
from hawk.frontend.events import Watch
from hawk.frontend.operators import Kind, Literal, literal
from hawk.frontend.values import Scalar
from hawk.ir.builder import Builder
from hawk.ir.nodes import Block
from hawk.ir.types import DType

_SAME = {f"to_{dtype.value}": dtype for dtype in DType}


class KernelNumbers(Arithmetic):
    """Arithmetic that appends operations to a program.

    `name` is the user's name of the next result, if it gets one; for printing only.
    """

    __slots__ = ("builder", "name", "real", "watch")

    def __init__(self, builder: Builder, real: DType, watch: Watch | None = None) -> None:
        self.builder, self.real, self.watch = builder, real, watch
        self.name = ""

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
