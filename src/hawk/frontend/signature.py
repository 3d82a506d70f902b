"""From annotations to planes: what each parameter and output of a kernel is.

Annotations may be objects or text (`from __future__ import annotations`); text is evaluated with
the function's globals and closure.
"""

from __future__ import annotations

import ast
import re
import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

import numpy as np

from hawk import annotations as words
from hawk.annotations import BOOL, INDEX, SCALAR, Element, GridForm, Marker, TableForm
from hawk.errors import Edit, HawkError, Loc
from hawk.frontend import grid_annotations as grids
from hawk.frontend.bundle_planes import bundle_of, bundle_text, is_declared
from hawk.frontend.bundles import Bundle, Make, instance
from hawk.frontend.parameters import NO_DEFAULT, Output, Parameter
from hawk.frontend.refused import check
from hawk.frontend.source import Source, bound_names, nearest, own_nodes, read_names
from hawk.ir.nodes import MUTABLE, Role

__all__ = ["NO_DEFAULT", "Nesting", "Output", "Parameter", "Signature", "read"]

Nesting: TypeAlias = Literal["one", "tuple"] | None


@dataclass(frozen=True, slots=True)
class Signature:
    """The planes of a kernel. `nesting` says how `return` is nested: None, one value, a tuple."""

    declared: tuple[Parameter | Bundle, ...]
    """The parameters as the function has them; one that is an object is a Bundle."""
    returned: tuple[Output | Bundle, ...]
    nesting: Nesting
    parameters: tuple[Parameter, ...] = field(init=False)
    """A plane each: those of a bundle one after the other."""
    outputs: tuple[Output, ...] = field(init=False)
    shaped: dict[str, Element] = field(init=False, repr=False)
    """The planes that hold a small array a sample, by name."""
    scalars: tuple[tuple[Parameter, ...], tuple[Output, ...]] = field(init=False, repr=False)
    """Parameters and outputs with a plane for each component of a small array."""
    tables: bool = field(init=False, repr=False)
    """Is there a Table among the parameters?"""
    bundles: tuple[Bundle, ...] = field(init=False, repr=False)
    """The parameters that are objects."""
    kept: tuple[Bundle, ...] = field(init=False, repr=False)
    """The Mutables and the outputs that are objects."""
    grid: GridForm | None = None
    """How the samples are arranged, where some plane is a Grid."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", _flat(self.declared))
        object.__setattr__(self, "outputs", _flat(self.returned))
        planes = (*self.parameters, *self.outputs)
        shaped = {each.name: each.element for each in planes if each.element.shape}
        object.__setattr__(self, "shaped", shaped)
        tables = any(each.table is not None for each in self.parameters)
        object.__setattr__(self, "tables", tables)
        parts = (self.parameters, self.outputs)
        if shaped:
            parts = (
                tuple([part for each in self.parameters for part in _parameters(each)]),
                tuple([part for each in self.outputs for part in _output_parts(each)]),
            )
        object.__setattr__(self, "scalars", parts)
        object.__setattr__(self, "bundles", _bundles(self.declared))
        object.__setattr__(self, "kept", _bundles((*self.state, *self.returned)))

    @property
    def state(self) -> tuple[Parameter | Bundle, ...]:
        """The Mutables as the function has them, in the order of the signature."""
        return tuple([each for each in self.declared if is_declared(each, *MUTABLE)])

    def given_back(self, value: Callable[[Any], Any], make: Make = instance) -> Any:
        """What a call gives: `value` says what a plane holds, `make` makes an object of a bundle.

        Without `return`, that is the one Mutable, or a tuple of them in the order of the signature.
        """
        whole = self.state if self.nesting is None else self.returned
        values = tuple(
            [each.build(value, make) if isinstance(each, Bundle) else value(each) for each in whole]
        )
        alone = self.nesting == "one" or (self.nesting is None and len(values) == 1)
        return values[0] if alone else values

    def objects(self, value: Callable[[Any], Any]) -> dict[str, Any]:
        """State and outputs that are objects, by name: `value` says what a plane holds."""
        return {each.name: each.build(value, instance) for each in self.kept}

    @property
    def observed(self) -> tuple[str, ...]:
        """The parameters whose last value is stored: Mutables and the Terminated."""
        kept = (Role.STATE, Role.MASK)
        return tuple([each.name for each in self.declared if is_declared(each, *kept)])


def _bundles(whole: tuple[Any, ...]) -> tuple[Bundle, ...]:
    return tuple([each for each in whole if isinstance(each, Bundle)])


def _flat(whole: tuple[Any, ...]) -> tuple[Any, ...]:
    """Each plane of these."""
    planes: list[Any] = []
    for each in whole:
        planes += [plane for _, plane in each.planes()] if isinstance(each, Bundle) else [each]
    return tuple(planes)


def _parameters(whole: Parameter) -> Iterator[Parameter]:
    """A parameter as one for each component."""
    element = whole.element
    if not element.shape:
        yield whole
        return
    names, scalar = element.components(whole.name), replace(element, shape=())
    defaults: list[object] = [NO_DEFAULT] * len(names)
    if whole.default is not NO_DEFAULT:
        defaults = np.ravel(np.asarray(whole.default)).tolist()
    for name, default in zip(names, defaults, strict=True):
        yield Parameter(name, whole.role, scalar, default)


def _output_parts(whole: Output) -> Iterator[Output]:
    scalar = replace(whole.element, shape=())
    for name in whole.element.components(whole.name):
        yield Output(name, scalar)


_ROLES = {Marker.PARAM: Role.UNIFORM, Marker.MUTABLE: Role.STATE, Marker.TERMINATED: Role.MASK}
_PLAIN = {float: SCALAR, int: INDEX, bool: BOOL}
_USUAL = {
    Marker.PARAM: "Param",
    Marker.MUTABLE: "Mutable[Scalar]",
    Marker.TERMINATED: "Terminated",
}
FIELDS = ("allocated", "done", "finished", "report", "status", "steps_taken")
"""Names that a plane cannot have because the result of a run holds planes and these."""
_KINDS = (
    "Scalar, Index, Int32, UInt32, Bool, Vector[w], Matrix[r, c], Quat, Param, Mutable[...], "
    "Table[...], Grid[...] or Terminated"
)
_SIZED = {
    words.Vector: ("Vector[3]", "its length"),
    words.Matrix: ("Matrix[3, 3]", "its rows and columns"),
}
"""Annotations that need a size: an example, and what is missing."""


def read(function: types.FunctionType, source: Source, reserved: Collection[str] = ()) -> Signature:
    """The planes that the annotations of `function` declare.

    Checks all that the text alone can tell: refused statements, unannotated parameters, names in
    `reserved`, two Terminated, a `return` that does not fit the signature. Raises HawkError.
    """
    if isinstance(source.node, ast.Lambda):
        what = "a lambda has no annotations, so its planes are unknown"
        raise HawkError("H104", what, source.head(), "def step(x: Scalar) -> Scalar: ...")
    check(source)
    known = _annotations(function, source)
    declared = tuple(
        [_parameter(source, arg, default, known) for arg, default in _declared(function, source)]
    )
    returned, nesting = _outputs(source, known)
    grid = grids.one_grid((*_flat(declared), *_flat(returned)), lambda name: _where(source, name))
    signature = Signature(declared, returned, nesting, grid=grid)
    _check_names(source, signature, reserved)
    _check_returns(source, signature)
    _check_result(source, signature)
    _check_mask(source, signature.parameters)
    return signature


def _declared(function: types.FunctionType, source: Source) -> list[tuple[ast.arg, object]]:
    """Each parameter's node with its default."""
    args = source.node.args
    for extra in (args.vararg, args.kwarg):
        if extra is not None:
            stars = 1 if extra is args.vararg else 2
            where = source.loc(extra)
            raise HawkError(
                "H106",
                f"`{extra.arg}` collects any number of arguments; each plane has a parameter",
                replace(where, col=where.col - stars),
                Edit(f"{extra.arg}0: Scalar, {extra.arg}1: Scalar"),
            )
    positional = [*args.posonlyargs, *args.args]
    defaults: list[object] = [NO_DEFAULT] * len(positional)
    given = function.__defaults__ or ()
    if given:
        defaults[-len(given) :] = given
    by_name = function.__kwdefaults__ or {}
    pairs = list(zip(positional, defaults, strict=True))
    return pairs + [(arg, by_name.get(arg.arg, NO_DEFAULT)) for arg in args.kwonlyargs]


