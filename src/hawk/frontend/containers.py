"""Lists, tuples and dicts in a kernel: they exist only while it is traced."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from hawk.edits import Edit, filled
from hawk.errors import Fix, HawkError
from hawk.frontend import grids, tables
from hawk.frontend.frame import Frame
from hawk.frontend.instances import Fields, Instance
from hawk.frontend.known import by_python
from hawk.frontend.lookup import plain
from hawk.frontend.loops import short_enough
from hawk.frontend.small_arrays import SmallArray
from hawk.frontend.source import Source, nearest
from hawk.frontend.suggestions import elements, indices_of
from hawk.frontend.templates import describe
from hawk.frontend.values import (
    VIEWS,
    Closure,
    GridScalar,
    NeedsKnown,
    Range,
    Scalar,
    Spot,
    Spots,
    Stream,
    TableView,
    is_known,
    known_of,
    leaves,
)

if TYPE_CHECKING:
    from hawk.frontend.expressions import Expressions


class Containers:
    """Evaluates containers and their elements."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions
        self.domain, self.numbers = expressions.domain, expressions.numbers
        self.made: dict[int, tuple[Any, object | None]] = {}
        """Lists and dicts made while walking, with the home of the region they were made in."""
        self.met: dict[int, Any] = {}
        """Lists and dicts that stand for one of several, where paths met."""

    def new(self, container: Any) -> Any:
        if isinstance(container, (list, dict)):
            self.made[id(container)] = (container, self.domain.region.home)
        return container

    def meet(self, value: Any, *, apart: bool = False) -> None:
        """Note the lists and dicts in a value that was made where paths met.

        `apart`: it is that of one path, as the others see it.
        """
        if isinstance(value, (list, dict)) and id(value) not in self.made:
            self.met[id(value)] = value
            if apart:
                self.made[id(value)] = (value, None)
        if isinstance(value, Fields):
            self.meet(value.parts, apart=apart)
        if isinstance(value, (list, tuple, dict)):
            for part in value.values() if isinstance(value, dict) else value:
                self.meet(part, apart=apart)

    def changing(self, frame: Frame, container: Any, node: ast.AST) -> None:
        """Check that a list or dict may be changed here. Raises HawkError."""
        made = self.made.get(id(container))
        text, form = frame.source.text(_owner(node)), type(container).__name__
        if made is None and id(container) in self.met:
            what = f"`{text}` may be one of several {form}s, as paths met, and which of them "
            fix = f"{text} = {form}({text}) before, for a {form} of its own"
            raise HawkError("H308", what + "changes would not be known", frame.loc(node), fix)
        if made is None:
            what = f"`{text}` is a {form} from outside the kernel and must not change"
            fix = f"{form}({text}) for a copy; what stays from step to step is a Mutable parameter"
            raise HawkError("H308", what, frame.loc(node), fix)
        if made[1] is not self.domain.region.home:
            what = f"`{text}` changes here on one path or in one pass of a loop only, so what it "
            what += "holds afterwards would not be known"
            fix = "the same change on every path, with a value that is chosen: x if ... else y"
            raise NeedsKnown("H212", what, frame.loc(node), fix)

    def from_pairs(self, frame: Frame, node: ast.Dict) -> Any:
        pairs: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                opened = self.expressions.evaluate(frame, value)
                if not isinstance(opened, dict):
                    what = f"`**` opens a dict, and this is {describe(self.numbers, opened)}"
                    raise HawkError("H201", what, frame.loc(value))
                pairs.update(opened)
                continue
            known = self.key(frame, self.expressions.evaluate(frame, key), key)
            pairs[known] = self.expressions.evaluate(frame, value)
        return self.new(pairs)

    def key(self, frame: Frame, value: Any, node: ast.AST) -> Any:
        """A key that a dict can have. Raises NeedsKnown for a number of the program."""
        known = known_of(value)
        if not is_known(known):
            raise NeedsKnown("H212", "a key of a dict must be known", frame.loc(node))
        by_python(lambda: hash(known), frame.loc(node))
        return known

    def comprehension(
        self, frame: Frame, generators: list[ast.comprehension], parts: list[ast.expr]
    ) -> list[Any]:
        """The elements of a comprehension, written out one after the other."""
        return list(self.each(frame, generators, parts, self.outermost(frame, generators)))

    def outermost(self, frame: Frame, generators: list[ast.comprehension]) -> Any:
        """What the first `for` of a comprehension runs over; evaluated before anything else."""
        for generator in generators:
            if any(isinstance(each, ast.Attribute) for each in ast.walk(generator.target)):
                what = "a comprehension binds names, and this is a field of an object"
                raise HawkError("H308", what, frame.loc(generator.target), "a `for` loop")
        return self._run_over(frame, generators[0])

    def _run_over(self, frame: Frame, generator: ast.comprehension) -> Any:
        """What one `for` of a comprehension runs over."""
        sequence = self.domain.iterate(
            frame, self.expressions.evaluate(frame, generator.iter), generator.iter
        )
        if isinstance(sequence, Range):
            what = "a comprehension has a known number of elements"
            fix = f"for {frame.source.text(generator.target)} in "
            fix += f"{frame.source.text(generator.iter)}: ..., a loop"
            raise NeedsKnown("H404", what, frame.loc(generator.iter), fix)
        if isinstance(sequence, range):
            short_enough(sequence, frame.loc(generator.iter))
        return sequence

    def each(
        self,
        frame: Frame,
        generators: list[ast.comprehension],
        parts: list[ast.expr],
        first: Any,
    ) -> Iterator[Any]:
        """The elements of a comprehension, each when it is taken; `first` is what it runs over."""
        targets = {n.id for g in generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        scope = Frame(_scope(frame), parent=frame.scope or frame, region=self.domain.region)

        def run(place: int) -> Iterator[Any]:
            if place == len(generators):
                values = [self.expressions.evaluate(frame, part) for part in parts]
                yield values[0] if len(values) == 1 else tuple(values)
                return
            generator = generators[place]
            sequence = first if place == 0 else self._run_over(frame, generator)
            for element in sequence:
                if isinstance(sequence, range):
                    element = self.domain.counter(element)  # noqa: PLW2901
                self.domain.walker.bind(frame, generator.target, element)
                scope.names.update((n, frame.names[n]) for n in targets if n in frame.names)
                if all(self._keeps(frame, test) for test in generator.ifs):
                    yield from run(place + 1)

        elements, bound, over = run(0), dict[str, Any](), object()
        while True:
            # Between two elements its names are those of the function around it.
            outside = {name: frame.names[name] for name in targets if name in frame.names}
            around, frame.scope = frame.scope, scope
            frame.names.update(bound)
            try:
                element = next(elements, over)
            finally:
                frame.scope = around
                bound = {name: frame.names.pop(name) for name in targets if name in frame.names}
                frame.names.update(outside)
            if element is over:
                return
            yield element

    def _keeps(self, frame: Frame, test: ast.expr) -> bool:
        truth = self.domain.truth(frame, self.expressions.evaluate(frame, test), test)
        if isinstance(truth, bool):
            return truth
        what = "how many elements a comprehension has must be known, and this is not"
        fix = f"... if {frame.source.text(test)} else 0.0, before the `for`"
        raise NeedsKnown("H404", what, frame.loc(test), fix)

    def subscript(self, frame: Frame, node: ast.Subscript) -> Any:
        return self.element(frame, node, *self.place(frame, node))

    def place(self, frame: Frame, node: ast.Subscript) -> tuple[Any, Any]:
        """What has the element, and the key that is known."""
        owner = self.expressions.evaluate(frame, node.value)
        if isinstance(owner, (GridScalar, TableView, Spots)):
            return owner, [self.expressions.evaluate(frame, each) for each in indices_of(node)]
        if isinstance(owner, Scalar):
            text = frame.source.text(node.value)
            what = f"`{text}` is {describe(self.numbers, owner)}, one number of this sample"
            fix: Fix = text
            if not isinstance(node.slice, (ast.Constant, ast.Slice)):  # that of another sample
                fix = f"a Table for what other samples have, {text}: Table[Scalar], next to it"
            raise HawkError("H201", what + ", and has no elements", frame.loc(node), fix)
        if isinstance(owner, (Range, Closure, Stream, Instance, *VIEWS)):
            text = frame.source.text(node.value)
            what = f"`{text}` is {describe(self.numbers, owner)} and has no elements"
            fix = f"tuple({text})" if isinstance(owner, (Stream, *VIEWS)) else ""
            raise HawkError("H201", what, frame.loc(node), fix)
        if isinstance(owner, SmallArray):
            text = frame.source.text(node.value)
            return owner, self.expressions.arrays.key(frame, node.slice, owner, text)
        return owner, self._key(frame, node, owner)

    def element(self, frame: Frame, node: ast.Subscript, owner: Any, key: Any) -> Any:
        """The element of `owner` at `key`, written as `node`."""
        if isinstance(owner, (GridScalar, TableView)):
            element: Any = grids.element if isinstance(owner, GridScalar) else tables.element
            read = partial(element, owner, key)
            return self.expressions.looked_up(frame, node, owner, read, indices_of(node))
        if isinstance(owner, Spots):
            return Spot(owner, tuple(key), tuple(indices_of(node)))
        if isinstance(owner, SmallArray):
            return self.expressions.arrays.element(frame, node, owner, key)
        self._check_key(frame, node, owner, key)
        part = by_python(lambda: owner[key], frame.loc(node))
        return self.new(part) if isinstance(key, slice) else plain(part, frame.loc(node))

    def _key(self, frame: Frame, node: ast.Subscript, owner: Any) -> Any:
        """The key of an element. Raises NeedsKnown, with the choice that is meant."""
        try:
            return self.index(frame, node.slice)
        except NeedsKnown as error:
            few = isinstance(owner, (tuple, list)) and 0 < len(owner) <= 4
            if isinstance(owner, dict):
                few = 0 < len(owner) <= 4
            if error.fix:
                raise
            text, key = frame.source.text(node.value), frame.source.text(node.slice)
            if isinstance(node.slice, (ast.Slice, ast.Tuple)):
                fix = "a bound that is known, or ... if k < i else 0.0 for each element"
                raise NeedsKnown(error.code, error.what, error.loc, fix) from None
            if not few:
                fix = f"a parameter that holds the element of each sample: {text}[{key}], outside"
                raise NeedsKnown(error.code, error.what, error.loc, fix) from None
            raise NeedsKnown(
                error.code, error.what, frame.loc(node), self._choice(frame, node, owner)
            ) from None

    def _choice(self, frame: Frame, node: ast.Subscript, owner: Any) -> str | Edit:
        """The elements of a short list by a number that picks one."""
        source = frame.source
        text, key = source.text(node.value), source.text(node.slice)
        keys = [repr(k) for k in (owner if isinstance(owner, dict) else range(len(owner)))]
        parts = [source.text(each) for each in elements(source, node.value)]
        texts = dict(
            enumerate(parts if len(parts) == len(keys) else [f"{text}[{k}]" for k in keys])
        )
        if len(keys) == 2 and isinstance(node.slice, (ast.Compare, ast.BoolOp)):
            return filled("{right} if {key} else {left}", left=texts[0], right=texts[1], key=key)
        template = " else ".join(
            [
                *(f"{{{n}}} if {{key}} == {k}" for n, k in enumerate(keys[:-1])),
                f"{{{len(keys) - 1}}}",
            ]
        )
        fix = filled(template, key=key, **{str(n): each for n, each in texts.items()})
        counted = isinstance(owner, dict) or len(keys) == 1
        rest = isinstance(node.slice, ast.BinOp) and isinstance(
            node.slice.op, (ast.Mod, ast.BitAnd)
        )
        return fix if counted or rest else Edit(fix, f", for {key} from 0 to {len(keys) - 1}")

    def _check_key(self, frame: Frame, node: ast.Subscript, owner: Any, key: Any) -> None:
        """Say what there is, where there is no such element."""
        text, where = frame.source.text(node.value), frame.loc(node)
        counted = isinstance(owner, (tuple, list, range)) and isinstance(key, int)
        if counted and not -len(owner) <= key < len(owner):
            what = f"`{text}` has {len(owner)} elements, and {key} is none of them"
            fix = Edit(f"{text}[{len(owner) - 1}]", ", the last") if len(owner) else ""
            raise HawkError("H210", what, where, fix)
        if isinstance(owner, dict) and isinstance(key, (str, int)) and key not in owner:
            known = ", ".join(map(repr, list(owner)[:8])) or "nothing"
            names = [each for each in owner if isinstance(each, str)]
            near = nearest(key, names) if isinstance(key, str) else ""
            what = f"`{text}` has no {key!r}; it has {known}"
            raise HawkError("H210", what, where, f"{text}[{near!r}]" if near else "")

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
        raise NeedsKnown("H212", what, frame.loc(node))

    def store(self, frame: Frame, target: ast.expr, value: Any) -> None:
        """Assign to an element of a list or dict made in the kernel."""
        if isinstance(target, ast.Attribute):
            of = self.expressions.evaluate(frame, target.value)
            if isinstance(of, Instance):
                self.expressions.objects.store(frame, target, of, value)
                return
        if not isinstance(target, ast.Subscript):
            what = f"`{frame.source.text(target)}` is not a local name; a step changes only its own"
            raise HawkError("H308", what, frame.loc(target), "a Mutable parameter in its place")
        owner = self.expressions.evaluate(frame, target.value)
        if isinstance(owner, SmallArray):
            text = frame.source.text(target.value)
            place = self.expressions.arrays.key(frame, target.slice, owner, text)
            self.expressions.arrays.store(frame, target, owner, place, value)
            return
        self._check_store(frame, target, owner)
        try:
            key = self.index(frame, target.slice)
        except NeedsKnown as error:
            if error.fix or not isinstance(owner, list) or isinstance(target.slice, ast.Slice):
                raise
            text, place = frame.source.text(target.value), frame.source.text(target.slice)
            fix = f"{text} = [... if k == {place} else old for k, old in enumerate({text})]"
            raise NeedsKnown(error.code, error.what, error.loc, fix) from None
        self.put(frame, target, owner, key, value)

    def put(self, frame: Frame, target: ast.Subscript, owner: Any, key: Any, value: Any) -> None:
        """`owner[key] = value`, written as `target`; a slice takes what can be run over."""
        if isinstance(owner, SmallArray):
            self.expressions.arrays.store(frame, target, owner, key, value)
            return
        self._check_store(frame, target, owner, augmented=True)
        if isinstance(key, slice) and isinstance(owner, list):
            value = self.expressions.calls.structural.sequence(frame, target, value)
        by_python(lambda: owner.__setitem__(key, value), frame.loc(target))

    def _check_store(
        self, frame: Frame, target: ast.Subscript, owner: Any, *, augmented: bool = False
    ) -> None:
        text = frame.source.text(target.value)
        if isinstance(owner, Scalar):
            what = (
                f"`{text}` is {describe(self.numbers, owner)}, one number of this sample, and has "
            )
            raise HawkError("H308", what + "no elements", frame.loc(target), f"{text} = ...")
        if isinstance(owner, Spots):
            raise self.domain.scatters.assigned(frame, target, owner)
        if isinstance(owner, TableView) and owner.shared:
            raise self.domain.scatters.written(frame, target, owner, augmented=augmented)
        if not isinstance(owner, (list, dict)):
            what = f"`{text}` is {describe(self.numbers, owner)}, which cannot change"
            fix: str | Edit = ""
            if isinstance(owner, TableView):
                fix = "a Mutable for what each sample changes; a table is written before the run"
            if isinstance(owner, tuple) and isinstance(target.value, ast.Name):
                fix = Edit(f"{text} = list({text})", at=frame.loc(target), before=True)
            raise HawkError("H308", what, frame.loc(target), fix)
        self.changing(frame, owner, target)


def _scope(frame: Frame) -> Source:
    """The text of a scope inside that of `frame`, which is that of a comprehension."""
    empty = ast.Lambda(args=_NOTHING, body=ast.Constant(value=None))
    return Source(frame.source.file, frame.source.lines, empty)


_NOTHING = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])


def _owner(node: ast.AST) -> ast.AST:
    """The list or dict that a statement changes: of `xs.append(x)` and `xs[0]` that is `xs`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.value
    return node.value if isinstance(node, ast.Subscript) else node
