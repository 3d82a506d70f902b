"""Lists, tuples and dicts in a kernel: they exist only while it is traced."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from hawk.errors import HawkError
from hawk.frontend.frame import Frame
from hawk.frontend.known import by_python
from hawk.frontend.lookup import plain
from hawk.frontend.templates import describe
from hawk.frontend.values import Closure, NeedsKnown, Range, Scalar, is_known, leaves

if TYPE_CHECKING:
    from hawk.frontend.expressions import Expressions


class Containers:
    """Evaluates containers and their elements."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions
        self.domain, self.numbers = expressions.domain, expressions.numbers
        self.made: dict[int, tuple[Any, int]] = {}
        """Lists and dicts made while walking, with the depth they were made at."""

    def new(self, container: Any) -> Any:
        if isinstance(container, (list, dict)):
            self.made[id(container)] = (container, self.domain.depth)
        return container

    def changing(self, frame: Frame, container: Any, node: ast.AST) -> None:
        """Check that a list or dict may be changed here. Raises HawkError."""
        made = self.made.get(id(container))
        if made is None:
            what = "this list comes from outside the kernel and must not change"
            raise HawkError("H308", what, frame.loc(node), "list(...) of it")
        if made[1] != self.domain.depth:
            what = "a list changes here on one path, or in one pass of a loop, only"
            raise NeedsKnown("H212", what, frame.loc(node), "a name for each element")

    def from_pairs(self, frame: Frame, node: ast.Dict) -> Any:
        pairs: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                pairs.update(self.expressions.evaluate(frame, value))
                continue
            known = self.expressions.evaluate(frame, key)
            if not is_known(known):
                raise NeedsKnown("H212", "a key of a dict must be known", frame.loc(key))
            pairs[known] = self.expressions.evaluate(frame, value)
        return self.new(pairs)

    def comprehension(
        self, frame: Frame, generators: list[ast.comprehension], parts: list[ast.expr]
    ) -> list[Any]:
        """The elements of a comprehension, written out one after the other."""
        results: list[Any] = []
        targets = {n.id for g in generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        outside = {name: frame.names[name] for name in targets if name in frame.names}

        def run(place: int) -> None:
            if place == len(generators):
                values = [self.expressions.evaluate(frame, part) for part in parts]
                results.append(values[0] if len(values) == 1 else tuple(values))
                return
            generator = generators[place]
            sequence = self.domain.iterate(
                frame, self.expressions.evaluate(frame, generator.iter), generator.iter
            )
            if isinstance(sequence, Range):
                what = "a comprehension has a known number of elements"
                raise NeedsKnown("H404", what, frame.loc(generator.iter))
            for element in sequence:
                if isinstance(sequence, range):
                    element = self.domain.counter(element)  # noqa: PLW2901
                self.domain.walker.bind(frame, generator.target, element)
                if all(self._keeps(frame, test) for test in generator.ifs):
                    run(place + 1)

        run(0)
        for name in targets:
            frame.names.pop(name, None)
        frame.names.update(outside)
        return results

    def _keeps(self, frame: Frame, test: ast.expr) -> bool:
        truth = self.domain.truth(frame, self.expressions.evaluate(frame, test), test)
        if isinstance(truth, bool):
            return truth
        what = "how many elements a comprehension has must be known"
        raise NeedsKnown("H404", what, frame.loc(test))

    def subscript(self, frame: Frame, node: ast.Subscript) -> Any:
        owner = self.expressions.evaluate(frame, node.value)
        if isinstance(owner, (Scalar, Range, Closure)):
            what = f"`{frame.source.text(node.value)}` is {describe(self.numbers, owner)}"
            raise HawkError("H201", what + " and has no elements", frame.loc(node))
        key = self.index(frame, node.slice)
        size = f", of {len(owner)} elements" if hasattr(owner, "__len__") else ""
        part = by_python(lambda: owner[key], frame.loc(node), doing=size)
        return self.new(part) if isinstance(key, slice) else plain(part, frame.loc(node))

    def index(self, frame: Frame, node: ast.expr) -> Any:
        """A key that is known now; a number of the program if it is known too."""
        return self.as_index(frame, self.expressions.evaluate(frame, node), node)

    def as_index(self, frame: Frame, value: Any, node: ast.AST) -> Any:
        if isinstance(value, Scalar):
            if value.number is not None:
                return value.number
        elif is_known(value):
            return value
        elif isinstance(value, (tuple, slice)) and all(
            not isinstance(part, Scalar) or part.number is not None for part in leaves(value)
        ):
            parts = value if isinstance(value, tuple) else (value.start, value.stop, value.step)
            known = [part.number if isinstance(part, Scalar) else part for part in parts]
            return type(value)(*known) if isinstance(value, slice) else tuple(known)
        text = frame.source.text(node)
        what = f"`{text}` picks an element while the kernel is traced, so it must be known by then"
        raise NeedsKnown("H212", what, frame.loc(node), "a loop whose bounds are known")

    def store(self, frame: Frame, target: ast.expr, value: Any) -> None:
        """Assign to an element of a list or dict made in the kernel."""
        if not isinstance(target, ast.Subscript):
            what = f"`{frame.source.text(target)}` is not a local name; a step changes only its own"
            raise HawkError("H308", what, frame.loc(target), "a Mutable parameter")
        owner = self.expressions.evaluate(frame, target.value)
        if not isinstance(owner, (list, dict)):
            what = f"an element of {describe(self.numbers, owner)} cannot be assigned"
            raise HawkError("H308", what, frame.loc(target))
        self.changing(frame, owner, target)
        key = self.index(frame, target.slice)
        by_python(lambda: owner.__setitem__(key, value), frame.loc(target))