def _annotations(function: types.FunctionType, source: Source) -> dict[str, Any]:
    """The annotations as objects."""
    try:
        raw = dict(function.__annotations__)
    except NameError as error:  # Python 3.14 evaluates them when they are first read
        raise HawkError("H105", f"an annotation cannot be read: {error}", source.head()) from None
    if not any(isinstance(each, str) for each in raw.values()):
        return raw
    namespace = source.namespace()
    found: dict[str, Any] = {}
    for name, each in raw.items():
        found[name] = each
        while isinstance(found[name], str):  # a text that `from __future__` made a text again
            try:
                found[name] = eval(found[name], namespace)  # noqa: S307  the user's own annotation
            except Exception as error:  # noqa: BLE001  an annotation may raise anything
                what = f"the annotation `{each}` of `{name}` cannot be evaluated: {error}"
                fix = _meant(error, name, namespace, found[name])
                raise HawkError("H105", what, _where(source, name), fix) from None
    return found


def _meant(error: Exception, name: str, namespace: Mapping[str, Any], text: str) -> str | Edit:
    """What to write where an annotation, written as `text`, holds a name that is not known."""
    if not isinstance(error, NameError) or not error.name:
        return ""
    ours = re.findall(r"\w{3,}", _KINDS)
    if ("Table[" in text or "Grid[" in text) and error.name not in ours:
        # An axis; tools that tidy annotations take its quotes off.
        unknown = [each for each in re.findall(r"[\w.]+", text) if each.isidentifier()]
        for each in [each for each in unknown if each not in namespace and each not in ours]:
            text = re.sub(rf"(?<![\w\"'.]){each}(?=\s*[:,\]])", f'"{each}"', text)
        return f"{name}: {text}"
    near = nearest(error.name, [each for each in namespace if each in words.__dict__])
    if not near:
        return f"the import of {error.name} at the top of the file"
    return Edit(f"-> {near}") if name == "return" else f"{name}: {near}"


