"""Numbers of a kernel for CPython: a typed number whose operators compute what the program would.

A kernel's own function runs with them one sample at a time (`recompile` prepares it): the oracle
of the frontend, and the way to debug a kernel with prints and breakpoints. Nothing here knows the
walker: control flow is CPython's. It is one thing of 400 lines: the number, and what rewritten
functions call in the place of what was written.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import Any, NoReturn

import numpy as np

from hawk import math as own
from hawk.annotations import Element
from hawk.collective import REDUCTIONS, scatter
from hawk.frontend import grids, tables
from hawk.frontend import names as table
from hawk.frontend import python_arrays as arrays
from hawk.frontend.arithmetic import Arithmetic
from hawk.frontend.bundles import Bundle, instance, is_bundle
from hawk.frontend.debug import debug, misfit_text
from hawk.frontend.operators import Kind, Literal, Misfit, literal
from hawk.frontend.python_arrays import Array
from hawk.frontend.python_objects import PythonObjects
from hawk.frontend.recompile import recompile
from hawk.frontend.reductions import Batch
from hawk.frontend.scatters import PythonSpot, PythonSpots
from hawk.frontend.signature import NO_DEFAULT, Parameter, Signature
from hawk.frontend.values import TableView
from hawk.ir.hidden import PLACES, dimension_name, extent_name, whole_name
from hawk.ir.meaning import represent
from hawk.ir.nodes import WRITTEN, Role
from hawk.ir.ops import OPS, result_type
from hawk.ir.types import DType

NOT_DONE = False
"""What the mask of a sample holds when a step starts."""


class PythonNumbers(Arithmetic):
    """Arithmetic that computes at once, by the meanings of the table of operations."""

    def __init__(self, real: DType, *, fast: bool = False) -> None:
        self.real, self.fast = real, fast
        self.places: Mapping[str, int] = {}
        """Which sample this is, of how many, in which step."""
        self.extents: dict[str, tuple[int, ...]] = {}
        """The extents of each table."""
        self.dimensions: dict[str, int] = {}
        """The extents of the grid."""
        self.wholes: dict[str, Sequence[Any]] = {}
        """The numbers of all samples in each plane that is a Grid."""

    def is_number(self, value: object) -> bool:
        return isinstance(value, Number)

    def kind(self, value: Any) -> Kind:
        if isinstance(value, Number):
            return Literal.INT if value.free else value.dtype
        return literal(value)

    def emit(self, op: str, *values: Any, free: bool = False) -> Number:
        dtype = result_type(op, tuple(value.dtype for value in values))
        number = OPS[op].meaning(values[-1].dtype, *(value.number for value in values))
        return Number(self, dtype, number, free)

    def constant(self, number: Any, dtype: DType, *, free: bool = False) -> Number:
        return Number(self, dtype, represent(dtype, number), free)

    def known(self, value: Any) -> Any:
        return value.number

    def where(
        self, test: Any, then: Callable[[], tuple[Any, ...]], orelse: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        return then() if test.number else orelse

    def repeat(
        self,
        carried: tuple[Any, ...],
        test: Callable[..., Any],
        body: Callable[..., tuple[Any, ...]],
    ) -> tuple[Any, ...]:
        while test(*carried).number:
            carried = body(*carried)
        return carried

    def place(self, name: str) -> Number:
        return self.constant(self.places[name], DType.I64)

    def extent(self, table: str, axis: int) -> Number:
        return self.constant(self.extents[table][axis], DType.I32)

    def dimension(self, axis: str) -> Number:
        return self.constant(self.dimensions[axis], DType.I32)

    def whole(self, grid: str, dtype: DType) -> Number:
        return Number(self, dtype, self.wholes[grid])

    def at_the_place_of(self, other: PythonNumbers) -> None:
        """Be where the numbers of another shim are, in the same batch."""
        self.places, self.grid, self.dimensions = other.places, other.grid, other.dimensions

    def certain(self, value: Any) -> None:
        return None  # what a number is here, it need not be for another sample

    def outside(self, index: Number, length: int) -> None:
        """An index of a small array is beyond its ends; the nearest element is taken."""


def _operator(symbol: str) -> Callable[[Any, Any], Any]:
    def forward(self: Number, other: Any) -> Any:
        return self.binary(symbol, self, other)

    return forward


def _reflected(symbol: str) -> Callable[[Any, Any], Any]:
    def backward(self: Number, other: Any) -> Any:
        return self.binary(symbol, other, self)

    return backward


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Number:
    """One number of a kernel, of type `dtype`. It prints as the number."""

    numbers: PythonNumbers
    dtype: DType
    number: Any
    free: bool = False
    """An Index that takes the type of what it meets."""

    __array_ufunc__ = None  # NumPy's scalars leave operators with a Number to it

    def binary(self, symbol: str, left: Any, right: Any) -> Any:
        left, right = _plain(left), _plain(right)
        other = right if left is self else left
        if not isinstance(other, (Number, bool, int, float)):
            return NotImplemented
        try:
            return self.numbers.binary(symbol, left, right)
        except Misfit as misfit:
            raise TypeError(misfit_text(misfit, left, right)) from None

    __add__, __radd__ = _operator("+"), _reflected("+")
    __sub__, __rsub__ = _operator("-"), _reflected("-")
    __mul__, __rmul__ = _operator("*"), _reflected("*")
    __truediv__, __rtruediv__ = _operator("/"), _reflected("/")
    __floordiv__, __rfloordiv__ = _operator("//"), _reflected("//")
    __mod__, __rmod__ = _operator("%"), _reflected("%")
    __pow__, __rpow__ = _operator("**"), _reflected("**")
    __lshift__, __rlshift__ = _operator("<<"), _reflected("<<")
    __rshift__, __rrshift__ = _operator(">>"), _reflected(">>")
    __and__, __rand__ = _operator("&"), _reflected("&")
    __or__, __ror__ = _operator("|"), _reflected("|")
    __xor__, __rxor__ = _operator("^"), _reflected("^")
    __lt__, __le__, __gt__, __ge__ = map(_operator, ("<", "<=", ">", ">="))

    def __eq__(self, other: object) -> Any:
        return self.binary("==", self, other)

    def __ne__(self, other: object) -> Any:
        return self.binary("!=", self, other)

    def __hash__(self) -> int:
        return hash(self.number)

    def __neg__(self) -> Any:
        return self._unary("-")

    def __pos__(self) -> Any:
        return self._unary("+")

    def __invert__(self) -> Any:
        return self._unary("~")

    def _unary(self, symbol: str) -> Any:
        try:
            return self.numbers.unary(symbol, self)
        except Misfit as misfit:
            raise TypeError(misfit_text(misfit, self, self)) from None

    def __bool__(self) -> bool:
        return bool(self.number != 0)

    def __index__(self) -> int:
        if self.dtype.is_float:
            raise TypeError("a float does not pick an element")
        return int(self.number)

    def __repr__(self) -> str:
        return repr(self.number)

    def __str__(self) -> str:
        return str(self.number)

    def __format__(self, spec: str) -> str:
        return format(self.number, spec)


@dataclass(frozen=True, slots=True, eq=False)
class PythonTable(TableView):
    """A table whose elements CPython looks up."""

    @classmethod
    def of(
        cls, numbers: PythonNumbers, parameter: Parameter, values: Any, extents: tuple[int, ...]
    ) -> PythonTable:
        """The table of a parameter. `values` are numbers of its type, all in one row."""
        assert parameter.table is not None
        dtype = parameter.element.at(numbers.real)
        numbers.extents[parameter.text] = extents
        handle = Number(numbers, dtype, values)
        shared = parameter.role is Role.SHARED
        return cls(parameter.text, numbers, handle, parameter.table, dtype, shared)

    def __getitem__(self, index: Any) -> Any:
        return self._element(index if isinstance(index, tuple) else (index,))

    def at(self, *indices: Any, **named: Any) -> Any:
        try:
            return self._element(tables.ordered(self, indices, named))
        except Misfit as misfit:
            raise TypeError(misfit_text(misfit)) from None

    def _element(self, indices: Any) -> Any:
        try:
            return tables.element(self, indices)
        except Misfit as misfit:
            raise TypeError(misfit_text(misfit)) from None

    @property
    def shape(self) -> tuple[Any, ...]:
        return tables.shape(self)

    def __iter__(self) -> NoReturn:
        raise TypeError(f"the table `{self.name}` is read at its indices")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GridNumber(Number):
    """The number of a Grid, which can be asked for those of other samples."""

    name: str = ""
    form: Any = None
    changed: bool = False

    def __getitem__(self, index: Any) -> Any:
        indices = index if isinstance(index, tuple) else (index,)
        return self._of_other(lambda: grids.element(self, indices))

    def at(self, *indices: Any, **named: Any) -> Any:
        return self._of_other(lambda: grids.at(self, indices, named))

    def neighbor(self, *offsets: Any, **named: Any) -> Any:
        return self._of_other(lambda: grids.neighbor(self, offsets, named))

    @property
    def shape(self) -> tuple[Any, ...]:
        return grids.shape(self)

    def _of_other(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except Misfit as misfit:
            raise TypeError(misfit_text(misfit)) from None

    def __iter__(self) -> NoReturn:
        raise TypeError(f"the grid `{self.name}` is read at its indices")


def _plain(value: Any) -> Any:
    """NumPy's scalars, and arrays of no dimension, are Python's numbers."""
    single = isinstance(value, np.generic) or (isinstance(value, np.ndarray) and not value.ndim)
    return value.item() if single else value


@dataclass(frozen=True, slots=True)
class Product:
    """A product that is directly an operand of `+` or `-`."""

    first: Any
    second: Any


@dataclass(frozen=True, slots=True)
class KernelRange:
    """A `range` whose elements are Index numbers."""

    numbers: PythonNumbers
    range: range

    def __iter__(self) -> Iterator[Number]:
        for number in self.range:
            yield self.numbers.constant(number, DType.I64)

    def __reversed__(self) -> Iterator[Number]:
        return iter(KernelRange(self.numbers, self.range[::-1]))

    def __len__(self) -> int:
        return len(self.range)

    def __getitem__(self, place: Any) -> Any:
        return self.range[place]


class Shim:
    """What recompiled functions call in the place of what they were written with."""

    def __init__(
        self, real: DType, *, contract: bool, fast: bool = False, batch: Batch | None = None
    ) -> None:
        self.numbers = PythonNumbers(real, fast=fast)
        self.contract, self.objects = contract, PythonObjects(self)
        self.tests: list[Any] = []
        """What the expressions test that are being evaluated, the innermost last."""
        self.asserts = True
        """Whether assertions are made."""
        self.batch = batch or Batch()
        self.other: Shim | None = None
        """The shim of kernels that contract where this one does not, or the other way round."""
        self.made: dict[FunctionType, FunctionType] = {}
        self.codes: set[Any] = set()
        """The code of every function that is recompiled already, inner ones too."""

    def within(self, *, contract: bool) -> Shim:
        """The shim of a kernel that is called by this one: it is made once, as is all it makes."""
        if contract is self.contract:
            return self
        if self.other is None:
            real, fast = self.numbers.real, self.numbers.fast
            self.other = Shim(real, contract=contract, fast=fast, batch=self.batch)
            self.other.other, self.other.asserts = self, self.asserts
        self.other.numbers.at_the_place_of(self.numbers)
        return self.other

    def recompiled(
        self, function: FunctionType, kept: tuple[str, ...] | None = None
    ) -> FunctionType:
        """`function` with calls, sums and exits going through this shim."""
        if function.__code__ in self.codes:
            return function
        if function not in self.made:
            self.made[function] = recompile(function, self, kept, contract=self.contract)
        return self.made[function]

    def given(self, kernel: Any, values: Mapping[str, Any]) -> dict[str, Any]:
        """What a step of a kernel takes, from the plain numbers that its planes hold.

        `values` has a sequence of numbers for each table, and what the hidden planes hold.
        """
        numbers, given = self.numbers, dict[str, Any]()
        numbers.places = {name: int(values[name]) for name in PLACES if name in values}
        numbers.grid = kernel.signature.grid
        if numbers.grid is not None:
            axes = numbers.grid.axes
            numbers.dimensions = {axis: int(values[dimension_name(axis)]) for axis in axes}
        parameters, _ = kernel.signature.scalars
        for each in parameters:
            if each.name not in values:
                continue
            value = values[each.name]
            dtype = each.element.at(numbers.real)
            if each.grid is not None:
                changed = each.role is Role.STATE
                numbers.extents[each.text] = tuple(numbers.dimensions.values())
                numbers.wholes[each.text] = values.get(whole_name(each.name), ())
                given[each.name] = GridNumber(
                    numbers, dtype, value, name=each.text, form=each.grid, changed=changed
                )
            elif each.table is None:
                given[each.name] = Number(numbers, dtype, value)
            else:
                axes = range(len(each.table.extents))
                extents = tuple(int(values[extent_name(each.name, axis)]) for axis in axes)
                given[each.name] = PythonTable.of(numbers, each, value, extents)
        return given

    def step(self, kernel: Any, given: dict[str, Any]) -> dict[str, Number]:
        """One step of one sample of a kernel: the numbers it stores, by plane or component."""
        self.batch.given.clear()
        signature: Signature = kernel.signature
        if not signature.shaped and not signature.bundles:
            return self.call_step(kernel, given)
        whole = dict(given)
        for name, element in signature.shaped.items():
            parts = [whole.pop(each, None) for each in element.components(name)]
            if parts[0] is not None:
                whole[name] = Array.of(self.numbers, element.shape, parts)
        for each in signature.bundles:
            whole[each.name] = each.build(lambda plane: whole.pop(plane.name), instance)
        left: dict[str, Number] = {}
        for name, value in self.call_step(kernel, whole).items():
            if name in signature.shaped:
                names = signature.shaped[name].components(name)
                left.update(zip(names, value.values, strict=True))
            else:
                left[name] = value
        return left

    def call_step(self, kernel: Any, given: dict[str, Any]) -> dict[str, Any]:
        """One step, from what its parameters are: the numbers and arrays it stores, by plane."""
        signature: Signature = kernel.signature
        taken: dict[str, Any] = {}
        for each in signature.declared:
            if each.name in given:
                taken.update(self._planes(each, given[each.name]))
        args: dict[str, Any] = {}
        for each in signature.declared:
            if isinstance(each, Bundle):
                args[each.name] = each.build(lambda plane: taken[plane.name], instance)
            elif each.name in taken:
                args[each.name] = taken[each.name]
            elif each.role is Role.MASK:
                args[each.name] = self.numbers.settle(NOT_DONE)
        returned, finals = self.recompiled(kernel.source.function, signature.observed)(**args)
        wholes = {each.name: each for each in (*signature.declared, *signature.returned)}
        left = dict(zip(signature.observed, finals, strict=True))
        if signature.returned:
            parts = (returned,) if signature.nesting == "one" else returned
            left.update(zip([each.name for each in signature.returned], parts, strict=True))
        stored: dict[str, Any] = {}
        for name, value in left.items():
            stored.update(self._planes(wholes[name], value, kept=True))
        return stored

    def _planes(self, whole: Any, value: Any, *, kept: bool = False) -> dict[str, Any]:
        """What the planes of a parameter or an output hold; `kept`: those that are stored."""
        pairs = [(whole, value)]
        if isinstance(whole, Bundle):
            if not isinstance(value, whole.cls):
                raise TypeError(f"{whole.name} is a {whole.cls.__name__}, not {value!r}")
            pairs = [
                (plane, functools.reduce(getattr, path, value)) for path, plane in whole.planes()
            ]
        real = self.numbers.real
        return {
            plane.name: each
            if isinstance(each, TableView)
            else self.stored(plane.name, each, plane.element, real)
            for plane, each in pairs
            if not kept or plane.role in WRITTEN
        }

    def stored(self, name: str, value: Any, element: Element, real: DType) -> Any:
        """A value as a plane of floats of width `real` holds it."""
        dtype = element.at(real)
        if element.shape:
            if isinstance(value, (tuple, list)):  # a default
                value = Array.of(self.numbers, element.shape, np.ravel(value).tolist())
            if not isinstance(value, Array) or value.shape != element.shape:
                raise TypeError(f"{name} is a {element.name}, not {value!r}")
            stored = [self.numbers.store(each, dtype) for each in value.values]
            return Array.of(self.numbers, element.shape, stored)
        try:
            return self.numbers.store(value, dtype)
        except Misfit as misfit:
            raise TypeError(misfit_text(misfit, name, name)) from None

    # --- sums ---

    def product(self, first: Any, second: Any) -> Product:
        return Product(first, second)

    def add(self, left: Any, right: Any) -> Any:
        """`left + right`, rounded once where a float product is directly an operand."""
        if _arrays(left, right):
            return self._sum_of_arrays(left, right, "+")
        if isinstance(left, Product):
            other = _multiplied(right)
            if self._fuses(left, other):
                return self._fused(left.first, left.second, other)
            return _multiplied(left) + other
        if self._fuses(right, left):
            return self._fused(right.first, right.second, left)
        return left + _multiplied(right)

    def add_to(self, left: Any, right: Any) -> Any:
        """What `left += right` makes of `left`, where `right` may be a product."""
        if isinstance(left, list):
            left += _multiplied(right)
            return left
        if isinstance(left, PythonSpot):
            left += _multiplied(right)
            return left
        total = self.add(left, right)
        return left.become(total) if isinstance(left, Array) else total

    def take_from(self, left: Any, right: Any) -> Any:
        """What `left -= right` makes of `left`, where `right` may be a product."""
        if isinstance(left, PythonSpot):
            left -= _multiplied(right)
            return left
        rest = self.subtract(left, right)
        return left.become(rest) if isinstance(left, Array) else rest

    def subtract(self, left: Any, right: Any) -> Any:
        """`left - right`, rounded once where a float product is directly an operand."""
        if _arrays(left, right):
            return self._sum_of_arrays(left, right, "-")
        if isinstance(left, Product):
            other = _multiplied(right)
            if self._fuses(left, other):
                return self._fused(left.first, left.second, -self._typed(left, other))
            return _multiplied(left) - other
        if self._fuses(right, left):
            return self._fused(-self._typed(right, right.first), right.second, left)
        return left - _multiplied(right)

    def _sum_of_arrays(self, left: Any, right: Any, symbol: str) -> Any:
        """A sum with a product, of which at least one part is an array: number by number."""
        one = self.add if symbol == "+" else self.subtract
        if isinstance(left, Product):
            return arrays.apply(
                self.numbers,
                lambda a, b, c: one(Product(a, b), c),
                *(left.first, left.second, _multiplied(right)),
            )
        return arrays.apply(
            self.numbers,
            lambda c, a, b: one(c, Product(a, b)),
            *(left, right.first, right.second),
        )

    def _fuses(self, product: Any, added: Any) -> bool:
        """Is the product one of floats, and of the type that the sum has?"""
        if not isinstance(added, (Number, bool, int, float)):
            return False
        value = _multiplied(product)
        return (
            isinstance(value, Number)
            and value.dtype.is_float
            and (value + added).dtype is value.dtype
        )

    def _typed(self, product: Product, value: Any) -> Number:
        return self.numbers.to(value, _multiplied(product).dtype)

    def _fused(self, first: Any, second: Any, added: Any) -> Number:
        dtype = (first * second).dtype
        terms = [self.numbers.to(value, dtype) for value in (first, second, added)]
        return self.numbers.emit("fma", *terms)

    def cut(self, start: Any, stop: Any, step: Any) -> slice:
        """`start:stop:step`, as it stands in brackets."""
        return slice(start, stop, step)

    # --- truth and paths ---

    def is_number(self, value: Any) -> bool:
        if isinstance(value, (tuple, list)):
            return any(self.is_number(part) for part in value)
        return isinstance(value, Number)

    def number_in(self, value: Any) -> Any:
        """A number of the kernel in `value`, if there is one."""
        if isinstance(value, (tuple, list)):
            return next((part for part in map(self.number_in, value) if part is not None), None)
        return value if isinstance(value, Number) else None

    def settle(self, value: Any) -> Any:
        """A number that was assigned on one of several paths has a type."""
        if isinstance(value, tuple) and type(value) is tuple:
            return tuple(self.settle(part) for part in value)
        return self.numbers.settle(value)

    def asked(self, test: Any) -> Any:
        """What an expression tests, kept until it is answered."""
        self.tests.append(test)
        return test

    def answered(self) -> Any:
        return self.tests.pop()

    def chosen(self, value: Any, test: Any) -> Any:
        return self.settle(value) if isinstance(test, Number) else value

    def negation(self, value: Any) -> Any:
        return self.numbers.opposite(value) if isinstance(value, Number) else not value

    def identity(self, left: Any, right: Any) -> Any:
        """`left is right`: bools are two objects, and a Bool is one of them."""
        numbers = [isinstance(each, Number) for each in (left, right)]
        if any(numbers) and all(map(_is_bool, (left, right))):
            return left == right
        return left is right

    @property
    def true(self) -> Truth:
        """What `case True` compares with."""
        return Truth(truth=True)

    @property
    def false(self) -> Truth:
        """What `case False` compares with."""
        return Truth(truth=False)

    def remainder(self, left: Any, right: Any) -> Any:
        """`left % right`; a text is filled with what the numbers are."""
        return left % _bare(right) if isinstance(left, str) else left % right

    def contains(self, value: Any, container: Any) -> Any:
        """`value in container`, a number where it takes one to tell."""
        found: Any = False
        if isinstance(container, KernelRange):
            container = container.range
        if not self.is_number((value, *container)):
            return value in container
        for each in container:
            equal = value == each
            if equal is True:
                return True
            if isinstance(equal, Number):
                found = self.numbers.emit("or", found, equal) if found is not False else equal
        return found

    def loop(self, values: Any) -> Any:
        """What a `for` runs over."""
        if isinstance(values, range):
            return KernelRange(self.numbers, values)
        return values

    def is_range(self, values: Any) -> bool:
        return isinstance(values, KernelRange)

    # --- calls ---

    def call(self, function: Any, /, *args: Any, **keywords: Any) -> Any:
        """Call `function` as a kernel would."""
        args = tuple(self.loop(_plain(value)) for value in args)
        keywords = {name: self.loop(_plain(value)) for name, value in keywords.items()}
        target: Any = function
        if function is debug:
            return debug(*args, **keywords)
        if function is len and len(args) == 1 and isinstance(args[0], TableView):
            return tables.length(args[0])
        if isinstance(function, FunctionType) and function in REDUCTIONS:
            try:
                return self.batch.reduced(self.numbers, REDUCTIONS[function], *args, **keywords)
            except Misfit as misfit:
                raise TypeError(misfit_text(misfit)) from None
        if function is scatter:
            return PythonSpots(self.batch.given, *args, **keywords)
        if function is own.vec or function is own.mat:
            return (arrays.vec if function is own.vec else arrays.mat)(self.numbers, *args)
        if function is range:
            return KernelRange(self.numbers, range(*[_whole(each) for each in args]))
        if function is reversed and args and isinstance(args[0], KernelRange):
            return KernelRange(self.numbers, args[0].range[::-1])
        if function in (any, all) and len(args) == 1:
            return self._quantified(function, list(args[0]))
        if function in (min, max) and len(args) == 1:
            args = tuple(args[0])
            if len(args) < 2 or "key" in keywords:
                return function(args, **keywords)
        recipe = table.recipe_of(function)
        given = (*args, *keywords.values())
        if recipe is not None and any(isinstance(each, Array) for each in args):
            if function is sum:
                return _sum(*args, **keywords)
            each_of = functools.partial(recipe, self.numbers)
            return arrays.apply(self.numbers, each_of, *args)
        if recipe is not None and (
            function in table.TYPED or any(isinstance(v, Number) for v in given)
        ):
            try:
                return recipe(self.numbers, *args, **keywords)
            except Misfit as misfit:
                raise TypeError(misfit_text(misfit, *(*args, "", "")[:2])) from None
        signature = getattr(function, "signature", None)
        if isinstance(signature, Signature):
            names = [each.name for each in signature.declared]
            defaults = {
                each.name: each.default
                for each in signature.declared
                if each.default is not NO_DEFAULT and not isinstance(each, Bundle)
            }
            inner = self.within(contract=target.contract)
            given = {**defaults, **dict(zip(names, args, strict=False)), **keywords}
            held: dict[str, Any] = dict(given)
            for each in signature.bundles:
                held.update(self._planes(each, given[each.name]))
            held.update(inner.call_step(function, given))
            return signature.given_back(lambda plane: held[plane.name])
        if is_bundle(function):
            return self.objects.construct(target, args, keywords)
        if function is dataclasses.replace:
            return self.objects.replaced(*args, **keywords)
        if function is copy.copy:
            return copy.copy(args[0])
        method = type(function).__call__
        if isinstance(method, FunctionType) and not isinstance(function, type):
            return self.call(method, function, *args, **keywords)
        match function:
            case functools.partial():
                return self.call(
                    function.func, *function.args, *args, **{**function.keywords, **keywords}
                )
            case MethodType() if function.__func__.__module__.startswith("hawk.frontend."):
                return function(*args, **keywords)  # of a table, or another thing of this shim
            case MethodType() if isinstance(function.__func__, FunctionType):
                return self.call(function.__func__, function.__self__, *args, **keywords)
            case FunctionType() if (function.__module__ or "").split(".")[0] not in (
                "numpy",
                "math",
            ):
                return self.recompiled(function)(*args, **keywords)
            case _:
                return _plain(table.ours(function)(*args, **keywords))

    # --- objects ---

    def get(self, owner: Any, name: str) -> Any:
        """`owner.name`; a property of an object is computed as a kernel would."""
        return self.objects.get(owner, name)

    def put(self, value: Any, owner: Any, name: str) -> None:
        """`owner.name = value`; a field holds the kernel type that it is annotated with."""
        self.objects.put(value, owner, name)

    def _quantified(self, function: Any, values: list[Any]) -> Any:
        answer = function(values)
        return self.settle(answer) if self.is_number(values) else answer


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """Equal to a bool, or a Bool, of this truth and to nothing else: `1 is True` does not hold."""

    truth: bool

    def __eq__(self, other: object) -> Any:
        return other == self.truth if _is_bool(other) else False

    def __hash__(self) -> int:
        return hash(self.truth)


def _is_bool(value: object) -> bool:
    return value.dtype is DType.BOOL if isinstance(value, Number) else isinstance(value, bool)


def _bare(value: Any) -> Any:
    """A value with Python's numbers in the place of those of a kernel."""
    if isinstance(value, Number):
        return value.number
    if isinstance(value, tuple):
        return tuple(_bare(part) for part in value)
    if isinstance(value, dict):
        return {key: _bare(part) for key, part in value.items()}
    return value


def _arrays(*values: Any) -> bool:
    """Is an array among these, or in a product?"""
    return any(
        isinstance(each, Array) or (isinstance(each, Product) and _arrays(each.first, each.second))
        for each in values
    )


def _sum(values: Any, start: Any = 0) -> Any:
    for value in values:
        start = start + value
    return start


def _multiplied(value: Any) -> Any:
    return value.first * value.second if isinstance(value, Product) else value


def _whole(value: Any) -> int:
    if isinstance(value, Number) and value.dtype.is_int:
        return int(value.number)
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"a range runs over integers, not {value!r}")
    return value
