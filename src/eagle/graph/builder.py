"""`@eagle.Graph.builder`: a call walks the function's text once and returns what it recorded."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from types import FunctionType
from typing import Any

from eagle.devices.plan import Region
from eagle.graph.codes import graph_error
from eagle.graph.domain import BuilderDomain
from eagle.graph.graph import Graph
from eagle.graph.joins import check_joins
from eagle.graph.kernels import refuse_allocations
from eagle.graph.numbers import given_as
from eagle.graph.planes import Plane, arrays_of
from eagle.graph.recorder import GraphRecorder
from eagle.graph.tidy import tidy
from eagle.recording import recorder, recording
from hawk.frontend.frame import RESULT, Frame
from hawk.frontend.source import Source
from hawk.frontend.values import NeedsKnown, Unusable


class Builder:
    """A function that records nodes. Called, it gives a graph; as a block, what it returns."""

    def __init__(self, function: Callable[..., Any]) -> None:
        if not isinstance(function, FunctionType):
            given = getattr(function, "__name__", repr(function))
            raise TypeError(f"@eagle.Graph.builder decorates a function, got {given}")
        self._function = function
        functools.update_wrapper(self, function)
        self.__signature__ = inspect.signature(function)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = self.__signature__.bind(*args, **kwargs)
        given.apply_defaults()
        target = self._target(given.arguments)
        if target is not None:
            return self._extend(target, given.arguments)
        writer = recorder()
        if isinstance(writer, GraphRecorder):
            what = f"{self._function.__name__} builds a graph of its own, inside another builder"
            raise writer.error("G102", what, "def block(g: eagle.Graph, ...): and block(g, ...)")
        writer = GraphRecorder(self._function.__name__)
        source = Source.of(self._function)
        made = self._walk(writer, source, given.arguments)
        if not isinstance(made, Graph) or made.recorder is not writer:
            what = (
                f"{writer.name} returns {_described(made)}, and a builder returns the graph it made"
            )
            fix = "g = eagle.Graph() as its first line, and return g as its last"
            raise graph_error("G102", what, source.head(), fix)
        results = [plane.region for plane in _planes(made.recorded)]
        finish(writer, results)
        writer.source, writer.arguments = source, dict(given.arguments)
        return made

    def _target(self, arguments: dict[str, Any]) -> Graph | None:
        """The graph that a block is given."""
        try:
            hints = typing.get_type_hints(self._function)
        except Exception:  # noqa: BLE001 - annotations of the user's may be anything
            hints = self._function.__annotations__
        for name, value in arguments.items():
            if hints.get(name) is Graph:
                if not isinstance(value, Graph):
                    title = self._function.__name__
                    raise TypeError(f"{title}: {name!r} is the graph to add to, got {value!r}")
                return value
        return None

    def _extend(self, graph: Graph, arguments: dict[str, Any]) -> Any:
        """Add the nodes of a block to a graph."""
        writer, source = graph.recorder, Source.of(self._function)
        nested = recorder()
        if nested is not None and nested is not writer:
            assert isinstance(nested, GraphRecorder)
            what = f"{self._function.__name__} adds to another graph than the one being built"
            raise nested.error("G102", what, "the graph of this builder")
        if writer.open:
            return self._read(writer, source, arguments)
        before = list(writer.body)
        try:
            value = self._walk(writer, source, arguments)
            finish(writer, [plane.region for plane in _planes((value, graph.recorded))])
        except BaseException:
            writer.body[:] = before
            raise
        return arrays_of(value)

    def _walk(self, writer: GraphRecorder, source: Source, arguments: dict[str, Any]) -> Any:
        writer.open = True
        try:
            with recording(writer):
                return self._read(writer, source, arguments)
        finally:
            writer.open = False

    def _read(self, writer: GraphRecorder, source: Source, arguments: dict[str, Any]) -> Any:
        names = {name: _given(writer, value, name) for name, value in arguments.items()}
        frame = Frame(source, names)
        loc = writer.loc
        writer.sources.append(source)
        domain = BuilderDomain(writer, frame)
        try:
            value = domain.walker.function(frame)[RESULT]
        except NeedsKnown as error:  # how a walk told it from others is nobody's business
            raise graph_error(error.code, error.what, error.loc, error.fix) from None
        finally:
            writer.sources.pop()
        if isinstance(value, Unusable):
            raise value.why("what is returned", source.head())
        writer.loc = loc
        return value


def finish(writer: GraphRecorder, results: list[Region]) -> None:
    """The checks that need all of a graph, and what is known only then."""
    for region in results:
        region.root.asked = True
    refuse_allocations(writer)
    tidy(writer.body, results)
    check_joins(writer.body, writer.roots, results)
    plan = writer.plan()
    writer.version += 1
    for item, what, fix in writer.device.objections(plan):
        raise graph_error("G401", what, item.loc, fix)


def _given(writer: GraphRecorder, value: Any, name: str) -> Any:
    """What a parameter holds: planes in the place of arrays, and numbers that know their name."""
    if isinstance(value, Graph):
        return value
    held = _held(writer, value, name, parameter=name)
    return given_as(value, name) if held is value else held


def _held(writer: GraphRecorder, value: Any, name: str, parameter: str = "") -> Any:
    """`value` with planes in the place of arrays; itself where it holds none."""
    plane = writer.plane(value, name, parameter)
    if plane is not None:
        return plane
    if isinstance(value, dict):
        opened = {key: _held(writer, each, f"{name}[{key!r}]") for key, each in value.items()}
        return opened if any(opened[key] is not value[key] for key in value) else value
    if isinstance(value, (tuple, list)):
        parts = [_held(writer, each, f"{name}[{k}]") for k, each in enumerate(value)]
        if any(a is not b for a, b in zip(parts, value, strict=True)):
            return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value


def _planes(value: Any) -> list[Plane]:
    if isinstance(value, Plane):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    elif is_dataclass(value) and not isinstance(value, type):
        value = [getattr(value, each.name, None) for each in fields(value)]
    if isinstance(value, (tuple, list)):
        return [plane for each in value for plane in _planes(each)]
    return []


def _described(value: Any) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"