def _where(source: Source, name: str) -> Loc:
    """The place of the parameter `name`, or of the return annotation."""
    args = source.node.args
    for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs):
        if arg.arg == name:
            return source.loc(arg)
    returns = getattr(source.node, "returns", None)
    if returns is None:
        return source.head()
    where = source.loc(returns)
    arrow = source.lines[where.line - 1].rfind("->", 0, where.col)
    return where if arrow < 0 else replace(where, col=arrow)


def _parameter(
    source: Source, arg: ast.arg, default: object, known: dict[str, Any]
) -> Parameter | Bundle:
    name = arg.arg
    if name not in known and name in ("self", "cls"):
        what = f"a kernel is a function of planes, not a method: it gets no `{name}`"
        fix = f"what it needs of `{name}` as a Param, or a function that makes the kernel around it"
        raise HawkError("H104", what, source.loc(arg), fix)
    if name not in known:
        what = f"`{name}` has no annotation, so it is unknown which array it stands for"
        raise HawkError("H104", what, source.loc(arg), f"{name}: Scalar")
    annotation = known[name]
    if annotation in (words.Param, words.Mutable):  # bare
        marker = Marker.PARAM if annotation == words.Param else Marker.MUTABLE
        if marker is Marker.MUTABLE:
            what = f"`{name}` is Mutable, but of which type?"
            raise HawkError("H105", what, source.loc(arg), f"{name}: Mutable[Scalar]")
        return Parameter(name, Role.UNIFORM, SCALAR, default)
    bundle = bundle_of(source, name, annotation, source.loc(arg), default)
    if bundle is not None:
        return bundle
    if grids.is_bare(annotation) or grids.form_in(annotation) is not None:
        return _grid_of(source, arg, annotation, default)
    form = _table_of(source, arg, annotation, default)
    if form is not None:
        role = Role.TABLE if get_args(annotation)[-1] is form else Role.SHARED
        return Parameter(name, role, form.element, table=form)
    elements, markers = _parts(annotation)
    if len(elements) != 1 or len(markers) > 1:
        raise _not_a_plane(source, arg, annotation, markers)
    role = _ROLES[markers[0]] if markers else Role.INPUT
    if role is Role.MASK and default is not NO_DEFAULT:
        what = f"`{name}` is Terminated and starts every step as False; it has no default"
        where, value = source.loc(arg), source.loc(_default(source, arg))
        where = replace(where, end_line=value.end_line, end_col=value.end_col)
        raise HawkError("H107", what, where, f"{name}: Terminated")
    if elements[0].shape and default is not NO_DEFAULT:
        _check_default(source, arg, elements[0], default)
    return Parameter(name, role, elements[0], default)


