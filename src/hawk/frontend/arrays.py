"""Small arrays in a kernel: their operators, their elements, and assignments to elements."""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from hawk.edits import Edit, filled
from hawk.errors import HawkError
from hawk.frontend import shapes
from hawk.frontend.frame import Frame
from hawk.frontend.instances import Instance
from hawk.frontend.operators import Misfit, conversion
from hawk.frontend.shapes import Parts, Places
from hawk.frontend.small_arrays import SmallArray, described, old
from hawk.frontend.suggestions import sites
from hawk.frontend.templates import describe
from hawk.frontend.values import NeedsKnown, Scalar, is_known
from hawk.ir.types import DType

if TYPE_CHECKING:
    from hawk.frontend.expressions import Expressions


class Arrays:
    """Evaluates what is done with small arrays."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions
        self.domain, self.numbers = expressions.domain, expressions.numbers
        self.memory = expressions.domain.memory

    # --- arrays as they are now ---

    def check(self, frame: Frame, node: ast.AST, array: SmallArray) -> SmallArray:
        """The array, if its numbers are those in its memory. Raises HawkError."""
        change = self.memory.change(array)
        if change is not None:
            where = frame.loc(node)
            error = old(frame.source.text(node), change, where)
            found = sites(frame.source.body, node.id) if isinstance(node, ast.Name) else []
            edit = None
            if found and found[-1].value is not None and change.loc.caller == where.caller:
                edit = found[-1].edit(frame, "{left}.copy()", where)
            raise HawkError(error.code, error.what, where, edit) if edit else error
        return array

    def parts(self, value: Any) -> Any:
        """An array as its shape and numbers, anything else as it is."""
        return Parts(value.shape, value.parts) if isinstance(value, SmallArray) else value

    def made(self, result: Any) -> Any:
        """An array of its own from shape and numbers; one number as it is."""
        return self.memory.fresh(*result) if isinstance(result, Parts) else result

    def settled(self, shape: tuple[int, ...], values: Any) -> SmallArray:
        """A new array of numbers that may still be known: they become those of the program."""
        return self.memory.fresh(shape, [self.numbers.settle(value) for value in values])

    # --- operators ---

    def binary(
        self, frame: Frame, node: Any, symbol: str, left: Any, right: Any, sides: Any
    ) -> Any:
        """`left symbol right`, at least one of them an array."""
        self._numbers_only(frame, node, symbol, (left, right), sides)
        a, b = self.parts(left), self.parts(right)

        def compute() -> Any:
            if symbol == "@":
                return shapes.matmul(self.numbers, a, b)
            return shapes.elementwise(lambda x, y: self.numbers.binary(symbol, x, y), symbol, a, b)

        return self.made(self.expressions.guarded(frame, node, compute, operands=sides))

    def fused(
        self, frame: Frame, node: Any, product: Any, added: Any, signs: str, *, first: bool
    ) -> Any:
        """A sum with a product, number by number: an fma each where that of numbers is one.

        `first`: whether the product stands on the left.
        """
        symbol = "+" if isinstance(node.op, ast.Add) else "-"
        texts = (product.node.left, product.node.right)
        self._numbers_only(frame, product.node, "*", (product.first, product.second), texts)
        sides = (getattr(node, "left", None) or node.target, getattr(node, "right", node))
        sides = (sides[0], getattr(node, "value", sides[1]))
        self._numbers_only(frame, node, symbol, (added,), (sides[1] if first else sides[0],))
        a, b, c = (self.parts(each) for each in (product.first, product.second, added))

        def one(x: Any, y: Any, z: Any) -> Any:
            dtype = self.numbers.contracts(x, y, z)
            if dtype is not None:
                return self.numbers.fma(dtype, x, y, z, signs)
            value = self.numbers.binary("*", x, y)
            pair = (value, z) if first else (z, value)
            return self.numbers.binary(symbol, *pair)

        guarded = self.expressions.guarded
        if isinstance(a, Parts) or isinstance(b, Parts):
            # So that shapes which do not fit are told of the operator they belong to.
            guarded(frame, product.node, lambda: shapes.common("*", a, b), operands=texts)
            shape = shapes.common("*", a, b)
            if isinstance(c, Parts):
                pair = (Parts(shape, ()), c) if first else (c, Parts(shape, ()))
                guarded(frame, node, lambda: shapes.common(symbol, *pair), operands=sides)

        def compute() -> Parts:
            return shapes.elementwise(one, symbol, a, b, c)

        return self.made(guarded(frame, node, compute, operands=sides))

    def _numbers_only(self, frame: Frame, node: Any, symbol: str, values: Any, sides: Any) -> None:
        """Operators of arrays take arrays and numbers."""
        for value, side in zip(values, sides, strict=False):
            if isinstance(value, SmallArray):
                self.check(frame, side, value)
            elif not isinstance(value, (Scalar, bool, int, float)):
                what = f"`{symbol}` of an array and {describe(self.numbers, value)}"
                text = frame.source.text(side)
                fix = ""
                if isinstance(value, (tuple, list)):
                    nested = value and isinstance(value[0], (tuple, list))
                    fix = f"hawk.math.{'mat' if nested else 'vec'}(*{text})"
                raise HawkError("H201", what, frame.loc(side), fix)

    def unary(self, frame: Frame, node: ast.UnaryOp, symbol: str, array: SmallArray) -> Any:
        self.check(frame, node.operand, array)
        if symbol == "~" and array.dtype is DType.BOOL:
            compute: Callable[[Any], Any] = self.numbers.opposite
        else:
            compute = lambda x: self.numbers.unary(symbol, x)  # noqa: E731

        def all_of_them() -> Parts:
            return shapes.elementwise(compute, symbol, self.parts(array))

        return self.made(
            self.expressions.guarded(frame, node, all_of_them, operands=(node.operand,))
        )

    def apply(
        self, frame: Frame, node: ast.Call, compute: Callable[..., Any], args: list[Any]
    ) -> Any:
        """A function of NumPy that goes number by number."""
        text = frame.source.text(node.func)
        self._numbers_only(frame, node, text, args, node.args)
        parts = [self.parts(each) for each in args]

        def all_of_them() -> Any:
            return shapes.elementwise(compute, text, *parts)

        return self.made(
            self.expressions.guarded(frame, node, all_of_them, operands=tuple(node.args))
        )

    # --- elements ---

    def key(self, frame: Frame, node: ast.expr, array: SmallArray, text: str) -> tuple[Any, ...]:
        """What is written in brackets, an entry for each axis; numbers of the program are Index."""
        written = node.elts if isinstance(node, ast.Tuple) else [node]
        entries = [self._entry(frame, each) for each in written]
        try:
            key = shapes.axes(array.shape, tuple(entries))
        except Misfit as misfit:
            what = misfit.what.replace("{left}", text)
            raise HawkError(misfit.code, what, frame.loc(node), list(misfit.fixes)) from None
        beyond = shapes.outside(array.shape, key)
        if beyond is not None:
            part, length = beyond
            name = described(array, self.numbers.real)
            what = f"`{text}` is {name}, and it has no element {part}: "
            what += f"they are 0 to {length - 1}, or -{length} to -1 from the end"
            raise HawkError("H210", what, frame.loc(node))
        return key

    def _entry(self, frame: Frame, node: ast.expr) -> Any:
        """One index: a known integer, a slice, `...`, or an Index of the program."""
        value = self.expressions.evaluate(frame, node)
        if isinstance(value, Scalar) and value.number is not None:
            value = value.number
        if isinstance(value, slice):
            return slice(
                *(
                    each if each is None else self._whole(frame, node, each)
                    for each in (value.start, value.stop, value.step)
                )
            )
        if value is Ellipsis or value is None:
            return value
        if isinstance(value, Scalar) and value.dtype.is_int:
            if self._counts(frame, node):
                text = frame.source.text(node)
                what = f"`{text}` picks an element, so the loop is written out"
                raise NeedsKnown("H212", what, frame.loc(node))
            return self.expressions.guarded(
                frame, node, lambda: self.numbers.convert(value, DType.I64)
            )
        return self._whole(frame, node, value)

    def _whole(self, frame: Frame, node: ast.expr, value: Any) -> int:
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        text = frame.source.text(node)
        if isinstance(value, SmallArray):
            what = f"`{text}` is {described(value, self.numbers.real)}; an index is one integer"
            fix = "a loop over the elements, or x if ... else y for each"
            raise HawkError("H202", what, frame.loc(node), fix)
        what = f"an index is an integer, and `{text}` is {describe(self.numbers, value)}"
        number = isinstance(value, (Scalar, bool, float))
        raise HawkError("H202", what, frame.loc(node), f"int({text})" if number else "")

    def _counts(self, frame: Frame, node: ast.expr) -> bool:
        """Does the counter of a short loop stand in this index, so that writing it out helps?"""
        for each in ast.walk(node):
            if isinstance(each, ast.Name):
                value = frame.names.get(each.id)
                if isinstance(value, Scalar) and id(value.value) in self.domain.counters:
                    return True
        return False

    def element(
        self, frame: Frame, node: ast.Subscript, array: SmallArray, key: tuple[Any, ...]
    ) -> Any:
        """`array[key]`: a number, or an array that is the same memory."""
        self.check(frame, node.value, array)
        if any(isinstance(part, Scalar) for part in key):
            return self._picked(frame, node, array, key)
        return self.view(array, shapes.places(array.shape, key), frame, node)

    def view(
        self, array: SmallArray, places: Places, frame: Frame | None = None, node: Any = None
    ) -> Any:
        """The elements at these places: a number, or an array of the same memory."""
        if not places.ndim:
            return array.parts[int(places)]
        if not places.size:
            assert frame is not None
            what = f"`{frame.source.text(node)}` picks no element at all"
            raise HawkError("H210", what, frame.loc(node))
        flat = places.ravel().tolist()
        return SmallArray(
            places.shape,
            tuple([array.parts[p] for p in flat]),
            tuple([array.cells[p] for p in flat]),
            array.time,
            array.also,
        )

    def _picked(
        self, frame: Frame, node: ast.Subscript, array: SmallArray, key: tuple[Any, ...]
    ) -> Any:
        """Elements at a place known at run time: a chain of choices. Beyond the ends, the nearest.

        It takes as many choices as the axis is long, which is for small arrays the fastest way.
        """
        indices = self._wrapped(frame, node, array, key)

        def pick(known: tuple[Any, ...]) -> tuple[Any, Places]:
            axis = next((n for n, each in enumerate(known) if isinstance(each, Scalar)), None)
            if axis is None:
                at = shapes.places(array.shape, known)
                return [array.parts[p] for p in at.ravel().tolist()], at
            best, at = pick((*known[:axis], 0, *known[axis + 1 :]))
            for place in range(1, array.shape[axis]):
                reached = self.numbers.binary(">=", indices[axis], place)
                values, _ = pick((*known[:axis], place, *known[axis + 1 :]))
                best = [
                    self.numbers.emit("select", reached, a, b)
                    for a, b in zip(values, best, strict=True)
                ]
            return best, at

        parts, at = self.expressions.guarded(frame, node, lambda: pick(key))
        if not at.ndim:
            return parts[0]
        if not at.size:
            return self.view(array, at, frame, node)
        # A row that is chosen at run time is memory of the array, but not known which.
        also = array.also | frozenset(array.cells)
        made = self.memory.fresh(at.shape, parts)
        return SmallArray(made.shape, made.parts, made.cells, array.time, also)

    def _wrapped(
        self, frame: Frame, node: ast.AST, array: SmallArray, key: tuple[Any, ...]
    ) -> dict[int, Scalar]:
        """The run-time indices by axis, those from the end counted from the start."""
        numbers, wrapped = self.numbers, {}
        numbers.builder.loc = frame.loc(node)
        for axis, (part, length) in enumerate(zip(key, array.shape, strict=True)):
            if not isinstance(part, Scalar):
                continue
            negative = numbers.binary("<", part, 0)
            index = numbers.select(negative, numbers.binary("+", part, length), part)
            wrapped[axis] = index
            if self.domain.watch is not None:
                low, high = numbers.binary("<", index, 0), numbers.binary(">=", index, length)
                text = f"an index of `{frame.source.text(getattr(node, 'value', node))}`, which "
                text += f"has {length} there: the nearest is taken"
                self.domain.watch.outside(numbers.emit("or", low, high), frame.loc(node), text)
        return wrapped

    # --- assignments to elements ---

    def store(
        self,
        frame: Frame,
        target: ast.Subscript,
        array: SmallArray,
        key: tuple[Any, ...],
        value: Any,
    ) -> None:
        """`array[key] = value`: the name that the array has gets another one."""
        put, root = self._root(frame, target)
        self.check(frame, target.value, array)
        if isinstance(value, SmallArray):
            self._check_stored(frame, target, value)
        spots = {cell: place for place, cell in enumerate(root.cells)}
        if not set(array.cells) <= spots.keys():
            raise self._picked_apart(frame, target)
        parts = list(root.parts)
        changed: list[int] = []
        indices = self._wrapped(frame, target, array, key)
        axes = [range(array.shape[n]) if n in indices else (part,) for n, part in enumerate(key)]
        first = shapes.places(array.shape, tuple([axis[0] for axis in axes]))
        values = self._values(frame, target, array, value, first)
        for known in itertools.product(*axes):
            test = self._is_there(array, indices, known)
            at = shapes.places(array.shape, known).ravel().tolist()
            for place, new in zip(at, values, strict=True):
                spot = spots[array.cells[place]]
                if test is not None:
                    new = self.numbers.emit("select", test, new, parts[spot])  # noqa: PLW2901
                parts[spot] = new
                changed.append(root.cells[spot])
        text = frame.source.text(target.value)
        self.memory.write([*changed, *root.also], frame.loc(target), text)
        now = self.memory.tick()
        put(SmallArray(root.shape, tuple(parts), root.cells, now, root.also))

    def _check_stored(self, frame: Frame, target: ast.Subscript, value: SmallArray) -> None:
        """What is assigned must not be memory that another part of the statement wrote before."""
        change = self.memory.change(value)
        if change is None:
            return
        text = frame.source.text(target)
        what = f"`{text}` gets part of an array that has changed by then, in `{change.text}`: in "
        what += "Python both are the same memory"
        fix = "each array that is assigned with .copy(): a[0], a[1] = a[1].copy(), a[0].copy()"
        raise HawkError("H309", what, frame.loc(target), fix)

    def _picked_apart(self, frame: Frame, target: ast.Subscript) -> HawkError:
        """The error of `M[i][j] = x` where i is known only at run time."""
        text, whole = frame.source.text(target), frame.source.text(target.value)
        what = f"`{whole}` is picked by an index that is known only at run time, so here it is a "
        what += "copy, and to assign to it would change nothing"
        fix: str | Edit = "all indices in one pair of brackets: M[i, j] = ..."
        row, place = target.value, frame.source.text(target.slice)
        if isinstance(row, ast.Subscript) and not isinstance(row.slice, (ast.Slice, ast.Tuple)):
            index, owner = frame.source.text(row.slice), frame.source.text(row.value)
            fix = Edit(f"{owner}[{index}, {place}]", at=frame.loc(target))
        return HawkError("H308", f"`{text}`: {what}", frame.loc(target), fix)

    def _is_there(
        self, array: SmallArray, indices: dict[int, Scalar], known: tuple[Any, ...]
    ) -> Scalar | None:
        """Whether the run-time indices are these, or beyond the end that these are next to."""
        test: Scalar | None = None
        for axis, index in indices.items():
            length, place = array.shape[axis], known[axis]
            if length == 1:
                continue
            symbol = "<=" if place == 0 else ">=" if place == length - 1 else "=="
            one = self.numbers.binary(symbol, index, place)
            test = one if test is None else self.numbers.emit("and", test, one)
        return test

    def _root(
        self, frame: Frame, target: ast.Subscript
    ) -> tuple[Callable[[SmallArray], None], SmallArray]:
        """What gives the name, or the field, another array that an assignment changes; and it."""
        node: ast.expr = target.value
        while isinstance(node, (ast.Subscript, ast.Attribute)):
            # What runs a function has run by now, and must not run again.
            if isinstance(node, ast.Attribute) and not self.expressions.objects.runs(node):
                of = self.expressions.evaluate(frame, node.value)
                if isinstance(of, Instance):
                    array = self.expressions.evaluate(frame, node)
                    if isinstance(array, SmallArray):
                        put = self.expressions.objects.put
                        return functools.partial(put, frame, of, node.attr), array
            node = node.value
        text = frame.source.text(target)
        whole = isinstance(node, ast.Name)
        root = frame.names.get(node.id) if isinstance(node, ast.Name) else None
        if isinstance(node, ast.Name) and isinstance(root, SmallArray):
            self.check(frame, node, root)
            return functools.partial(frame.names.__setitem__, node.id), root
        if whole and not isinstance(root, (tuple, list, dict)) and root is None:
            what = f"`{frame.source.text(target.value)}` is an array of the function around this "
            fix = "a copy of it, changed and returned: v = v.copy(); v[0] = ...; return v"
            raise HawkError("H308", what + "one, or of the module", frame.loc(target), fix)
        what = f"`{text}` is an element of an array that has no name of its own"
        fix = "a name for the array: v = ....copy(); v[0] = ...; and v put where it belongs"
        raise HawkError("H308", what, frame.loc(target), fix)

    def _values(
        self,
        frame: Frame,
        target: ast.AST,
        array: SmallArray,
        value: Any,
        places: Places,
    ) -> list[Any]:
        """What is assigned, a number for each place, in the type of the array."""
        given: Any = value
        if isinstance(value, (tuple, list)) and places.ndim == 1:
            given = Parts((len(value),), tuple(value))
        elif isinstance(value, SmallArray):
            given = self.parts(value)
        text = frame.source.text(target)
        size = max(1, places.size)
        if isinstance(given, Parts):
            if given.shape != places.shape:
                kind = shapes.shown(places.shape) if places.ndim else "one number"
                what = f"`{text}` is {kind}, and it gets {describe(self.numbers, value)}"
                raise HawkError("H214", what, frame.loc(target))
            values = list(given.numbers)
        else:
            values = [given] * size
        dtype = array.dtype
        try:
            return [self.numbers.store(each, dtype) for each in values]
        except Misfit as misfit:
            what = f"`{text}` is {_named(dtype)}, and it gets "
            odd = next(each for each in values if not _stores(self.numbers, each, dtype))
            what += describe(self.numbers, odd)
            fix = f"{conversion(dtype, self.numbers.real)}(...) of it"
            if not isinstance(odd, (Scalar, bool, int, float)):
                fix = ""
            raise HawkError(misfit.code, what, frame.loc(target), fix) from None

    def assign(
        self, frame: Frame, node: ast.AugAssign, array: SmallArray, value: Any
    ) -> SmallArray:
        """What `v += ...` makes of `v`: all numbers of an array change where they are."""
        everything = np.arange(len(array.parts)).reshape(array.shape)
        values = self._values(frame, node.target, array, value, everything)
        text = frame.source.text(node.target)
        self.memory.write([*array.cells, *array.also], frame.loc(node), text)
        return SmallArray(array.shape, tuple(values), array.cells, self.memory.tick(), array.also)

    # --- what else an array has ---

    def attribute(self, frame: Frame, node: ast.Attribute, array: SmallArray) -> Any:
        self.check(frame, node.value, array)
        match node.attr:
            case "T":
                places = np.arange(len(array.parts)).reshape(array.shape).T
                return self.view(array, places)
            case "shape":
                return array.shape
            case "ndim":
                return len(array.shape)
            case "size":
                return len(array.parts)
            case _:
                pass
        text, name = frame.source.text(node.value), described(array, self.numbers.real)
        what = f"`{text}` is {name}, which has no `{node.attr}` in a kernel"
        whole, _ = frame.source.called(node)
        raise HawkError("H307", what, frame.loc(whole), _instead(text, node.attr, array))

    def method(
        self, frame: Frame, node: ast.Call, array: SmallArray, args: list[Any], keywords: Any
    ) -> Any:
        """`array.copy()`, the one method there is."""
        assert isinstance(node.func, ast.Attribute)
        self.check(frame, node.func.value, array)
        if args or keywords:
            text = frame.source.text(node.func)
            what = f"`{text}` takes no argument"
            raise HawkError("H305", what, frame.loc(node), f"{text}()")
        return self.memory.fresh(array.shape, array.parts)

    def rows(self, frame: Frame, node: ast.AST, array: SmallArray) -> Iterator[Any]:
        """What a loop over an array runs over: numbers, or the rows of a matrix."""
        for place in range(array.shape[0]):
            change = self.memory.change(array)
            if change is not None:
                text = frame.source.text(node)
                what = f"`{text}` changes while something runs over it, in line {change.loc.line}"
                raise HawkError("H309", what, frame.loc(node), f"{text}.copy()")
            key = (place, *[slice(None)] * (len(array.shape) - 1))
            yield self.view(array, shapes.places(array.shape, key))

    # --- arrays from numbers ---

    def vec(self, frame: Frame, node: ast.Call, *values: Any) -> Any:
        """`hawk.math.vec(x, y, z)`, or of one tuple."""
        if len(values) == 1 and not isinstance(values[0], (Scalar, bool, int, float)):
            values = self.expressions.calls.structural.sequence(frame, node, values[0])
        if not values:
            what = "a vector has at least one number"
            raise HawkError("H305", what, frame.loc(node), "hawk.math.vec(0.0, 0.0, 0.0)")
        return self._floats(frame, node, (len(values),), list(values))

    def mat(self, frame: Frame, node: ast.Call, *rows: Any) -> Any:
        """`hawk.math.mat((a, b), (c, d))`, a matrix of its rows, or of one tuple of rows."""
        if len(rows) == 1 and isinstance(rows[0], (tuple, list)):
            (inside,) = rows
            if inside and not isinstance(inside[0], (Scalar, bool, int, float)):
                rows = tuple(inside)
        if len(rows) == 1 and isinstance(rows[0], SmallArray) and len(rows[0].shape) == 2:
            rows = tuple(self.rows(frame, node.args[0], rows[0]))
        opened: list[tuple[Any, ...]] = []
        for row in rows:
            if isinstance(row, (Scalar, bool, int, float)):
                what = "`hawk.math.mat` takes rows, and here is one number"
                fix = "hawk.math.mat((a, b), (c, d)), a tuple for each row"
                raise HawkError("H305", what, frame.loc(node), fix)
            opened.append(self.expressions.calls.structural.sequence(frame, node, row))
        widths = {len(row) for row in opened}
        if len(widths) != 1 or 0 in widths:
            told = ", ".join(str(len(row)) for row in opened)
            what = f"the rows of a matrix have one length, and these have {told}"
            what = "a matrix has at least one row and one column" if not told else what
            fix = "hawk.math.mat((a, b), (c, d))" if not told else ""
            raise HawkError("H214", what, frame.loc(node), fix)
        values = [value for row in opened for value in row]
        return self._floats(frame, node, (len(opened), widths.pop()), values)

    def _floats(
        self, frame: Frame, node: ast.Call, shape: tuple[int, ...], values: list[Any]
    ) -> SmallArray:
        """An array of floats."""
        for value in values:
            if not isinstance(value, (Scalar, bool, int, float)):
                text = frame.source.text(node.func)
                what = f"`{text}` takes numbers, and here is {describe(self.numbers, value)}"
                raise HawkError("H305", what, frame.loc(node))
        parts = self.expressions.guarded(
            frame, node, lambda: shapes.alike(self.numbers, values), operands=tuple(node.args)
        )
        return self.memory.fresh(shape, parts)

    def known(self, frame: Frame, node: ast.AST, value: Any, shape: tuple[int, ...]) -> Any:
        """A default of a plane, which is known numbers, as an array; anything else as it is."""
        if isinstance(value, (tuple, list)) and is_known(value):
            array = np.asarray(value)
            if array.size == int(np.prod(shape)):
                return self.memory.fresh(shape, array.ravel().tolist())
        return value


def _named(dtype: DType) -> str:
    return f"{'an' if dtype.hawk[0] in 'AEIOaeio' else 'a'} {dtype.hawk}"


def _stores(numbers: Any, value: Any, dtype: DType) -> bool:
    try:
        numbers.store(value, dtype)
    except Misfit:
        return False
    return True


def _instead(text: str, attribute: str, array: SmallArray) -> str | Edit:
    """What to write for an attribute of NumPy's arrays."""
    vector = len(array.shape) == 1
    known = {
        "sum": filled("sum({left})", left=text) if vector else "",
        "min": filled("min({left})", left=text) if vector else "",
        "max": filled("max({left})", left=text) if vector else "",
        "any": filled("any({left})", left=text) if vector else "",
        "all": filled("all({left})", left=text) if vector else "",
        "dot": filled("{left} @ ...", left=text),
        "transpose": filled("{left}.T", left=text),
        "trace": filled("hawk.math.trace({left})", left=text),
    }
    components = {"x": 0, "y": 1, "z": 2, "w": 3}
    if attribute in components and vector and components[attribute] < array.shape[0]:
        return filled(f"{{left}}[{components[attribute]}]", left=text)
    return known.get(attribute, "")
