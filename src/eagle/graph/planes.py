"""Planes while a graph is built: they stand for arrays whose numbers are known only at replay.

A plane knows where its array is, its shape and its type, and can be cut into views. What would need
its numbers is refused, with what to write; a cell, a plane of one integer or bool, may be compared.
When the graph is built, a plane acts as its array.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from eagle.devices.host.memory import address_of
from eagle.devices.plan import Cell, CellKind, Region, Relation, Root, View
from eagle.graph.codes import GraphError

if TYPE_CHECKING:
    from eagle.graph.recorder import GraphRecorder

KINDS = {np.dtype(kind.value): kind for kind in CellKind}
_SHAPES = ("reshape", "ravel", "flatten", "squeeze", "transpose", "swapaxes", "T", "view")
"""What would make another view of an array."""


class Plane:
    """An array of a graph that is being built, or a view of one."""

    __slots__ = ("_path", "_recorder", "name", "root", "view")

    def __init__(
        self,
        recorder: GraphRecorder,
        root: Root,
        name: str,
        view: View | None = None,
        path: tuple[Callable[[Any], Any], ...] = (),
    ) -> None:
        self._recorder = recorder
        self.root, self.name = root, name
        self.view = root.view if view is None else view
        self._path = path

    # -- what is known now -------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        return self.view.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.view.dtype

    @property
    def ndim(self) -> int:
        return self.view.ndim

    @property
    def size(self) -> int:
        return self.view.size

    @property
    def nbytes(self) -> int:
        return self.view.nbytes

    @property
    def itemsize(self) -> int:
        return self.view.itemsize

    def __len__(self) -> int:
        return len(self.view)

    @property
    def T(self) -> Plane:  # noqa: N802 - as arrays call it
        return self._derived(operator.attrgetter("T"), f"{self.name}.T")

    def __getitem__(self, key: Any) -> Plane:
        parts = key if isinstance(key, tuple) else (key,)
        for part in parts:
            if not (part is None or part is Ellipsis or isinstance(part, (int, slice, np.integer))):
                raise self._recorder.error(
                    "G104",
                    f"`{self.name}[...]` is picked by {_said(part)}, which copies; "
                    "a plane is cut by numbers and slices",
                    f"a kernel that picks, or {self.name}[1:3]",
                )
        whole = key if any(part is Ellipsis for part in parts) else (*parts, Ellipsis)
        text = ", ".join("..." if part is Ellipsis else _index(part) for part in parts)
        return self._derived(operator.itemgetter(whole), f"{self.name}[{text}]")

    def __iter__(self) -> Iterator[Plane]:
        return (self[place] for place in range(len(self.view)))

    def _derived(self, cut: Callable[[Any], Any], name: str) -> Plane:
        return Plane(self._recorder, self.root, name, cut(self.view), (*self._path, cut))

    # -- for who records ---------------------------------------------------------------------------

    @property
    def region(self) -> Region:
        offset = address_of(self.view) - self.root.address
        return Region(self.name, self.root, self.view, self.root.at(offset))

    @property
    def kind(self) -> CellKind | None:
        """The type of the cell it is, if it is one."""
        return KINDS.get(self.view.dtype) if self.view.size == 1 else None

    @property
    def cell(self) -> Cell:
        """The cell it is. Refused where it is none."""
        kind = self.kind
        if kind is None:
            what = (
                f"`{self.name}` is {self.described}, and a graph asks for the truth of one number"
            )
            fix = f'eagle.reduce({self.name}, "max", into=cell), and `cell`'
            if self.view.size == 1:
                fix = "a kernel that writes whether it holds: -> Bool"
            raise self._recorder.error("G103", what, fix)
        return Cell(self.region, kind)

    @property
    def described(self) -> str:
        """Its type and shape."""
        return f"{self.view.dtype} {self.view.shape}"

    @property
    def array(self) -> Any:
        """The array it stands for, cut from whatever array its root is now.

        Raises RuntimeError for one that is never stored.
        """
        if not self.root.stored:
            raise RuntimeError(
                f"`{self.name}` is not stored: the nodes that write and read it run in one pass, "
                "and nobody else was known to look at it\n"
                f"  write: g.result = {self.name}, or among others; or eagle.Graph(fuse=False)"
            )
        array = self.root.array
        for cut in self._path:
            array = cut(array)
        return array

    def same_as(self, other: Plane) -> bool:
        """Is it the same memory, seen in the same way?"""
        mine, theirs = self.view, other.view
        return (
            self.root is other.root
            and mine.shape == theirs.shape
            and mine.strides == theirs.strides
            and mine.dtype == theirs.dtype
            and address_of(mine) == address_of(theirs)
        )

    # -- what needs its numbers --------------------------------------------------------------------

    def __bool__(self) -> bool:
        if not self._recorder.open:
            return bool(self.array)
        what = f"the truth of `{self.name}` is known only at replay, and here Python needs it now"
        fix = f"if {self.name}: ... in the builder itself, or t = ... of it on a line of its own"
        raise self._recorder.error("G103", what, fix)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:  # noqa: FBT001 - NumPy's
        if not self._recorder.open:
            return np.asarray(self.array, dtype=dtype, copy=copy)
        raise self._computes("as an array of NumPy")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if not self._recorder.open:
            arrays = [each.array if isinstance(each, Plane) else each for each in inputs]
            return getattr(ufunc, method)(*arrays, **kwargs)
        raise self._computes(f"by np.{ufunc.__name__}")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if not self._recorder.open:
            return function(*_arrays(args), **kwargs)
        raise self._computes(f"by np.{function.__name__}")

    def __getattr__(self, name: str) -> Any:
        there = name == "__cuda_array_interface__"  # of the array that a function is about to use
        if name.startswith("__") and (self._recorder.open or not there):  # a protocol
            raise AttributeError(name)
        if not self._recorder.open:
            return getattr(self.array, name)
        fix = "a @hawk.kernel that does it, called here"
        if name in ("sum", "min", "max", "mean"):
            fix = f'eagle.reduce({self.name}, "{name}", into=cell)'
        elif name in ("copy", "cpu", "get", "numpy", "cuda"):
            fix = f"eagle.copy({self.name}, into=...)"
        elif name == "item":
            fix = f"if {self.name}: or for i in range({self.name}): in the builder itself"
        elif name in _SHAPES:
            what = f"`{self.name}.{name}`: a plane has the shape that its array was made with"
            fix = f"x.{name}(...) of the array x itself, before the builder is called, given to it "
            fix += "as one more parameter: both are the same memory"
            if self.root.made:
                fix += f"; and x as the buffer= of what makes {self.name}"
            raise self._recorder.error("G104", what, fix)
        what = f"`{self.name}.{name}`: the numbers of a plane are known only at replay"
        raise self._recorder.error("G104", what, fix)

    def __setitem__(self, key: Any, value: Any) -> None:
        if not self._recorder.open:
            self.array[key] = value
            return
        name = self[key].name
        source = value.name if isinstance(value, Plane) else "..."
        what = f"`{name} = ...` would run once, while the graph is built"
        raise self._recorder.error("G104", what, f"eagle.copy({source}, into={name})")

    def _computes(self, how: str) -> GraphError:
        return self._recorder.error(
            "G104",
            f"`{self.name}` is used {how} while the graph is built; its numbers are known only at "
            "replay",
            "a @hawk.kernel that computes it, called here;\n"
            f"or eagle.opaque(f, reads={self.name}, writes=...), which calls f at each replay",
        )

    def __repr__(self) -> str:
        return f"<plane {self.name}: {self.described}>"

    __hash__ = object.__hash__


def _compares(symbol: str, compute: Callable[[Any, Any], Any]) -> Callable[[Plane, Any], Any]:
    def compare(self: Plane, other: Any) -> Any:
        if not self._recorder.open:
            return compute(self.array, other.array if isinstance(other, Plane) else other)
        return self._recorder.compare(self, Relation(symbol), other)

    return compare


def _computes(symbol: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    def operate(self: Plane, *others: Any) -> Any:
        if not self._recorder.open:
            return compute(*_arrays([self, *others]))
        raise self._computes(f"in `{symbol}`")

    return operate


def _turned(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda right, left: compute(left, right)


_COMPARISONS = {
    "lt": ("<", operator.lt),
    "le": ("<=", operator.le),
    "gt": (">", operator.gt),
    "ge": (">=", operator.ge),
    "eq": ("==", operator.eq),
    "ne": ("!=", operator.ne),
}
_ONE_SIDED = {
    "neg": ("-", operator.neg),
    "pos": ("+", operator.pos),
    "invert": ("~", operator.invert),
    "abs": ("abs", abs),
}
_TWO_SIDED = {
    "add": ("+", operator.add),
    "sub": ("-", operator.sub),
    "mul": ("*", operator.mul),
    "truediv": ("/", operator.truediv),
    "floordiv": ("//", operator.floordiv),
    "mod": ("%", operator.mod),
    "pow": ("**", pow),
    "matmul": ("@", operator.matmul),
    "and": ("&", operator.and_),
    "or": ("|", operator.or_),
    "xor": ("^", operator.xor),
    "lshift": ("<<", operator.lshift),
    "rshift": (">>", operator.rshift),
}
for _name, (_symbol, _function) in _COMPARISONS.items():
    setattr(Plane, f"__{_name}__", _compares(_symbol, _function))
for _name, (_symbol, _function) in _ONE_SIDED.items():
    setattr(Plane, f"__{_name}__", _computes(_symbol, _function))
for _name, (_symbol, _function) in _TWO_SIDED.items():
    setattr(Plane, f"__{_name}__", _computes(_symbol, _function))
    setattr(Plane, f"__r{_name}__", _computes(_symbol, _turned(_function)))


def _number_of(kind: str) -> Callable[[Plane], Any]:
    def number(self: Plane) -> Any:
        if not self._recorder.open:
            return getattr(self.array, f"__{kind}__")()
        what = f"Python asks for the number in `{self.name}`, which is known only at replay"
        fix = "a plane where a kernel takes one; or a branch or loop in the builder itself"
        raise self._recorder.error("G103", what, fix)

    return number


for _name in ("int", "float", "complex", "index"):
    setattr(Plane, f"__{_name}__", _number_of(_name))


def _said(part: object) -> str:
    return "a plane" if isinstance(part, Plane) else f"a {type(part).__name__}"


def _index(part: object) -> str:
    if isinstance(part, slice):
        ends = ["" if each is None else str(each) for each in (part.start, part.stop)]
        return ":".join(ends) + ("" if part.step is None else f":{part.step}")
    return str(part)


def _arrays(value: Any) -> Any:
    if isinstance(value, Plane):
        return value.array
    if isinstance(value, (list, tuple)):
        return type(value)(_arrays(each) for each in value)
    return value


def arrays_of(value: Any) -> Any:
    """`value` with the arrays in place of the planes, tuples, lists and dicts opened."""
    if isinstance(value, Plane):
        return value.array
    if isinstance(value, (tuple, list)):
        parts = [arrays_of(each) for each in value]
        named = hasattr(value, "_fields")
        return type(value)(*parts) if named else type(value)(parts)
    if isinstance(value, dict):
        return {key: arrays_of(each) for key, each in value.items()}
    return value