def _grid_of(source: Source, arg: ast.arg, annotation: Any, default: object) -> Parameter:
    """A parameter that is a Grid. Raises HawkError."""
    name, where = arg.arg, source.loc(arg)
    changed, form = grids.changed_by(annotation, name, where), grids.form_in(annotation)
    assert form is not None
    if default is not NO_DEFAULT and not changed:
        what = f"`{name}` is a Grid, and is given at every call; it has no default"
        value = source.loc(_default(source, arg))
        where = replace(where, end_line=value.end_line, end_col=value.end_col)
        raise HawkError("H107", what, where, f"{name}: {form.name}")
    role = Role.STATE if changed else Role.INPUT
    return Parameter(name, role, form.element, default, grid=form)


def _table_of(source: Source, arg: ast.arg, annotation: Any, default: object) -> TableForm | None:
    """The form of a Table, if the annotation says one. Raises HawkError for half a Table."""
    name, where = arg.arg, source.loc(arg)
    if annotation is words.Table:
        what = f"`{name}` is a Table, but of which type and how many dimensions?"
        raise HawkError("H105", what, where, f"{name}: Table[Scalar]")
    extras = get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
    forms = [each for each in extras if isinstance(each, TableForm)]
    inner = get_args(annotation)[:1] if extras else ()
    if inner and inner[0] is words.Table and not forms:  # Mutable[Table]
        what = f"`{name}` is a Table, but of which type and how many dimensions?"
        shared = extras == (Marker.MUTABLE,)
        fix = "Mutable[Table[Scalar]]" if shared else "Table[Scalar]"
        raise HawkError("H105", what, where, f"{name}: {fix}")
    if not forms:
        return None
    form = forms[0]
    markers = [each for each in extras if isinstance(each, Marker)]
    if markers and markers != [Marker.MUTABLE]:
        marker = next((each for each in markers if each is not Marker.MUTABLE), markers[0])
        if marker is Marker.MUTABLE:
            what = f"`{name}` is Mutable twice"
            raise HawkError("H105", what, where, f"{name}: Mutable[{form.name}]")
        what = f"`{name}` is a Table, which all samples only read; it cannot be {marker.value} too"
        raise HawkError("H105", what, where, f"{name}: {form.name}")
    if default is not NO_DEFAULT:
        what = f"`{name}` is a Table, and is given at every call; it has no default"
        value = source.loc(_default(source, arg))
        where = replace(where, end_line=value.end_line, end_col=value.end_col)
        fix = f"Mutable[{form.name}]" if markers else form.name
        raise HawkError("H107", what, where, f"{name}: {fix}")
    return form


def _check_default(source: Source, arg: ast.arg, element: Element, default: object) -> None:
    """The default of a small array has its shape and holds numbers."""
    shapes: set[tuple[int, ...]] = {element.shape, (len(element.components("")),)}
    try:
        array = np.asarray(default)
        if array.shape in shapes and array.dtype.kind in "biuf":
            return
        got = f"the shape {array.shape}" if array.dtype.kind in "biuf" else "other things"
    except ValueError:  # rows of different lengths
        got = "rows that differ in length"
    zeros = "(" + ", ".join(["0.0"] * element.shape[-1]) + ("," * (element.shape[-1] == 1)) + ")"
    if len(element.shape) == 2:
        zeros = "(" + ", ".join([zeros] * element.shape[0]) + ("," * (element.shape[0] == 1)) + ")"
    what = f"`{arg.arg}` is a {element.name}, and its default has {got}"
    fix = f"{arg.arg}: {source.text(arg.annotation) if arg.annotation else '...'} = {zeros}"
    where, value = source.loc(arg), source.loc(_default(source, arg))
    where = replace(where, end_line=value.end_line, end_col=value.end_col)
    raise HawkError("H207", what, where, fix)


