"""Calls in a kernel: helpers are walked from their own source, library functions have recipes."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from hawk.collective import REDUCTIONS
from hawk.errors import NOWHERE, HawkError, Loc
from hawk.frontend import grids, tables
from hawk.frontend import names as table
from hawk.frontend.bundles import Bundle, is_bundle
from hawk.frontend.debug import debug
from hawk.frontend.frame import RESULT, Frame
from hawk.frontend.instances import Instance, objects_in
from hawk.frontend.known import by_python, no_text
from hawk.frontend.leave import Leave
from hawk.frontend.lookup import plain
from hawk.frontend.methods import form_of
from hawk.frontend.operators import CONVERSIONS, Misfit, Mixed, named
from hawk.frontend.reductions import written_right
from hawk.frontend.refused import check
from hawk.frontend.scatters import as_shared
from hawk.frontend.signature import Parameter, Signature, article
from hawk.frontend.small_arrays import SmallArray
from hawk.frontend.source import Source, nearest, own_nodes
from hawk.frontend.structural import Structural
from hawk.frontend.suggestions import elements, fresh
from hawk.frontend.templates import describe
from hawk.frontend.values import (
    Closure,
    GridScalar,
    Scalar,
    Spot,
    TableView,
    Unusable,
    is_known,
)
from hawk.ir.nodes import Role
from hawk.math import linear

if TYPE_CHECKING:
    from hawk.frontend.kernel_domain import KernelDomain

DEPTH_MAX = 64
"""How deep calls of helpers may nest."""

PURE_METHODS = {
    str: set(dir(str)),
    float: {"is_integer"},
    int: {"bit_length", "bit_count"},
}
"""Methods of known objects that Python itself may run while a kernel is traced."""


class Calls:
    """Evaluates calls for the domain of kernels."""

    def __init__(self, domain: KernelDomain) -> None:
        self.domain = domain
        self.numbers = domain.numbers
        self.sources: dict[FunctionType, Source] = {}
        self.deepest: tuple[int, str, Loc] = (0, "", NOWHERE)
        self.structural = Structural(domain)

    def call(self, frame: Frame, node: ast.Call, name: str) -> Any:
        """The value of a call."""
        expressions = self.domain.expressions
        if isinstance(node.func, ast.Attribute):
            owner = expressions.owner(frame, node.func.value)
            if isinstance(owner, Spot):
                self.domain.scatters.method(frame, node, owner, *self._arguments(frame, node))
                return None
            if isinstance(owner, SmallArray) and node.func.attr == "copy":
                given = self._arguments(frame, node)
                return expressions.arrays.method(frame, node, owner, *given)
            if form_of(owner, node.func.attr) is not None:
                given = self._arguments(frame, node)
                return self.structural.methods.call(frame, node, owner, node.func.attr, *given)
            if isinstance(owner, TableView) and node.func.attr == "at":
                return self._at(frame, node, owner, name)
            if isinstance(owner, GridScalar) and node.func.attr in ("neighbor", "at"):
                return self._of_grid(frame, node, owner, node.func.attr, name)
            callee = expressions.attribute(frame, node.func, owner)
        else:
            callee = expressions.evaluate(frame, node.func)
        if callee is print or callee is debug:  # shown only on demand
            self.domain.shows(frame, node)
            return None
        args, keywords = self._arguments(frame, node)
        return self.apply(frame, node, callee, args, keywords, name)

    def _at(self, frame: Frame, node: ast.Call, table: TableView, name: str) -> Any:
        """`t.at(r=i, c=j)`: the element at an index of each named dimension."""
        expressions = self.domain.expressions
        args, keywords = self._arguments(frame, node)
        try:
            indices = tables.ordered(table, args, keywords)
        except Misfit as misfit:
            raise expressions.error(frame, node, misfit) from None
        places = {each.arg: each.value for each in node.keywords}
        written = [places.get(axis, node) for axis in table.form.axes]
        read = functools.partial(tables.element, table, indices)
        return expressions.looked_up(frame, node, table, read, written, name)

    def _of_grid(
        self, frame: Frame, node: ast.Call, grid: GridScalar, method: str, name: str
    ) -> Any:
        """`u.neighbor(r=-1)` or `u.at(r=i, c=j)`: the number of another sample."""
        expressions = self.domain.expressions
        args, keywords = self._arguments(frame, node)
        places = {each.arg: each.value for each in node.keywords}
        assert grid.form is not None
        written = [places.get(axis, node) for axis in grid.form.axes]
        read = grids.neighbor if method == "neighbor" else grids.at
        wanted = functools.partial(read, grid, args, keywords)
        return expressions.looked_up(frame, node, grid, wanted, written, name)

    def _arguments(self, frame: Frame, node: ast.Call) -> tuple[list[Any], dict[str, Any]]:
        """What a call gives by place and by name."""
        expressions = self.domain.expressions
        args = expressions.elements(frame, node.args)
        keywords: dict[str, Any] = {}
        for each in node.keywords:
            value = expressions.evaluate(frame, each.value)
            opened: dict[Any, Any] = {each.arg: value}
            if each.arg is None:
                opened = value
                if not isinstance(value, dict) or not all(isinstance(n, str) for n in value):
                    what = "`**` gives arguments by name, and this is "
                    what += describe(self.numbers, value)
                    raise HawkError("H305", what, frame.loc(each.value))
            if twice := [n for n in opened if n in keywords]:
                what = f"`{twice[0]}` is given twice by name"
                raise HawkError("H305", what, frame.loc(each.value), "it once")
            keywords.update(opened)
        return args, keywords

    def apply(
        self,
        frame: Frame,
        node: ast.Call,
        callee: Any,
        args: list[Any],
        keywords: dict[str, Any] | None = None,
        name: str = "",
    ) -> Any:
        """The value of a call of `callee` that is written at `node`."""
        where, keywords = frame.loc(node), keywords or {}
        match callee:
            case Closure():
                return self._walk(frame, node, callee.source, callee, args, keywords)
            case functools.partial():
                kept = {**callee.keywords, **keywords}
                return self.apply(frame, node, callee.func, [*callee.args, *args], kept, name)
            case type() if is_bundle(callee):
                objects = self.domain.expressions.objects
                return objects.construct(frame, node, callee, args, keywords, name)
            case FunctionType() if callee.__module__ == "dataclasses" and not self._known(callee):
                what = f"`{frame.source.text(node.func)}` takes an object apart by its class, and "
                what += "is not part of the language"
                raise HawkError("H304", what, where, "its fields by their names")
            case MethodType():
                bound = [callee.__self__, *args]
                return self.apply(frame, node, callee.__func__, bound, keywords, name)
            case FunctionType() if self._is_helper(callee):
                if callee in linear.TAKES or callee is linear.eye:
                    self._check_shapes(frame, node, callee, args)
                if callee not in self.sources:
                    self.sources[callee] = Source.of(callee, where)
                    check(self.sources[callee], where)
                return self._walk(frame, node, self.sources[callee], callee, args, keywords)
            case _:
                pass
        if isinstance(getattr(callee, "signature", None), Signature):
            return self._inline(frame, node, callee, args, keywords)
        method = type(callee).__call__ if callable(callee) else None
        if isinstance(method, FunctionType) and not isinstance(callee, type):
            return self.apply(frame, node, method, [callee, *args], keywords, name)
        return self._library(frame, node, callee, args, keywords, name)

    def _known(self, callee: Any) -> bool:
        return callee in self.structural.table

    def _is_helper(self, callee: FunctionType) -> bool:
        """Is it a function to be walked, and none that has a meaning of its own here?"""
        known = callee in self.structural.table or table.recipe_of(callee) is not None
        return not known and not _is_numpy(callee)

    def _check_shapes(self, frame: Frame, node: ast.Call, callee: Any, args: list[Any]) -> None:
        """Raise HawkError for arrays whose shapes a function of `hawk.math` does not take."""
        name = callee.__name__
        if callee is linear.eye:
            if args and not (isinstance(args[0], int) and not isinstance(args[0], bool)):
                what = f"`{name}` takes a number of rows that is known, and this is "
                what += describe(self.numbers, args[0])
                raise HawkError("H212", what, frame.loc(node), "hawk.math.eye(3)")
            return
        shapes = [each.shape if isinstance(each, SmallArray) else None for each in args]
        found = linear.misfit(callee, shapes)
        if found is None:
            return
        place, wanted = found
        written = node.args[place] if place < len(node.args) else node
        value, text = args[place], frame.source.text(written)
        what = f"`{name}` takes {wanted} here, and `{text}` is {describe(self.numbers, value)}"
        fix = ""
        if isinstance(value, (tuple, list)):
            nested = value and isinstance(value[0], (tuple, list))
            fix = f"hawk.math.{'mat' if nested else 'vec'}({text})"
        raise HawkError("H214", what, frame.loc(written), fix)

    # --- functions of libraries ---

    def _library(
        self,
        frame: Frame,
        node: ast.Call,
        callee: Any,
        args: list[Any],
        keywords: dict[str, Any],
        name: str,
    ) -> Any:
        where = frame.loc(node)
        structural = self.structural.table.get(callee) if _hashable(callee) else None
        if structural is not None:
            try:
                inspect.signature(structural).bind(frame, node, *args, **keywords)
            except TypeError as error:
                fix = ""
                if callee in REDUCTIONS:
                    fix = written_right(frame, node, self.numbers.grid)
                raise HawkError("H305", f"`{callee.__name__}`: {error}", where, fix) from None
            return structural(frame, node, *args, **keywords)
        if _hashable(callee) and callee in (min, max) and len(args) == 1:
            args = list(self.structural.sequence(frame, node.args[0], args[0]))
            if "key" not in keywords and len(args) < 2:
                return self._least_of_few(frame, node, args, keywords)
        known = is_known(tuple(args)) and is_known(keywords)
        if known and callee not in table.TYPED and _is_pure(callee):
            by = table.ours(callee)
            if by is not callee or getattr(by, "__module__", None) == "hawk.math":
                self._check_arguments(frame, node, callee, args, keywords)
            result = by_python(lambda: by(*args, **keywords), where)
            if isinstance(result, np.ndarray) and not result.ndim:
                result = result.item()  # what np.where makes of numbers
            if isinstance(getattr(callee, "__self__", None), str):
                result = self.domain.new(result)  # "a b".split()
            return plain(result, where)
        recipe = table.recipe_of(callee)
        if recipe is None and isinstance(getattr(callee, "__self__", None), str):
            raise no_text(where)
        if recipe is None:
            raise self._not_callable(frame, node, callee, known=known)
        text = frame.source.text(node.func)
        shaped = any(isinstance(value, SmallArray) for value in args)
        if shaped and (_is_numpy(callee) or callee is abs) and not keywords:
            self._check_arguments(frame, node, callee, args, keywords)
            return self.domain.expressions.arrays.apply(
                frame, node, lambda *each: recipe(self.numbers, *each), args
            )
        for value in (*args, *keywords.values()):
            self.domain.scatters.check_read(frame, node, value)
        for value, each in zip(args, node.args, strict=False):
            if not isinstance(value, (Scalar, bool, int, float)) and callee not in table.OF_OTHERS:
                what = f"`{text}` takes numbers, and `{frame.source.text(each)}` is "
                fix = ""
                if isinstance(value, SmallArray) and len(args) == 1 and len(value.shape) == 1:
                    (one, _) = fresh(frame.source.text(each))
                    fix = f"hawk.math.vec([{text}({one}) for {one} in {frame.source.text(each)}])"
                what += describe(self.numbers, value)
                where = frame.loc(node if fix else each)
                raise HawkError("H305", what, where, fix)
        self._check_arguments(frame, node, callee, args, keywords)

        def compute() -> Any:
            try:
                return recipe(self.numbers, *args, **keywords)
            except Mixed as mixed:
                raise self._mixed(frame, node, args, mixed) from None

        return self.domain.expressions.guarded(frame, node, compute, name, tuple(node.args))

    def _check_arguments(
        self,
        frame: Frame,
        node: ast.Call,
        callee: Any,
        args: list[Any],
        keywords: dict[str, Any],
    ) -> None:
        """Raise HawkError for arguments that a function does not take in a kernel."""
        recipe = table.RECIPES[callee]
        try:
            inspect.signature(recipe).bind(self.numbers, *args, **keywords)
        except TypeError as error:
            raise self._wrong_arguments(frame, node, recipe, args, keywords, error) from None

    def _mixed(self, frame: Frame, node: ast.Call, args: list[Any], mixed: Mixed) -> HawkError:
        """The error of integers of two types among the arguments of a function."""
        source, what = frame.source, mixed.what
        written: list[ast.expr] = list(node.args)
        if len(written) == 1 and len(args) > 1:
            written = elements(source, written[0])
        pair = mixed.pair or ()
        places = [next((n for n, arg in enumerate(args) if arg is each), None) for each in pair]
        if len(written) != len(args) or None in places or not places:
            what = f"among these are {named(mixed.left)} and {named(mixed.right)}"
            return HawkError("H204", what, frame.loc(node), "one type for all of them")
        both = {
            side: written[n]
            for side, n in zip(("left", "right"), places, strict=True)
            if n is not None
        }
        for side, each in both.items():
            what = what.replace(f"{{{side}}}", source.text(each))
        turned = both[mixed.turned]
        fix = f"{CONVERSIONS[mixed.into]}({source.text(turned)})"
        return HawkError("H204", what, frame.loc(turned), fix)

    def _least_of_few(
        self, frame: Frame, node: ast.Call, values: list[Any], keywords: dict[str, Any]
    ) -> Any:
        """`min` or `max` of no more than one value."""
        text = frame.source.text(node.func)
        if unknown := [name for name in keywords if name != "default"]:
            what = f"`{text}` has no argument `{unknown[0]}`"
            raise HawkError("H305", what, frame.loc(node), f"{text}(..., default=...)")
        if values:
            return values[0]
        if "default" in keywords:
            return keywords["default"]
        what = f"`{text}` of no values, and no default"
        fix = f"{text}({frame.source.text(node.args[0])}, default=...)"
        raise HawkError("H210", what, frame.loc(node), fix)

    def _wrong_arguments(
        self,
        frame: Frame,
        node: ast.Call,
        recipe: Any,
        args: list[Any],
        keywords: dict[str, Any],
        error: TypeError,
    ) -> HawkError:
        """Arguments that a function of a library does not take in a kernel."""
        where, text = frame.loc(node), frame.source.text(node.func)
        given = [frame.source.text(each) for each in node.args]
        placed, named = _by_place(recipe)
        if named and len(given) > len(placed):
            what = f"`{text}` takes {' and '.join(placed)} by place, "
            what += f"and {' and '.join(named)} by name"
            meant = [name for name in named if name != "sample"]
            rest = zip(meant, given[len(placed) :], strict=False)
            written = [*given[: len(placed)], *(f"{name}={value}" for name, value in rest)]
            return HawkError("H305", what, where, f"{text}({', '.join(written)})")
        known = list(inspect.signature(recipe).parameters)[1:]
        if unknown := [name for name in keywords if name not in known]:
            what = f"`{text}` has no argument `{unknown[0]}` in a kernel"
            kept = [each for each in node.keywords if each.arg in known]
            written = [*given, *(frame.source.text(each) for each in kept)]
            return HawkError("H305", what, where, f"{text}({', '.join(written)})")
        written = [*given, *(frame.source.text(each) for each in node.keywords)]
        if options := _by_name(recipe):
            taken = [*known[: len(args)], *keywords]
            due = [name for name, default in options.items() if not default and name not in taken]
            if due:
                fix = f"{text}({', '.join([*written, *(f'{name}=...' for name in due)])})"
                return HawkError("H305", f"`{text}` needs `{due[0]}` in a kernel", where, fix)
            return HawkError("H305", f"`{text}`: {error}", where)
        if len(args) == len(known):
            return HawkError("H305", f"`{text}`: {error}", where)
        count = f"{len(known)} argument{'s' * (len(known) != 1)}"
        what = f"`{text}` takes {count} in a kernel, got {len(args)}"
        missing = ["..."] * (len(known) - len(given))
        fix = f"{text}({', '.join([*given, *missing])})" if missing else ""
        nesting = ("minimum", "fmin", "maximum", "fmax", "hypot")
        if len(args) > 2 and text.rpartition(".")[2] in nesting:
            fix = functools.reduce(lambda a, b: f"{text}({a}, {b})", given)
        return HawkError("H305", what, where, fix)

    def _not_callable(self, frame: Frame, node: ast.Call, callee: Any, *, known: bool) -> HawkError:
        text, where = frame.source.text(node.func), frame.loc(node)
        if isinstance(callee, Scalar) or not callable(callee):
            what = f"`{text}` is {describe(self.numbers, callee)}, not a function"
            fix = f"{text} * (...)" if isinstance(callee, (Scalar, int, float)) else ""
            if isinstance(node.func, ast.Name) and hasattr(builtins, node.func.id):
                fix = f"another name for the number that is called `{text}`"
            return HawkError("H303", what, where, fix)
        library = isinstance(callee, (BuiltinFunctionType, np.ufunc, FunctionType))
        if library or _is_numpy(callee) or (_hashable(callee) and callee in _BUILTINS):
            parts = [] if not node.args else elements(frame.source, node.args[0])
            starred = any(isinstance(each, ast.Starred) for each in node.args) or node.keywords
            given = () if starred else tuple(frame.source.text(each) for each in node.args)
            listed = tuple(frame.source.text(each) for each in parts)
            code, what, fix = table.unknown(callee, text, given, listed)
            return HawkError(code, what, where, fix)
        wrapped = getattr(callee, "__wrapped__", None)
        if isinstance(wrapped, FunctionType):
            what = f"`{text}` is a function wrapped in {type(callee).__name__}, which a kernel "
            return HawkError("H303", what + "cannot look into", where, f"{text}.__wrapped__(...)")
        if isinstance(callee, type):
            what = f"`{text}` is a class; a kernel makes objects of dataclasses only"
            fix = f"@dataclass above the class {callee.__name__}, or a tuple of its numbers"
            return HawkError("H303", what, where, fix)
        what = f"`{text}` is {describe(self.numbers, callee)}; a kernel calls plain functions"
        return HawkError("H303", what, where)

    # --- helpers ---

    def _walk(
        self,
        frame: Frame,
        node: ast.Call,
        source: Source,
        callee: FunctionType | Closure,
        args: list[Any],
        keywords: dict[str, Any],
    ) -> Any:
        """Walk a helper's body with its parameters bound."""
        where = frame.loc(node)
        self._check_depth(frame, source, where)
        if isinstance(callee, Closure):
            self._check_open(frame, node, callee)
        inner = Frame(
            source,
            {**self._bound(frame, node, source, callee, args, keywords), **objects_in(frame.names)},
            caller=where,
            parent=callee.frame if isinstance(callee, Closure) else None,
            depth=frame.depth + 1,
            region=self.domain.region,
        )
        left = self.domain.walker.function(inner)
        value = left[RESULT]
        frame.names.update(objects_in(left))
        if isinstance(value, Unusable) and inner.ends is not None and _returns_value(source):
            raise _no_last_return(source, inner.ends, where)
        if isinstance(value, Unusable):
            raise value.why(f"{source.name}(...)", where)
        return value

    def _check_open(self, frame: Frame, node: ast.Call, callee: Closure) -> None:
        """Check that the numbers a function holds are those of a path that is still open."""
        regions = self.domain.regions
        if callee.region in regions:
            return
        holds = not is_known((callee.defaults, callee.keyword_defaults))
        scope: Frame | None = callee.frame
        while scope is not None:
            gone = scope.region is not None and scope.region not in regions
            holds = holds or (gone and not is_known(scope.names))
            scope = scope.parent
        if holds:
            text = frame.source.text(node.func)
            what = f"`{text}` was made on one path or in one pass of a loop, with numbers of that "
            fix = f"{text}(...) on that path, or what it needs as arguments"
            raise HawkError("H302", what + "path", frame.loc(node), fix)

    def _check_depth(self, frame: Frame, source: Source, where: Loc) -> None:
        if frame.depth > self.deepest[0]:
            self.deepest = frame.depth, source.name, where
        if frame.depth >= DEPTH_MAX:
            raise self.too_deep()

    def too_deep(self) -> HawkError:
        """The error of calls that nest too deeply, at the deepest one there was."""
        _, name, where = self.deepest
        what = f"calls of `{name}` nest more than {DEPTH_MAX} deep, which is the limit; does the "
        what += "recursion end?"
        fix = "a loop, or what goes less deep; recursion can end only by what is known while the "
        fix += "kernel is traced"
        return HawkError("H401", what, _short(where), fix)

    def _inline(
        self, frame: Frame, node: ast.Call, kernel: Any, args: list[Any], keywords: dict[str, Any]
    ) -> Any:
        """One step of another kernel: what it gives is what a call of it gives."""
        where, domain = frame.loc(node), self.domain
        self._check_depth(frame, kernel.source, where)
        signature: Signature = kernel.signature
        masks = {each.name: False for each in signature.parameters if each.role is Role.MASK}
        placed = {each.name for each in signature.declared[: len(args)]}
        absent = masks.keys() - placed - keywords.keys()
        given = {**{n: masks[n] for n in absent}, **keywords}
        names = self._bound(frame, node, kernel.source, kernel.source.function, args, given)
        written: dict[str | None, ast.expr] = {
            **dict(zip([each.name for each in signature.declared], node.args, strict=False)),
            **{each.arg: each.value for each in node.keywords},
        }
        objects = domain.expressions.objects
        held: dict[str, Any] = {}
        for each in signature.declared:
            value = names[each.name]
            if isinstance(each, Bundle):
                place = written.get(each.name, node)
                names[each.name] = self._given_object(frame, place, names, kernel, each, value)
                continue
            dtype = each.element.at(self.numbers.real)
            if each.table is not None:
                self._check_table(frame, written.get(each.name, node), kernel, each, value)
                continue
            if each.grid is not None and each.role is Role.INPUT:
                self._check_grid(frame, written.get(each.name, node), kernel, each, value)
                continue
            if each.element.shape:
                place = written.get(each.name, node)
                names[each.name] = self._shaped(frame, node, place, kernel, each, value)
                continue
            if not isinstance(value, (Scalar, bool, int, float)):
                what = f"`{each.name}` of `{kernel.source.name}` is {named(dtype)}, and it gets "
                raise HawkError("H305", what + describe(self.numbers, value), where)
            place = written.get(each.name, node)
            names[each.name] = domain.expressions.guarded(
                frame, place, lambda v=value, d=dtype: self.numbers.store(v, d)
            )
        leave = Leave(domain, signature, names)
        inner = Frame(
            kernel.source,
            names,
            caller=where,
            depth=frame.depth + 1,
            planes=leave.planes,
            leave=leave,
        )
        for bundle in signature.bundles:
            for path, plane in bundle.planes():
                held[plane.name] = objects.at(inner, node, names[bundle.name], path)
        outer, domain.contract = domain.contract, kernel.contract
        try:
            left = domain.walker.function(inner)
        finally:
            domain.contract = outer
        held |= left

        def make(cls: type, parts: dict[str, Any]) -> Any:
            return objects.new(frame.names, cls, parts, cls.__name__)

        return signature.given_back(lambda plane: held[plane.name], make)

    def _given_object(
        self,
        frame: Frame,
        place: ast.AST,
        names: dict[str, Any],
        kernel: Any,
        bundle: Bundle,
        value: Any,
    ) -> Instance:
        """A new object for a kernel inside a kernel, which holds what the one given holds."""
        objects = self.domain.expressions.objects
        if not isinstance(value, Instance) or not issubclass(value.cls, bundle.cls):
            what = f"`{bundle.name}` of `{kernel.source.name}` is a {bundle.cls.__name__}, and it "
            what += f"gets {describe(self.numbers, value)}"
            raise HawkError("H305", what, frame.loc(place))
        paths = {plane.name: path for path, plane in bundle.planes()}

        def given(plane: Any) -> Any:
            part = objects.at(frame, place, value, paths[plane.name])
            if plane.table is not None:
                self._check_table(frame, place, kernel, plane, part)
                return part
            if plane.grid is not None and plane.role is Role.INPUT:
                self._check_grid(frame, place, kernel, plane, part)
                return part
            if plane.element.shape:
                return self._shaped(frame, place, place, kernel, plane, part)
            return self.domain.expressions.guarded(
                frame,
                place,
                lambda: self.numbers.store(part, plane.element.at(self.numbers.real)),
            )

        return objects.of_planes(names, bundle, given, bundle.name)

    def _check_table(
        self, frame: Frame, node: ast.AST, kernel: Any, parameter: Parameter, value: Any
    ) -> None:
        """Check that what a kernel inside a kernel gets for a Table is one of that form."""
        form, dtype = parameter.table, parameter.element.at(self.numbers.real)
        assert form is not None
        what = f"`{parameter.name}` of `{kernel.source.name}` is a {form.name}, and it gets "
        if not isinstance(value, TableView):
            raise HawkError("H305", what + describe(self.numbers, value), frame.loc(node))
        if parameter.role is Role.SHARED and not value.shared:
            what = f"`{kernel.source.name}` gives to its `{parameter.name}`, and `{value.name}` is "
            what += "a Table that no step changes"
            raise HawkError("H216", what, frame.loc(node), as_shared(value))
        pairs = zip(form.extents, value.form.extents, strict=False)
        fits = len(form.extents) == len(value.form.extents) and value.dtype is dtype
        if not fits or any(a is not None and a != b for a, b in pairs):
            raise HawkError("H305", what + f"a {value.form.name}", frame.loc(node))

    def _check_grid(
        self, frame: Frame, node: ast.AST, kernel: Any, parameter: Parameter, value: Any
    ) -> None:
        """Check that what a kernel inside a kernel gets for a Grid is one of its dimensions."""
        form, dtype = parameter.grid, parameter.element.at(self.numbers.real)
        assert form is not None
        what = f"`{parameter.name}` of `{kernel.source.name}` is a {form.name}, and it gets "
        if not isinstance(value, GridScalar) or value.form is None:
            raise HawkError("H305", what + describe(self.numbers, value), frame.loc(node))
        pairs = zip(form.extents, value.form.extents, strict=False)
        fits = form.axes == value.form.axes and value.dtype is dtype
        if value.changed:
            raise HawkError("H305", what + f"a Mutable[{value.form.name}]", frame.loc(node))
        if not fits or any(a is not None and a != b for a, b in pairs):
            raise HawkError("H305", what + f"a {value.form.name}", frame.loc(node))

    def _shaped(
        self, frame: Frame, node: ast.AST, place: ast.AST, kernel: Any, plane: Any, value: Any
    ) -> SmallArray:
        """A small array that a kernel inside a kernel gets, in memory of its own."""
        arrays, element = self.domain.expressions.arrays, plane.element
        value = arrays.known(frame, node, value, element.shape)
        if not isinstance(value, SmallArray) or value.shape != element.shape:
            what = f"`{plane.name}` of `{kernel.source.name}` is {article(element)}, and it gets "
            raise HawkError("H305", what + describe(self.numbers, value), frame.loc(place))
        arrays.check(frame, place, value)
        dtype = element.at(self.numbers.real)
        parts = self.domain.expressions.guarded(
            frame, place, lambda: [self.numbers.store(part, dtype) for part in value.parts]
        )
        return self.domain.memory.fresh(value.shape, parts)

    def _bound(
        self,
        frame: Frame,
        node: ast.Call,
        source: Source,
        callee: FunctionType | Closure,
        args: list[Any],
        keywords: dict[str, Any],
    ) -> dict[str, Any]:
        """The parameters of a helper with what they get."""
        where = frame.loc(node)
        declared = source.node.args
        for extra in (declared.vararg, declared.kwarg):
            if extra is not None:
                what = f"`{source.name}` takes any number of arguments (`{extra.arg}`)"
                fix = f"{extra.arg}0, {extra.arg}1: one parameter for each"
                raise HawkError("H106", what, source.loc(extra, caller=where), fix)
        if isinstance(callee, Closure):
            defaults, by_name = callee.defaults, callee.keyword_defaults
        else:
            defaults, by_name = callee.__defaults__ or (), callee.__kwdefaults__ or {}
        positional = [arg.arg for arg in (*declared.posonlyargs, *declared.args)]
        first = len(positional) - len(defaults)
        bound: dict[str, Any] = {
            name: plain(value, where, name)
            for name, value in zip(positional[first:], defaults, strict=True)
        }
        bound.update({name: plain(value, where, name) for name, value in by_name.items()})
        if len(args) > len(positional):
            count = f"{len(positional)} argument{'s' * (len(positional) != 1)}"
            what = f"`{source.name}` takes {count}, got {len(args)}"
            raise HawkError("H305", what, where, _fewer(node, frame, len(positional)))
        given = dict(zip(positional, args, strict=False))
        accepted = {*(arg.arg for arg in (*declared.args, *declared.kwonlyargs))}
        for name, value in keywords.items():
            if name not in accepted:
                what = f"`{source.name}` has no parameter `{name}`"
                near = nearest(name, accepted)
                fix = f"{source.name}(..., {near}=...)" if near else ""
                raise HawkError("H305", what, where, fix)
            if name in given:
                what = f"`{source.name}` gets `{name}` twice, by place and by name"
                raise HawkError("H305", what, where, "it once")
            given[name] = value
        bound.update(given)
        every = [*positional, *(arg.arg for arg in declared.kwonlyargs)]
        missing = [name for name in every if name not in bound]
        if missing:
            what = f"`{source.name}` needs `{missing[0]}`"
            raise HawkError("H305", what, where, f"{source.name}(..., {missing[0]}=...)")
        return bound


