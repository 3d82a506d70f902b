"""Numbers that a builder is called with: known when the graph is built, and other ones later.

`Graph.params` may change a number that went into kernels as it came. Python computes with it as
with any number, and what comes of that is a plain one, which nobody can change later.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hawk.frontend.source import Source


class Given:
    """A number of a builder's call, with the parameter it came by."""

    parameter: str


class GivenFloat(float, Given):
    """A float of a builder's call."""

    __slots__ = ("parameter",)


class GivenInt(int, Given):
    """An int of a builder's call."""


def given_as(value: object, parameter: str) -> object:
    """`value`, marked as what came by a parameter if it is a number."""
    if type(value) is float:
        number: Given = GivenFloat(value)
    elif type(value) is int:
        number = GivenInt(value)
    else:
        return value
    number.parameter = parameter
    return number


def computed_with(source: Source, parameter: str) -> ast.Name | None:
    """Where Python does something with a parameter besides giving it to a call, if it does."""
    arguments = {
        each
        for node in ast.walk(source.node)
        if isinstance(node, ast.Call)
        for each in (*node.args, *(keyword.value for keyword in node.keywords))
    }
    return next((each for each in _uses(source, parameter) if each not in arguments), None)


def _uses(source: Source, name: str) -> Iterator[ast.Name]:
    for statement in source.body:
        for each in ast.walk(statement):
            if isinstance(each, ast.Name) and each.id == name:
                yield each