def _default(source: Source, arg: ast.arg) -> ast.AST:
    """What is written as the default of a parameter."""
    args = source.node.args
    positional = [*args.posonlyargs, *args.args]
    written = dict(zip(reversed(positional), reversed(args.defaults), strict=False))
    named = dict(zip(args.kwonlyargs, args.kw_defaults, strict=True))
    return written.get(arg) or named.get(arg) or arg


def _parts(annotation: Any) -> tuple[list[Element], list[Marker]]:
    if get_origin(annotation) is not Annotated:
        return [], []
    base, *extras = get_args(annotation)
    elements = [each for each in extras if isinstance(each, Element)]
    markers = [each for each in extras if isinstance(each, Marker)]
    if markers and not elements and base in _PLAIN:  # Param[float], Mutable[int]
        elements = [_PLAIN[base]]
    return elements, markers


def _not_a_plane(source: Source, arg: ast.arg, annotation: Any, markers: list[Marker]) -> HawkError:
    name = arg.arg
    wrote = source.text(arg.annotation) if arg.annotation is not None else repr(annotation)
    if annotation in _PLAIN:
        element = _PLAIN[annotation]
        what = f"`{wrote}` does not say which array `{name}` stands for"
        return HawkError("H105", what, source.loc(arg), f"{name}: {element.name}")
    if len(markers) > 1:
        kinds = list(dict.fromkeys(markers))
        what = f"`{name}` is {' and '.join(marker.value for marker in kinds)} at once"
        if len(kinds) == 1:
            what = f"`{name}` is {kinds[0].value} twice"
        fix = [f"{name}: {_USUAL[marker]}" for marker in kinds]
        return HawkError("H105", what, source.loc(arg), fix)
    if _sized(annotation):
        usual, missing = _SIZED[annotation]
        what = f"`{wrote}` does not say {missing}, which is part of the kernel"
        return HawkError("H105", what, source.loc(arg), f"{name}: {usual}")
    what = f"`{wrote}` is not the type of a parameter; it is one of {_KINDS}"
    if annotation is str:
        fix = f"a function that takes {name} and makes the kernel, for a choice known beforehand"
        return HawkError("H105", what, source.loc(arg), fix)
    if isinstance(annotation, type) and getattr(annotation, "__annotations__", None):
        what = f"`{wrote}` is a class and no dataclass, so it does not say which planes it has"
        return HawkError("H105", what, source.loc(arg), f"@dataclass above the class {wrote}")
    return HawkError("H105", what, source.loc(arg), f"{name}: {_inner(annotation)}")


def _inner(annotation: Any) -> str:
    """The kind of parameter that was meant by an annotation such as `Optional[Param]`."""
    if get_origin(annotation) in (Union, types.UnionType):
        for part in get_args(annotation):
            elements, markers = _parts(part)
            if part in (words.Param, words.Mutable) or (not markers and part in _PLAIN):
                return "Param" if part == words.Param else _PLAIN.get(part, SCALAR).name
            if markers:
                marker, name = markers[0], elements[0].name if elements else "Scalar"
                return marker.value + (f"[{name}]" if name != "Scalar" else "")
            if elements:
                return elements[0].name
    return "Scalar"


def _outputs(source: Source, known: dict[str, Any]) -> tuple[tuple[Output | Bundle, ...], Nesting]:
    annotation = known.get("return")
    if annotation is None or annotation is type(None):
        return (), None
    if get_origin(annotation) is tuple:
        parts = get_args(annotation)
        if Ellipsis in parts or not parts:
            what = "how many values are returned must be known"
            fix = Edit("-> tuple[Scalar, Scalar]")
            raise HawkError("H105", what, _where(source, "return"), fix)
        outputs = [_output(source, f"out{i}", e, annotation) for i, e in enumerate(parts)]
        return tuple(outputs), "tuple"
    return (_output(source, "out", annotation, annotation),), "one"