def _fewer(node: ast.Call, frame: Frame, count: int) -> str:
    """A call with no more arguments by place than the function takes."""
    source = frame.source
    if any(isinstance(each, ast.Starred) for each in node.args):
        return f"{count} arguments"
    given = [source.text(each) for each in (*node.args[:count], *node.keywords)]
    return f"{source.text(node.func)}({', '.join(given)})"


_BUILTINS = {
    *(abs, min, max, int, float, bool, round, pow, divmod, sorted, map, filter, complex, str),
    super,
}


def _by_place(recipe: Any) -> tuple[list[str], list[str]]:
    """The arguments of a function that are given by place, and those given by name only."""
    parameters = list(inspect.signature(recipe).parameters.values())[1:]
    named = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
    return [each.name for each in parameters if each.name not in named], named


def _returns_value(source: Source) -> bool:
    returns = [each for each in own_nodes(source.body) if isinstance(each, ast.Return)]
    return any(each.value is not None for each in returns)


def _no_last_return(source: Source, end: ast.AST, caller: Loc) -> HawkError:
    """The error of a helper that returns a value on one path and nothing on another."""
    given = [each for each in own_nodes(source.body) if isinstance(each, ast.Return) and each.value]
    line, last = given[0].lineno, source.loc(end)
    path = f"it ends after line {last.line} without `return`"
    statement = source.body[-1]
    if isinstance(statement, (ast.For, ast.While)):
        path = f"the loop in line {last.line} ends, and nothing is returned"
    elif isinstance(statement, (ast.If, ast.Match)):
        path = f"nothing that line {last.line} chooses returns"
    if any(end is each for each in own_nodes(source.body)):
        path = f"it returns nothing in line {last.line}"
    what = f"`{source.name}` returns a value in line {line}, and on another path {path}"
    fix = f"{source.text(given[0])}, or other numbers of that form, as its last line"
    return HawkError("H205", what, source.head(caller), fix)


