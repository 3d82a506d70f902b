"""Objects of dataclasses in a kernel: made, read, assigned to, and joined where paths meet."""

from __future__ import annotations

import ast
import dataclasses
import inspect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from hawk.edits import Edit, filled
from hawk.errors import HawkError, Loc
from hawk.frontend.bundles import Bundle, fields_of, is_missing, properties_of
from hawk.frontend.frame import Frame
from hawk.frontend.instances import Fields, Instance
from hawk.frontend.lookup import plain, read_attribute
from hawk.frontend.meeting import Meeting
from hawk.frontend.operators import Misfit, named
from hawk.frontend.small_arrays import SmallArray, array_name, old_object
from hawk.frontend.source import nearest
from hawk.frontend.suggestions import sites
from hawk.frontend.templates import describe
from hawk.frontend.values import Scalar, Unusable

if TYPE_CHECKING:
    from hawk.frontend.expressions import Expressions

_NOTHING = object()


class Objects:
    """Evaluates what is done with objects."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions
        self.domain, self.numbers = expressions.domain, expressions.numbers
        self.memory = expressions.domain.memory
        self.count = 0
        self.properties: set[str] = set()
        """The names of properties that objects have."""

    # --- what they hold ---

    def new(self, names: dict[str, Any], cls: type, held: Mapping[str, Any], label: str) -> Any:
        """A new object, which holds this from now on."""
        made = self._instance(cls)
        parts, cell = tuple(held.values()), (self.memory.cell(),)
        names[made.key] = Fields(cls, tuple(held), parts, label, cell, self.memory.tick())
        return made

    def _instance(self, cls: type) -> Instance:
        self.count += 1
        self.properties |= properties_of(cls)
        return Instance(cls, self.count)

    def runs(self, node: ast.AST) -> bool:
        """Whether to evaluate an expression may run a function, so that twice is not once."""
        return any(
            isinstance(each, (ast.Call, ast.NamedExpr))
            or (isinstance(each, ast.Attribute) and each.attr in self.properties)
            for each in ast.walk(node)
        )

    def of_planes(self, names: dict[str, Any], bundle: Bundle, value: Any, text: str) -> Instance:
        """The object that a parameter is: `value` gives what a plane holds."""
        held: dict[str, Any] = {}
        for name, part in bundle.parts:
            inner = f"{text}.{name}"
            whole = isinstance(part, Bundle)
            held[name] = self.of_planes(names, part, value, inner) if whole else value(part)
        return self.new(names, bundle.cls, held, text)

    def fields(self, frame: Frame, instance: Instance, where: Loc, text: str = "") -> Fields:
        """What an object holds. Raises HawkError where that is not known."""
        held = frame.names.get(instance.key, _NOTHING)
        if isinstance(held, Unusable):
            raise held.why(text or instance.cls.__name__, where)
        if not isinstance(held, Fields):
            what = f"`{text}` is an object of one path or one pass of a loop, which is over"
            raise HawkError("H302", what, where, f"{text} on that path")
        change = self.memory.change(held)
        if change is not None:
            raise old_object(text or held.label, change, where)
        return held

    def attribute(self, frame: Frame, node: ast.Attribute, instance: Instance) -> Any:
        """`object.name`: a field, a property, a method or a constant of the class."""
        text, where, cls = frame.source.text(node.value), frame.loc(node), instance.cls
        held = self.fields(frame, instance, where, text)
        if node.attr in held.names:
            part = held.parts[held.names.index(node.attr)]
            if isinstance(part, Unusable):
                raise part.why(f"{text}.{node.attr}", where)
            return part
        if node.attr == "__class__":
            return cls
        hidden = node.attr.startswith("__")  # what Python keeps of an object, and not its class
        found = _NOTHING if hidden else inspect.getattr_static(cls, node.attr, _NOTHING)
        if isinstance(found, property) and isinstance(found.fget, FunctionType):
            self.domain.reads.from_attribute(cls, node.attr, found)
            call = ast.copy_location(ast.Call(func=node, args=[], keywords=[]), node)
            return self.expressions.calls.apply(frame, call, found.fget, [instance])
        if isinstance(found, FunctionType):
            self.domain.reads.from_attribute(cls, node.attr, found)
            return MethodType(found, instance)
        described = [name for name in dir(cls) if not name.startswith("_")]
        if found is _NOTHING or type(found).__name__ in ("cached_property", "property"):
            what = f"`{text}` is {describe(self.numbers, instance)}, which has no `{node.attr}` "
            what += f"in a kernel; it has {', '.join(held.names)}"
            near = nearest(node.attr, {*held.names, *described})
            raise HawkError("H307", what, where, Edit(f"{text}.{near}") if near else "")
        return read_attribute(cls, node.attr, where, self.domain.reads)

    def at(self, frame: Frame, node: ast.AST, instance: Any, path: Sequence[str]) -> Any:
        """What the fields of a path lead to. Raises HawkError where one is not there."""
        value = instance
        for name in path:
            if not isinstance(value, Instance):
                what = f"`{name}` is read of {describe(self.numbers, value)}, which is no object"
                raise HawkError("H307", what, frame.loc(node))
            held = self.fields(frame, value, frame.loc(node))
            if name not in held.names:
                what = f"{describe(self.numbers, value)} has no `{name}`"
                raise HawkError("H307", what, frame.loc(node))
            value = held.parts[held.names.index(name)]
            if isinstance(value, Unusable):
                raise value.why(f"{held.label}.{name}", frame.loc(node))
        return value

    # --- assignments ---

    def store(self, frame: Frame, target: ast.Attribute, instance: Instance, value: Any) -> None:
        """`object.name = value`."""
        text, where = frame.source.text(target.value), frame.loc(target)
        held = self.fields(frame, instance, where, text)
        name, cls = target.attr, instance.cls
        if cls.__dataclass_params__.frozen:  # type: ignore[attr-defined]
            what = f"`{text}` is a frozen {cls.__name__}, whose fields cannot be assigned to"
            fix = f"{text} = dataclasses.replace({text}, {name}=...)"
            raise HawkError("H308", what, where, fix)
        if name not in held.names or "__setattr__" in vars(cls):
            what = f"`{text}` is {describe(self.numbers, instance)}, which has no field `{name}` "
            what += f"to assign to; it has {', '.join(held.names)}"
            near = nearest(name, held.names)
            raise HawkError("H307", what, where, f"{text}.{near} = ..." if near else "")
        value = self.held(frame, target, cls, name, value, f"{text}.{name}")
        self.memory.write([*held.cells, *held.also], where, text)
        self.put(frame, instance, name, value)

    def put(self, frame: Frame, instance: Instance, name: str, value: Any) -> None:
        """Let a field hold this from now on."""
        held = frame.names[instance.key]
        place = held.names.index(name)
        parts = (*held.parts[:place], value, *held.parts[place + 1 :])
        frame.names[instance.key] = replace(held, parts=parts, time=self.memory.tick())

    def held(self, frame: Frame, node: ast.AST, cls: type, name: str, value: Any, text: str) -> Any:
        """A value as a field holds it: of the kernel type that it is annotated with."""
        field = next((each for each in fields_of(cls) if each.name == name), None)
        element = None if field is None or field.table is not None else field.element
        if element is None:
            return self.domain.settle(value)
        dtype = element.at(self.numbers.real)
        kind = array_name(element.shape, dtype, self.numbers.real) if element.shape else ""
        kind = f"a {kind}" if kind else named(dtype)
        what = f"`{text}` is {kind}, and it gets {describe(self.numbers, value)}"
        if element.shape:
            if isinstance(value, SmallArray):
                self.expressions.arrays.check(frame, node, value)
                if value.shape == element.shape and value.dtype is dtype:
                    return value
            numbers = isinstance(value, (tuple, list)) and len(value) == element.shape[0]
            maker = "vec" if len(element.shape) == 1 else "mat"
            template = f"hawk.math.{maker}({{left}})" if numbers else ""
            raise self._misfit(frame, node, "H207", what, text, template)
        if not isinstance(value, (Scalar, bool, int, float)):
            raise HawkError("H207", what, frame.loc(node))
        self.numbers.builder.loc = frame.loc(node)
        try:
            return self.numbers.store(value, dtype)
        except Misfit as misfit:
            fix = misfit.fixes[0] if misfit.fixes else ""
            template = fix.text if isinstance(fix, Edit) else fix
            raise self._misfit(frame, node, misfit.code, what, text, template) from None

    @staticmethod
    def _misfit(
        frame: Frame, node: ast.AST, code: str, what: str, text: str, template: str
    ) -> HawkError:
        """The error of a value that a field cannot hold; `template` makes one of it that it can."""
        where = frame.loc(node)
        at = [
            s for s in sites(frame.source.body, text) if frame.loc(s.statement).line == where.line
        ]
        if not template or not at:
            return HawkError(code, what, where, filled(template, left="...") if template else "")
        edit = at[-1].edit(frame, template, where)
        return HawkError(code, what, where if edit is None else edit.at, edit or "")

    # --- new ones ---

    def construct(
        self,
        frame: Frame,
        node: ast.Call,
        cls: Any,
        args: Sequence[Any],
        keywords: Mapping[str, Any],
        label: str = "",
    ) -> Instance:
        """`Body(...)`: what `__init__` of a dataclass does, and `__post_init__` if there is one."""
        where, name = frame.loc(node), cls.__name__
        code = getattr(cls.__init__, "__code__", None)
        if code is None or code.co_filename != "<string>" or "__new__" in vars(cls):
            what = f"`{name}` makes its objects in its own `__init__`, which a kernel does not run"
            raise HawkError("H303", what, where, f"a dataclass {name} without `__init__`")
        signature = inspect.signature(cls)
        try:
            bound = signature.bind(*args, **keywords).arguments
        except TypeError as error:
            unknown = [each for each in keywords if each not in signature.parameters]
            takes = ", ".join(f"{each}=..." for each in signature.parameters)
            what = f"`{name}`: {error}"
            if unknown:
                what = f"`{name}` has no field `{unknown[0]}`"
            raise HawkError("H305", what, where, f"{name}({takes})") from None
        held: dict[str, Any] = {}
        for each in dataclasses.fields(cls):
            text = f"{name}.{each.name}"
            if each.init and each.name in bound:
                value = self.held(frame, node, cls, each.name, bound[each.name], text)
            else:
                value = self._default(frame, node, cls, each, text)
            if value is not _NOTHING:
                held[each.name] = value
        missing = [each.name for each in dataclasses.fields(cls) if each.name not in held]
        made = self.new(
            frame.names,
            cls,
            {**held, **{each: _not_set(each, name) for each in missing}},
            label or name,
        )
        after = getattr(cls, "__post_init__", None)
        if isinstance(after, FunctionType):
            known = {each.name for each in dataclasses.fields(cls)}
            extra = [
                bound.get(each.name, each.default)
                for each in signature.parameters.values()
                if each.name not in known
            ]
            self.domain.reads.from_attribute(cls, "__post_init__", after)
            self.expressions.calls.apply(frame, node, after, [made, *extra])
        return made

    def _default(self, frame: Frame, node: ast.Call, cls: type, field: Any, text: str) -> Any:
        """What a field holds that nothing was given for."""
        if not is_missing(field.default):
            value = plain(field.default, frame.loc(node), text)
        elif not is_missing(field.default_factory):
            value = self.expressions.calls.apply(frame, node, field.default_factory, [])
        else:
            return _NOTHING
        return self._of_numbers(frame, node, cls, field.name, value, text)

    def _of_numbers(
        self, frame: Frame, node: ast.Call, cls: type, name: str, value: Any, text: str
    ) -> Any:
        """A value from outside of the kernel as a field holds it: a tuple may be a small array."""
        element = next(each.element for each in fields_of(cls) if each.name == name)
        if element is not None and element.shape and isinstance(value, (tuple, list)):
            dtype, array = element.at(self.numbers.real), value
            array = self.expressions.arrays.known(frame, node, value, element.shape)
            if isinstance(array, SmallArray):
                parts = [self.numbers.store(part, dtype) for part in array.parts]
                return self.memory.fresh(element.shape, parts)
        return self.held(frame, node, cls, name, value, text)

    def replace_(self, frame: Frame, node: ast.Call, owner: Any, /, **changes: Any) -> Any:
        """`dataclasses.replace(object, name=...)`: another object, with other values."""
        where = frame.loc(node)
        if not isinstance(owner, Instance):
            if not dataclasses.is_dataclass(owner) or isinstance(owner, type):
                what = "`replace` makes an object of a dataclass from another, and this is "
                raise HawkError("H305", what + describe(self.numbers, owner), where)
            cls: Any = type(owner)
            kept = [f.name for f in dataclasses.fields(owner) if f.init and f.name not in changes]
            known = {name: plain(getattr(owner, name), where, name) for name in kept}
            held = {
                name: self._of_numbers(frame, node, cls, name, value, f"{cls.__name__}.{name}")
                for name, value in known.items()
            }
        else:
            cls = owner.cls
            text = frame.source.text(node.args[0]) if node.args else ""
            now = self.fields(frame, owner, where, text)
            held = dict(zip(now.names, now.parts, strict=True))
        given: dict[str, Any] = {}
        for each in dataclasses.fields(cls):
            if not each.init:
                if each.name in changes:
                    what = f"`{each.name}` is not an argument of `{cls.__name__}`, so it is not "
                    raise HawkError("H305", what + "replaced", where)
                continue
            value = changes[each.name] if each.name in changes else held[each.name]
            if isinstance(value, Unusable):
                raise value.why(each.name, where)
            given[each.name] = value
        unknown = {name: value for name, value in changes.items() if name not in given}
        return self.construct(frame, node, cls, (), {**given, **unknown})

    def copy_(self, frame: Frame, node: ast.Call, owner: Any, /) -> Any:
        """`copy.copy(object)`: another object that holds the same."""
        if not isinstance(owner, Instance):
            what = f"`copy` of {describe(self.numbers, owner)} is not part of the language"
            fix = f"{frame.source.text(node.args[0])}.copy()" if node.args else ""
            raise HawkError("H304", what, frame.loc(node), fix)
        held = self.fields(frame, owner, frame.loc(node), frame.source.text(node.args[0]))
        parts = dict(zip(held.names, held.parts, strict=True))
        return self.new(frame.names, owner.cls, parts, held.label)

    # --- what else is asked of them ---

    def truth(self, frame: Frame, instance: Instance, node: ast.AST) -> bool:
        cls = instance.cls
        if hasattr(cls, "__bool__") or hasattr(cls, "__len__"):
            what = f"the truth of {describe(self.numbers, instance)} is what its class computes"
            fix = f"{frame.source.text(node)}.__bool__() or .__len__(), called"
            raise HawkError("H208", what, frame.loc(node), fix)
        return True

    def same(self, frame: Frame, node: ast.AST, left: Instance, right: Instance) -> bool:
        """`left is right`."""
        if left is right:
            return True
        places: list[frozenset[int]] = []
        for each in (left, right):
            held = frame.names.get(each.key)
            if not isinstance(held, Fields):
                return False
            places.append(held.also | frozenset(held.cells))
        if places[0] & places[1]:
            what = "paths met with different objects under these names, so whether they are the "
            what += "same object is not known"
            fix = "a Bool of your own that says which object it is"
            raise HawkError("H212", what, frame.loc(node), fix)
        return False

    # --- where paths meet ---

    def unite(
        self,
        paths: Sequence[dict[str, Any]],
        stands: dict[str, Any] | None = None,
        anew: Collection[str] = (),
    ) -> list[dict[str, Any]]:
        """Let a name that has different objects on these paths have one that stands for them.

        `stands`: the objects that stand for others from pass to pass of a loop, by their key, to
        which new ones are added; the first path is what comes in. `anew`: look at these names
        only, and let one stand for whatever they have. The paths given stay as they are.
        """
        if not self.count:
            return list(paths)
        meeting = Meeting(self.stand_in, paths, stands or {}, anew)
        if stands is not None:
            stands.update({each.key: each for each in meeting.made.values()})
        return meeting.paths

    def stand_in(self, cls: type) -> tuple[Instance, tuple[int, ...]]:
        """An object that may be several, and the place in memory that stands for it."""
        return self._instance(cls), (self.memory.cell(),)


def _not_set(field: str, name: str) -> Unusable:
    """What a field holds before anything is assigned to it."""

    def why(text: str, where: Loc) -> HawkError:
        what = f"`{text}` is read before it is assigned: `{name}` has no default for `{field}`"
        return HawkError("H302", what, where, f"self.{field} = ... first")

    return Unusable(why)