def _output(source: Source, name: str, annotation: Any, whole: Any) -> Output | Bundle:
    """What one returned value is; `whole` is all that the signature says of what is returned."""
    elements, markers = _parts(annotation)
    grid = grids.form_in(annotation)
    if grid is not None and not markers:
        return Output(name, grid.element, grid=grid)
    if len(elements) == 1 and not markers:
        return Output(name, elements[0])
    bundle = bundle_of(source, name, annotation, _where(source, "return"))
    if bundle is not None:
        return bundle
    where, fix = _where(source, "return"), Edit(f"-> {_output_text(whole)}")
    if get_origin(annotation) in (tuple, list) and annotation is not whole:
        what = "a kernel returns one value or a tuple of values, and this tuple holds another"
        raise HawkError("H105", what, where, fix)
    if annotation in _PLAIN:
        what = f"`{annotation.__name__}` does not say which array is returned"
        raise HawkError("H105", what, where, fix)
    if annotation is words.Grid:
        what = "what is returned is a Grid, but of which dimensions?"
        raise HawkError("H105", what, where, fix)
    if markers:
        what = f"what is returned is stored at the end of a step and cannot be {markers[0].value}"
        raise HawkError("H105", what, where, fix)
    if annotation is words.Table or any(
        isinstance(each, TableForm) for each in getattr(annotation, "__metadata__", ())
    ):
        what = "a Table is read by all samples, and a step returns numbers of its own sample"
        raise HawkError("H105", what, where, fix)
    if _sized(annotation):
        _, missing = _SIZED[annotation]
        what = f"`{annotation.__name__}` does not say {missing}, which is part of the kernel"
        raise HawkError("H105", what, where, fix)
    what = "the return annotation is not Scalar, Index, Int32, UInt32, Bool, Vector[w], "
    what += "Matrix[r, c], Quat, Grid[...] or a tuple of these"
    raise HawkError("H105", what, where, fix)


def _output_text(annotation: Any) -> str:
    """The annotation that was meant, as far as one can tell: a tuple is flat."""
    elements = list(_meant_elements(annotation))
    if get_origin(annotation) is list:
        elements *= 2  # how many it holds is not said
    several = get_origin(annotation) in (tuple, list) or isinstance(annotation, (tuple, list))
    return f"tuple[{', '.join(elements)}]" if several else elements[0]


def _meant_elements(annotation: Any) -> Iterator[str]:
    """The types in an annotation, opened."""
    several = get_origin(annotation) in (tuple, list)
    parts: Any = get_args(annotation) if several else annotation
    if isinstance(parts, (tuple, list)):
        for part in parts:
            yield from _meant_elements(part)
        return
    if _sized(annotation):
        yield _SIZED[annotation][0]
        return
    if grids.is_bare(annotation):
        yield grids.USUAL
        return
    grid = grids.form_in(annotation)
    if grid is not None:
        yield grid.name
        return
    elements, _ = _parts(annotation)
    yield elements[0].name if elements else _PLAIN.get(annotation, SCALAR).name


def _sized(annotation: Any) -> bool:
    """Is it `Vector` or `Matrix` without a size?"""
    return isinstance(annotation, type) and annotation in _SIZED


def _check_names(source: Source, signature: Signature, reserved: Collection[str]) -> None:
    parameters = signature.parameters
    taken = {each.name for each in (*signature.outputs, *signature.returned)} | set(reserved)
    for each in signature.declared:
        if each.name in taken:
            raise _taken(source, each, reserved)
    _check_planes(source, signature, reserved)
    masks = [each.name for each in parameters if each.role is Role.MASK]
    if len(masks) > 1:
        what = f"`{masks[0]}` and `{masks[1]}` are both Terminated; a sample has one mask"
        fix = f"{masks[1]}: Mutable[Bool]"
        raise HawkError("H108", what, _where(source, masks[1]), fix)