def _by_name(recipe: Any) -> dict[str, bool]:
    """Of a function with arguments that are given by name only: which have a default."""
    parameters = list(inspect.signature(recipe).parameters.values())[1:]
    if all(each.kind is not inspect.Parameter.KEYWORD_ONLY for each in parameters):
        return {}
    return {each.name: each.default is not inspect.Parameter.empty for each in parameters}


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _is_numpy(callee: Any) -> bool:
    return (getattr(callee, "__module__", None) or "").split(".")[0] == "numpy"


def _is_pure(callee: Any) -> bool:
    """Whether Python may run `callee` on known objects while the kernel is traced."""
    owner = getattr(callee, "__self__", None)
    if (
        isinstance(callee, BuiltinFunctionType)
        and owner is not None
        and not inspect.ismodule(owner)
    ):
        allowed: set[str] = set()
        for kind, methods in PURE_METHODS.items():
            if isinstance(owner, kind):
                allowed = allowed | methods
        return callee.__name__ in allowed
    if isinstance(callee, np.ufunc):
        return True
    path = getattr(callee, "__module__", None) or ""
    module = path.split(".")[0]
    if path.startswith("numpy.random"):
        return False
    if module in ("math", "numpy", "operator", "_operator", "cmath"):
        return True
    return path == "hawk.math" or (module == "builtins" and callee not in _IMPURE)


_IMPURE = {
    print,
    input,
    open,
    exec,
    eval,
    setattr,
    delattr,
    globals,
    locals,
    vars,
    id,
    hash,
    map,
    filter,
    super,
}


def _short(where: Loc) -> Loc:
    """The place with the first two callers only: the rest of an endless recursion is the same."""
    chain: list[Loc] = []
    at: Loc | None = where
    while at is not None:
        chain.append(at)
        at = at.caller
    kept = chain[:2] + chain[-1:] if len(chain) > 3 else chain
    result: Loc | None = None
    for each in reversed(kept):
        result = Loc(
            each.file, each.line, each.col, each.end_line, each.end_col, each.function, result
        )
    assert result is not None
    return result
