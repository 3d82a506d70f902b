"""Writes down what a builder calls: nodes, the memory they work on, and what is refused at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from eagle.devices.base import Device, allocations, home_of
from eagle.devices.host.device import HOST
from eagle.devices.host.memory import address_of
from eagle.devices.plan import (
    Cell,
    CellKind,
    Compare,
    Condition,
    Copy,
    Item,
    Plan,
    Put,
    Region,
    Relation,
    Root,
    View,
    cells_of,
)
from eagle.graph.codes import GraphError, graph_error
from eagle.graph.outside import is_held
from eagle.graph.planes import Plane
from eagle.graph.touches import ordered, waits_of
from eagle.params import shown
from hawk.errors import NOWHERE, Loc
from hawk.ir.types import DType
from hawk.kernel import Kernel

if TYPE_CHECKING:
    from hawk.frontend.source import Source

DTYPES = {np.dtype(dtype.numpy): dtype for dtype in DType}


class GraphRecorder:
    """What there is of a graph until now."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.open = False
        """Is a builder or a block being read?"""
        self.fuse = True
        """May kernels run in one pass over the samples?"""
        self.body: list[Item] = []
        self.inside = self.body
        """The body that nodes are added to now."""
        self.controls: list[str] = []
        """The branches and loops that are open and decided at replay, as they are written."""
        self.lane = ""
        self.refuse_node: str = ""
        """Why no node may be written here; empty where it may."""
        self.roots: list[Root] = []
        self.device: Device = HOST
        self.loc: Loc = NOWHERE
        self.hint = ""
        """The name that the user gives to what is being evaluated."""
        self.on_host: list[tuple[str, Plane, str, Loc]] = []
        """Outputs of kernels that were made on the host: kernel, plane, its name there, place."""
        self._known: dict[int, Plane] = {}
        self._constants: dict[int, Plane] = {}
        self._anew: dict[Root, str] = {}
        """Arrays that Python would make anew each time it comes by, and the branch or loop."""
        self._names: dict[str, Any] = {}
        """The names before the outermost of the branches and loops that are open."""
        self.sources: list[Source] = []
        """The builder and blocks that are being read."""

        self.source: Source | None = None
        """The text of the builder, and what it was called with, when all is recorded."""
        self.arguments: dict[str, Any] = {}
        self._claimed = False
        self.version = 0
        """Counts what was added when nothing was open any more."""

    def claim(self) -> None:
        """`eagle.Graph()` is the graph that is being built; there is only one."""
        if self._claimed:
            raise self.error("G102", "a builder makes one graph, and this is a second one", "g")
        self._claimed = True

    def plan(self) -> Plan:
        """All that was recorded."""
        return Plan(self.name, self.body, self.roots, self.device, ordered, waits_of, self.fuse)

    # -- saying no ---------------------------------------------------------------------------------

    def error(self, code: str, what: str, fix: str = "") -> GraphError:
        """The error of what is wrong at the place that is being read."""
        return graph_error(code, what, self.loc, fix)

    # -- memory ------------------------------------------------------------------------------------

    def plane(self, value: object, name: str, parameter: str = "") -> Plane | None:
        """The plane that `value` is or stands for; None for what is no array."""
        if isinstance(value, Plane):
            return value
        known = self.known(value)
        if known is not None:
            return known
        found = home_of(value)
        if found is None:
            return None
        device, view = found
        root = self.root(name, value, view, device, made=False, parameter=parameter)
        if self.controls and isinstance(value, np.ndarray) and not self._is_held(value):
            self._anew[root] = self.controls[-1]
        plane = self._known[id(value)] = Plane(self, root, name)
        return plane

    def known(self, value: object) -> Plane | None:
        """The plane that stands for `value`, if it was met before."""
        plane = self._known.get(id(value))
        return plane if plane is not None and plane.root.array is value else None

    def root(
        self,
        name: str,
        array: Any,
        view: View,
        device: Device,
        *,
        made: bool,
        parameter: str = "",
    ) -> Root:
        """Memory that was not known yet."""
        if device is not HOST:
            if self.device not in (HOST, device):
                what = f"`{name}` lives on {device.name}, and others of this graph on "
                what += f"{self.device.name}; a graph has one device"
                raise self.error("G201", what, "a graph for each device")
            self.device = device
        root = Root(name, array, view, device, made, parameter, address_of(view))
        self.roots.append(root)
        return root

    def make(self, name: str, shape: tuple[int, ...], dtype: Any, device: Device) -> Plane:
        """A plane of the graph's own."""
        known = DTYPES.get(np.dtype(dtype))
        if known is None:
            what = f"`{name}` is one plane or another, as is decided at replay, and of type {dtype}"
            raise self.error("G105", what, "planes of a type that kernels have")
        array = device.empty(shape, known)
        view = device.locate(array)
        assert view is not None
        return Plane(self, self.root(name, array, view, device, made=True), name)

    def made(self, name: str, array: Any) -> Plane:
        """A plane of the graph's own, in host memory that is there already."""
        return Plane(self, self.root(name, array, array, HOST, made=True), name)

    def cell(self, name: str, kind: CellKind = CellKind.BOOL) -> Plane:
        """A new cell, on the side where the graph looks at cells."""
        return self.make(name, (1,), kind.value, self.device)

    def constant(self, number: int) -> Cell:
        """A cell that nobody writes."""
        if not -(2**63) <= number < 2**63:
            raise self.error("G103", f"{number} does not fit a cell, which has 64 bits")
        if number not in self._constants:
            self._constants[number] = self.made(str(number), np.array([number], np.int64))
        return Cell(self._constants[number].region, CellKind.I64, number)

    # -- nodes -------------------------------------------------------------------------------------

    def add(self, item: Item) -> None:
        """Add a node here."""
        if not self._claimed:
            what = "a node comes before the graph that it belongs to"
            raise self.error("G102", what, "g = eagle.Graph() as the first line of the builder")
        if self.refuse_node:
            raise self.error("G303", self.refuse_node, "with p.branch(): around it")
        for region in item.writes:
            if region.root in self._anew:
                self._refuse_anew(item, region)
        item.loc, item.lane = self.loc, self.lane
        self.inside.append(item)

    @contextmanager
    def into(
        self, body: list[Item], control: str = "", names: Mapping[str, Any] | None = None
    ) -> Iterator[None]:
        """Nodes recorded inside `with` belong to `body`, part of the branch or loop `control`.

        `names` are those that there are before it.
        """
        before, self.inside = self.inside, body
        refuse = allocations.refuse
        if control:
            if not self.controls:
                self._names = dict(names or {})
            self.controls.append(control)
            allocations.refuse = self._refuse_allocation
        try:
            yield
        finally:
            self.inside, allocations.refuse = before, refuse
            if control:
                self.controls.pop()

    def _refuse_allocation(self, made: str) -> None:
        control = self.controls[-1]
        what = f"{made} is made inside `{control}`: once, when the graph is built, and not each "
        what += "time a replay comes by"
        raise self.error("G401", what, f"it before `{control}`, and a kernel or copy that fills it")

    def _is_held(self, array: Any) -> bool:
        """Was an array there before the branch or loop that it is met in?"""
        known = {name: each for s in self.sources for name, each in s.namespace().items()}
        return is_held(array, self._names, known)

    def _refuse_anew(self, item: Item, region: Region) -> NoReturn:
        control = self._anew[region.root]
        what = (
            f"`{item.name}` writes `{region.name}`, an array that nothing outside of `{control}` "
        )
        what += "holds: Python would make it anew each time, and the graph has one"
        fix = f"the array before `{control}`, and in there a kernel or copy that fills it"
        raise self.error("G106", what, fix)

    def call(
        self,
        kernel: Kernel[..., Any],
        args: Sequence[object],
        planes: Mapping[str, object],
        **options: Any,
    ) -> Any:
        from eagle.graph.kernels import launch

        return launch(self, kernel, args, planes, **options)

    def join(self, source: Plane, into: Plane, body: list[Item]) -> None:
        """Give the memory in which paths meet the numbers of one of them."""
        with self.into(body):
            name = f"{into.name} = {source.name}"
            self.add(Copy(name=name, reads=(source.region,), writes=(into.region,), join=True))

    # -- cells and conditions ----------------------------------------------------------------------

    def put(self, cell: Plane, value: Cell | Condition, body: list[Item] | None = None) -> None:
        """Write a cell."""
        read = [value] if isinstance(value, Cell) else list(cells_of(value))
        reads = tuple(each.region for each in read)
        item = Put(
            name=f"{cell.name} = {value.region.name}" if isinstance(value, Cell) else cell.name,
            reads=reads,
            writes=(cell.region,),
            own=(cell.root,),
            cell=cell.cell,
            value=value,
        )
        with self.into(self.inside if body is None else body):
            self.add(item)

    def compare(self, left: Plane, relation: Relation, right: object) -> Plane:
        """Compare a cell with another, or with a number, where it is written."""
        return self.truth(*self.comparison(left, relation, right))

    def comparison(self, left: object, relation: Relation, right: object) -> tuple[Condition, str]:
        """A comparison of two cells, or of one with a number; and as it is written."""
        (one, first), (two, second) = self._side(left, right), self._side(right, left)
        return Compare(one, relation, two), f"{first} {relation.value} {second}"

    def _side(self, value: object, other: object) -> tuple[Cell, str]:
        if isinstance(value, np.generic) and value.dtype.kind in "biu":
            value = value.item()
        if isinstance(value, (bool, int)):
            return self.constant(int(value)), str(value)
        plane = self.plane(value, "cell")
        if plane is None:
            name = other.name if isinstance(other, Plane) else "a cell"
            what = f"`{name}` is compared with {shown(value)}; a graph compares integers"
            raise self.error("G103", what, "a kernel that writes whether it holds: -> Bool")
        return plane.cell, plane.name

    def refuse_foreign(self, value: object, text: str = "") -> None:
        """Refuse to ask an array that is no plane of the graph: the answer would be that of now."""
        if isinstance(value, np.ndarray):
            what = f"`{text}`" if text else "what is matched"
            what += " is an array that is no parameter of the builder, so it would be asked once, "
            what += "while the graph is built, and not at each replay"
            raise self.error("G103", what, f"{text or 'it'} as a parameter of the builder")

    def truth(self, condition: Condition, said: str) -> Plane:
        """A cell with whether a condition holds here and now."""
        cell = self.cell(said)
        self.put(cell, condition)
        return cell

    def holds(self, plane: Plane) -> Condition:
        """Is a cell true?"""
        return Compare(plane.cell, Relation.NE, self.constant(0))


def regions(planes: Sequence[Plane]) -> tuple[Region, ...]:
    """What a node reads or writes."""
    return tuple(plane.region for plane in planes)