def _check_planes(source: Source, signature: Signature, reserved: Collection[str]) -> None:
    """Each plane has a name of its own: that of a field is made of two, and may be one there is."""
    known = dict.fromkeys(reserved, "")
    known |= {each.name: f"`{each.name}`" for each in (*signature.declared, *signature.returned)}
    for each in (*signature.parameters, *signature.outputs):
        if not each.path:
            continue
        other = known.get(each.name)
        if other is not None:
            what = f"`{each.text}` is the plane `{each.name}`, and so is {other}"
            if not other:
                what = f"`{each.text}` is the plane `{each.name}`, a name that is taken where "
                what += "kernels are called"
            fix = f"another name for `{each.path[0]}`, or for the field `{each.path[-1]}`"
            raise HawkError("H107", what, _where(source, each.root), fix)
        known[each.name] = f"`{each.text}`"


def _taken(source: Source, parameter: Any, reserved: Collection[str]) -> HawkError:
    """The error of a plane with a name that means something else where planes are named."""
    name = parameter.name
    what = f"`{name}` is what this kernel returns"
    if name in reserved:
        what = f"`{name}` is taken where kernels are called"
        if name in FIELDS:
            what = f"`{name}` is a field of what a run gives, result.{name}"
        elif name not in ("self", "kernel"):
            what = f"`{name}` is an option where kernels are called, {name}=..."
    what += ", so no plane can have that name"
    used = source.locals | {each.id for each in read_names(source.node)}
    masks = is_declared(parameter, Role.MASK)
    wanted = ("over", "terminated") if masks else (f"{name}_value",)
    new = next((each for each in (*wanted, f"{name}_plane") if each not in used), f"{name}_")
    annotation = _where(source, name)
    wrote = source.lines[annotation.line - 1][annotation.col : annotation.end_col]
    fix = new + wrote[len(name) :] if annotation.line == annotation.end_line else f"{new}: ..."
    if masks:
        fix = f"{new}: Terminated"
    line = _line_with(source, name, new)
    return HawkError("H107", what, annotation, f"{fix}\n{line}" if line else fix)


def _line_with(source: Source, name: str, new: str) -> str:
    """The first statement of the body that names a plane, with its new name."""
    for node in own_nodes(source.body):
        if not isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Expr)):
            continue
        names = [each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id == name]
        where = source.loc(node)
        if not names or where.line != where.end_line:
            continue
        text, places = source.lines[where.line - 1], sorted(source.loc(n).col for n in names)
        for col in reversed(places):
            text = text[:col] + new + text[col + len(name) :]
        written = text[where.col : where.end_col + (len(new) - len(name)) * len(places)]
        return f"{written}  # line {where.line}, and wherever else it says {name}"
    return ""


def _check_mask(source: Source, parameters: tuple[Parameter, ...]) -> None:
    """A Terminated must be assigned somewhere: it is False when a step starts."""
    mask = next((each.name for each in parameters if each.role is Role.MASK), None)
    if mask is None or mask in bound_names(source.body):
        return
    what = f"`{mask}` is Terminated and the body never assigns to it, so no sample would ever end"
    read = {each.id for each in read_names(source.node)} | {each.name for each in parameters}
    unread = [
        node
        for node in own_nodes(source.body)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id not in read
        and _type_of(node.value) == "Bool"
    ]
    fix: str | Edit = f"{mask} = ..., where it is known whether the sample is done"
    if len(unread) == 1:
        written = f"{mask} = {source.text(unread[0].value)}"
        fix = Edit(written, at=source.loc(unread[0]))
    raise HawkError("H113", what, _where(source, mask), fix)


def _check_result(source: Source, signature: Signature) -> None:
    """A step must leave something: state, a mask or what it returns."""
    parameters = signature.parameters
    changed_too = MUTABLE | {Role.MASK}
    if signature.outputs or any(each.role in changed_too for each in parameters):
        return
    what = f"a step of `{source.name}` leaves nothing behind: no parameter is Mutable, and it "
    bound = bound_names(source.body)
    stored = {
        each.value.id
        for each in own_nodes(source.body)
        if isinstance(each, ast.Attribute)
        and isinstance(each.ctx, ast.Store)
        and isinstance(each.value, ast.Name)
    }
    changed = next((each for each in signature.declared if each.name in bound | stored), None)
    if changed is None:
        raise HawkError("H112", what + "returns nothing", source.head(), "return ...")
    plane = f"{changed.name}: Mutable[{changed.type_name}]"
    fix = Edit(plane, ", if what becomes of it is to be kept")
    where = _where(source, changed.name)
    raise HawkError("H112", what + "returns nothing", where, fix)


