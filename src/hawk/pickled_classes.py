"""Dataclasses as pickles, where they cannot be imported: what they are made of, and made again.

Their methods are pickled as functions are, by their text. See `pickling`.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Annotated, Any, get_args, get_origin

from hawk.frontend.bundles import KEPT, fields_of, instance, is_missing
from hawk.pickled_texts import Alias, ClassText, ObjectText, Wrapped

_PARAMS = ("init", "repr", "eq", "order", "unsafe_hash", "frozen")
_OF_A_FIELD = ("init", "repr", "hash", "compare", "kw_only")
_LEFT_OUT = {
    *("__dict__", "__weakref__", "__module__", "__qualname__", "__annotations__", "__slots__"),
    *("__dataclass_fields__", "__dataclass_params__", "__match_args__", "__static_attributes__"),
    *("__firstlineno__", "__annotate__", "__annotate_func__", "__annotations_cache__"),
    *("__slotnames__", "__abstractmethods__", "_abc_impl", KEPT),
}

Value = Callable[[Any], Any]
"""What stands for a value in a pickle; when one is read, the value that something stands for."""


def begun(cls: Any) -> ClassText:
    """The text of a class; `finish` it when it is known, since its methods may read it."""
    params = {name: getattr(cls.__dataclass_params__, name) for name in _PARAMS}
    params["slots"] = "__slots__" in vars(cls)
    names = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
    return ClassText(names, params)


def finish(text: ClassText, cls: Any, value: Value) -> None:
    text.bases = tuple([value(base) for base in cls.__bases__ if base is not object])
    own = inspect.get_annotations(cls)
    annotations = {each.name: each.annotation for each in fields_of(cls)}
    for each in dataclasses.fields(cls):
        if each.name not in own:
            continue  # a base's
        options = {name: getattr(each, name) for name in _OF_A_FIELD}
        for name in ("default", "default_factory"):
            given = getattr(each, name)
            if not is_missing(given):
                options[name] = value(given)
        text.fields.append((each.name, value(annotations[each.name]), options))
    known = {name for name, _, _ in text.fields}
    for name, held in vars(cls).items():
        inner = inspect.unwrap(held) if isinstance(held, FunctionType) else held
        made = isinstance(inner, FunctionType) and inner.__code__.co_filename == "<string>"
        if name in _LEFT_OUT or name in known or made or name == "__doc__":
            continue
        if type(held).__name__ == "member_descriptor" or (name == "__hash__" and held is None):
            continue
        text.others[name] = _wrapped(held, value)


def _wrapped(held: Any, value: Value) -> Any:
    if isinstance(held, (staticmethod, classmethod)):
        return Wrapped(type(held), value(held.__func__))  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(held, property) and held.fset is None:
        return Wrapped(property, value(held.fget))
    return value(held)


def make(text: ClassText, value: Value, known: Callable[[type], None]) -> type:
    """The class again. `known` is told of it before its methods are made, which may read it."""
    held = {
        name: dataclasses.field(**{key: value(each) for key, each in options.items()})
        for name, _, options in text.fields
    }
    after = "__post_init__" in text.others
    namespace: dict[str, Any] = {
        **text.names,
        **held,
        "__annotations__": {name: value(each) for name, each, _ in text.fields},
        **({"__post_init__": lambda *_: None} if after else {}),
    }
    name = text.names["__qualname__"].rpartition(".")[2]
    bases = tuple([value(base) for base in text.bases])
    made = dataclasses.dataclass(**text.params)(type(name, bases, namespace))
    known(made)
    for key, each in text.others.items():
        part = each.kind(value(each.function)) if isinstance(each, Wrapped) else value(each)
        setattr(made, key, part)
    return made


def annotation(given: Any, value: Value) -> Any:
    """What stands for an annotation that may hold a class."""
    origin = get_origin(given)
    if origin is not Annotated and origin is not tuple:
        return given
    parts = list(get_args(given))
    after = [value(each) for each in parts]
    if all(a is b for a, b in zip(after, parts, strict=True)):
        return given
    return Alias(origin, after)


def alias(text: Alias, value: Value) -> Any:
    parts = tuple([value(each) for each in text.parts])
    return text.kind[parts]


def object_text(given: Any, value: Value) -> ObjectText:
    held = {each.name: value(getattr(given, each.name)) for each in dataclasses.fields(given)}
    return ObjectText(value(type(given)), held)


def object_of(text: ObjectText, value: Value) -> Any:
    held = {name: value(each) for name, each in text.held.items()}
    return instance(value(text.cls), held)
