"""What stands in a builder besides kernels: copies, Python functions, reductions, pinned arrays.

Each does the same outside of a builder, at once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from eagle.devices.base import Device, allocations
from eagle.devices.host.device import HOST
from eagle.devices.host.reduce import reduced
from eagle.devices.host.stretches import same_memory
from eagle.devices.plan import Call, Copy, Reduce
from eagle.graph.planes import Plane
from eagle.graph.recorder import DTYPES, GraphRecorder, regions
from eagle.overlap import overlap
from eagle.params import shown, whole
from eagle.recording import recorder
from hawk.ir.reduce import result_of
from hawk.ir.types import DType

T = TypeVar("T")
KINDS = ("sum", "min", "max", "mean")


def _writer() -> GraphRecorder | None:
    writer = recorder()
    assert writer is None or isinstance(writer, GraphRecorder)
    return writer


def _at_once(name: str) -> GraphRecorder:
    """A recorder of nothing, for a call outside of a builder: it makes the same checks."""
    return GraphRecorder(name)


def copy(source: object, *, into: T) -> T:
    """Copy the numbers of one array into another of the same shape and type; return that one.

    Where each of them lives says which way it goes. In a builder it is a node. Two ends in the same
    memory are a copy that does nothing; two that overlap otherwise are refused with GraphError, as
    is all else that does not fit. Raises GraphError before a byte is touched.
    """
    writer = _writer()
    checker = writer or _at_once("eagle.copy")
    one, two = _array(checker, source, "source"), _array(checker, into, "into")
    _check_ends(checker, one, two)
    if writer is None:
        if not same_memory(one.view, two.view):
            device = two.root.device if two.root.device is not HOST else one.root.device
            device.copy(one.root, two.root)
        return into
    name = f"copy {one.name}"
    writer.add(Copy(name=name, reads=(one.region,), writes=(two.region,)))
    return into if isinstance(into, Plane) else two  # type: ignore[return-value]


def _array(checker: GraphRecorder, value: object, name: str) -> Plane:
    plane = checker.plane(value, name)
    if plane is None:
        raise checker.error("G203", f"eagle.copy copies arrays, and {name!r} is {shown(value)}")
    return plane


def _check_ends(checker: GraphRecorder, one: Plane, two: Plane) -> None:
    first, second = one.view, two.view
    if first.shape != second.shape:
        what = f"eagle.copy: `{one.name}` has shape {first.shape}, `{two.name}` {second.shape}"
        raise checker.error("G203", what, "two arrays of one shape")
    if first.dtype != second.dtype:
        what = f"eagle.copy: `{one.name}` is {first.dtype}, `{two.name}` {second.dtype}; a copy "
        what += "converts nothing"
        raise checker.error("G203", what, f"into= an array of {first.dtype}")
    if first.dtype.hasobject:
        what = f"eagle.copy: `{one.name}` holds Python objects, which are no memory to copy"
        raise checker.error("G203", what, "arrays of numbers")
    if not second.flags.writeable:
        raise checker.error(
            "G203", f"eagle.copy: `{two.name}` is read-only", "into= a writable array"
        )
    if overlap(first, second) and not same_memory(first, second):
        what = f"eagle.copy: `{one.name}` and `{two.name}` share some of their memory, so which "
        what += "numbers arrive would depend on the order"
        raise checker.error("G203", what, "into= an array of its own, and from there")


def opaque(
    function: Callable[..., object],
    *,
    reads: object = (),
    writes: object = (),
    eager: bool = False,
    capture: bool = False,
    name: str | None = None,
) -> None:
    """Call a Python function at each replay, in its place among the nodes.

    `reads` and `writes` are the planes it looks at and changes: one, or several; by these it is
    ordered. It is called with them, those it reads first and each once, or without arguments if it
    takes none. An exception of it is kept, and raised by the launch, or by what is next asked of
    the graph. `eager`: it may use the device, so the graph is cut there. `capture`: on a GPU it is
    called once, by the first launch, with arrays there, and what CuPy or PyTorch launch in it is
    part of the graph from then on; with NumPy's arrays it is called at each replay. Outside of a
    builder it is called at once. Raises GraphError for planes that are none.
    """
    writer = _writer()
    checker = writer or _at_once("eagle.opaque")
    title = name or getattr(function, "__name__", "function")
    if not callable(function):
        raise checker.error("G204", f"eagle.opaque takes a function, got {shown(function)}")
    read, written = _planes(checker, reads, "reads"), _planes(checker, writes, "writes")
    for plane in written:
        if not plane.view.flags.writeable:
            raise checker.error("G204", f"`{plane.name}` is read-only, and {title} writes it")
    unique: list[Plane] = []
    for plane in (*read, *written):
        if not any(plane.same_as(each) for each in unique):
            unique.append(plane)
    takes = _takes(checker, function, title, unique)
    if capture:
        _check_captured(checker, title, unique, eager=eager)
    else:
        _check_side(checker, title, unique, eager=eager)

    def call() -> object:
        return function(*[plane.array for plane in unique]) if takes else function()

    if writer is None:
        call()
        return
    item = Call(
        name=title,
        reads=regions(read),
        writes=regions(written),
        function=call,
        eager=eager,
        captured=capture,
    )
    writer.add(item)


def _planes(checker: GraphRecorder, given: object, name: str) -> list[Plane]:
    if checker.plane(given, name) is not None:
        given = (given,)
    if not isinstance(given, (tuple, list)):
        raise checker.error("G204", f"{name}= takes planes, got {shown(given)}", f"{name}=(x, y)")
    planes: list[Plane] = []
    for place, each in enumerate(given):
        plane = checker.plane(each, f"{name}[{place}]")
        if plane is None:
            what = f"{name}= takes planes, and one is {shown(each)}"
            raise checker.error("G204", what, f"{name}=(x, y), the arrays themselves")
        planes.append(plane)
    return planes


def _takes(
    checker: GraphRecorder, function: Callable[..., object], title: str, planes: Sequence[Plane]
) -> bool:
    """Does it want its planes as arguments?"""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # one that does not say
        return True
    for arguments in (planes, ()):
        try:
            signature.bind(*arguments)
        except TypeError:
            continue
        return bool(signature.parameters)
    names = ", ".join(f"`{plane.name}`" for plane in planes) or "nothing"
    what = f"{title}{signature} cannot be called with its planes: {names}"
    raise checker.error(
        "G204", what, f"def {title}() or a parameter for each of reads= and writes="
    )


def _check_side(
    checker: GraphRecorder, title: str, planes: Sequence[Plane], *, eager: bool
) -> None:
    if eager:
        if checker.controls:
            what = f"{title} is eager, so the graph is cut there, and it cannot be cut inside "
            what += f"`{checker.controls[-1]}`"
            raise checker.error("G401", what, "it before or after")
        if checker.lane:
            what = f"{title} is eager, so the graph is cut there, and branches cannot be cut"
            raise checker.error("G401", what, "it before or after the fork")
        return
    device: Device | None = next((p.root.device for p in planes if p.root.device is not HOST), None)
    if device is not None:
        what = f"{title} runs on the host and is given planes of {device.name}"
        fix = f"eager=True or capture=True, if it uses {device.name} itself; or eagle.copy(...) of "
        fix += "them before"
        raise checker.error("G201", what, fix)


def _check_captured(
    checker: GraphRecorder, title: str, planes: Sequence[Plane], *, eager: bool
) -> None:
    if eager:
        what = f"{title} is eager and captured: called at each replay, and by the first launch only"
        raise checker.error("G204", what, "eager=True or capture=True")
    sides = {plane.root.device: plane for plane in planes}
    if not sides:
        what = f"{title} is captured, and nothing says which arrays its work reads and writes"
        raise checker.error("G204", what, "reads= and writes=, the arrays that it works on")
    if len(sides) > 1:
        host = sides.pop(HOST)
        what = f"{title} is captured on {next(iter(sides)).name}, and `{host.name}` is on the host"
        raise checker.error("G201", what, "arrays of one side, with eagle.copy(...) before it")


def reduce(plane: object, kind: str, *, into: T) -> T:
    """Reduce all numbers of a plane to one, and write it into a cell; return the cell.

    `kind` is "sum", "min", "max" or "mean", with the bits of `hawk.sum` and its like. `into` is an
    array of one number, where the plane is. In a builder it is a node. On a GPU nobody waits for
    it but who reads the number. Raises GraphError for anything else.
    """
    writer = _writer()
    checker = writer or _at_once("eagle.reduce")
    source, cell = checker.plane(plane, "x"), checker.plane(into, "into")
    if source is None or cell is None:
        what = f"eagle.reduce takes two planes, got {shown(plane if source is None else into)}"
        raise checker.error("G205", what, 'eagle.reduce(x, "sum", into=cell)')
    if kind not in KINDS:
        kinds = ", ".join(f'"{each}"' for each in KINDS)
        what = f"eagle.reduce knows {kinds}, got {shown(kind)}"
        raise checker.error("G205", what, "eagle.opaque(f, reads=x, writes=cell) for another one")
    dtype = DTYPES.get(source.dtype)
    if dtype is None or (dtype is DType.BOOL) or (kind == "mean" and not dtype.is_float):
        what = f"eagle.reduce: there is no {kind} of `{source.name}`, which is {source.described}"
        wanted = "a float" if kind == "mean" else "a float or an integer"
        raise checker.error("G205", what, f"a kernel that makes {wanted} of it")
    result = np.dtype(result_of(kind, dtype).numpy)
    if cell.size != 1 or cell.dtype != result or not cell.view.flags.writeable:
        what = f"eagle.reduce: the {kind} of `{source.name}` is one {result}, and `{cell.name}` is "
        what += cell.described
        example = f'np.zeros(1, "{result}")'
        raise checker.error("G205", what, f"into= an array of one {result}, such as {example}")
    if overlap(source.view, cell.view):
        raise checker.error(
            "G205", f"`{cell.name}` is part of `{source.name}`, which is reduced to it"
        )
    if source.root.device is not cell.root.device:
        what = f"`{source.name}` is on {source.root.device.name}, `{cell.name}` on "
        raise checker.error("G201", what + cell.root.device.name, "a cell beside the plane")

    if writer is None and source.root.device is HOST:
        cell.view[...] = reduced(kind, dtype, source.view)
        return into
    item = Reduce(
        name=f"{kind} of {source.name}",
        reads=(source.region,),
        writes=(cell.region,),
        kind=kind,
        dtype=dtype,
    )
    if writer is None:
        _launch_alone(checker, item)
        return into
    writer.add(item)
    return into if isinstance(into, Plane) else cell  # type: ignore[return-value]


def _launch_alone(checker: GraphRecorder, item: Reduce) -> None:
    """Ask a device for one node, as a graph that is launched once."""
    checker.claim()
    checker.add(item)
    plan = checker.plan()
    for _, what, fix in checker.device.objections(plan):
        raise checker.error("G401", what, fix)
    checker.device.capture(plan).enqueue(1)


def pinned(shape: Any, dtype: Any = np.float64) -> NDArray[Any]:
    """A NumPy array of zeros in page-locked memory, which a GPU copies to and from by itself.

    Where there is no GPU it is an ordinary array. Raises ValueError for what is no shape, or no
    type of numbers.
    """
    allocations.check("a pinned array")
    sizes = shape if isinstance(shape, (tuple, list)) else (shape,)
    numbers = [whole(each) for each in sizes]
    if any(each is None or each < 0 for each in numbers):
        raise ValueError(f"eagle.pinned: expected a shape such as (6, 100), got {shown(shape)}")
    sides = tuple(each for each in numbers if each is not None)
    kind = np.dtype(dtype)
    if kind.hasobject or not kind.itemsize:
        raise ValueError(f"eagle.pinned: expected a type of numbers, got {shown(dtype)}")
    return HOST.pinned(sides, kind)