def _type_of(value: ast.expr | None) -> str:
    """The type that a returned expression has, as far as its text tells."""
    match value:
        case ast.Constant(value=bool()) | ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return "Bool"
        case ast.BoolOp() if all(_type_of(each) == "Bool" for each in value.values):
            return "Bool"
        case ast.IfExp() if _type_of(value.body) == _type_of(value.orelse) == "Bool":
            return "Bool"
        case _:
            return "Scalar"


def _check_returns(source: Source, signature: Signature) -> None:
    """What every `return` gives must have the form the signature declares."""
    outputs, nesting = signature.returned, signature.nesting
    state = {each.name for each in signature.state}
    given = [node for node in own_nodes(source.body) if isinstance(node, ast.Return)]
    for node in given:
        value = node.value
        count = len(value.elts) if isinstance(value, ast.Tuple) else 1
        empty = value is None or (isinstance(value, ast.Constant) and value.value is None)
        if nesting is None and not empty:
            what = f"`{source.name}` returns a value, and its signature does not say of which type"
            parts = value.elts if isinstance(value, ast.Tuple) else [value]
            if all(isinstance(part, ast.Name) and part.id in state for part in parts):
                fix = "nothing: a Mutable is stored when the step ends"
                raise HawkError("H109", what, source.loc(node), fix)
            types = [_type_of(part) for part in parts]
            one = types[0] if count == 1 else f"tuple[{', '.join(types)}]"
            raise HawkError("H109", what, source.loc(node), f"def {source.name}(...) -> {one}:")
        if nesting is not None and empty:
            what = f"`{source.name}` returns nothing here, and its signature says that it does"
            raise HawkError("H109", what, source.loc(node), example(outputs))
        exact = isinstance(value, ast.Tuple) and not _starred(value)
        if nesting == "tuple" and exact and count != len(outputs):
            what = f"{counted(count)} returned, the signature says {len(outputs)}"
            raise HawkError("H109", what, source.loc(node), example(outputs))
        if nesting == "one" and isinstance(value, ast.Tuple):
            what = f"{counted(count)} returned, the signature says one"
            several = ", ".join([outputs[0].type_name] * count)
            fix = Edit(f"-> tuple[{several}]", at=_where(source, "return"))
            parts = ", ".join(map(source.text, value.elts))
            if isinstance(outputs[0], Bundle):
                what = f"{counted(count)} returned, the signature says a {outputs[0].type_name}"
                raise HawkError("H109", what, source.loc(node), example(outputs))
            shape = outputs[0].element.shape
            if shape:
                maker = "vec" if len(shape) == 1 else "mat"
                what = f"{counted(count)} returned, the signature says a {outputs[0].element.name}"
                fix = Edit(f"return hawk.math.{maker}({parts})")
            raise HawkError("H109", what, source.loc(node), fix)
    if nesting is not None and not given:
        what = f"`{source.name}` never returns, and its signature says that it does"
        raise HawkError("H109", what, source.head(), example(outputs))


def counted(count: int) -> str:
    return "one value is" if count == 1 else f"{count} values are"


def _starred(value: ast.Tuple) -> bool:
    return any(isinstance(each, ast.Starred) for each in value.elts)


def article(element: Element) -> str:
    """The element with its article, for messages."""
    return f"{'an' if element.name[0] in 'AEIOU' else 'a'} {element.name}"


def example(outputs: Sequence[Output | Bundle]) -> str:
    """A `return` that gives what the signature says."""
    parts = [bundle_text(each) if isinstance(each, Bundle) else "..." for each in outputs]
    return f"return {', '.join(parts)}  ({', '.join([each.type_name for each in outputs])})"
