"""A workload's step as the text of a kernel, for libraries that read the source of a whole loop.

The statements are those of `benchmarks.steps`. Names of planes and numbers become variables; what a
library writes around them, and how it calls roots and constants, is its own arm's affair.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from benchmarks import steps

_GIVEN = ("state", "inputs", "shared")


@dataclass(frozen=True, slots=True)
class Flat:
    """One step: the names it is written with, its statements, and what it ends with."""

    state: tuple[str, ...]
    inputs: tuple[str, ...]
    shared: dict[str, int]
    """Where each number stands among the workload's."""
    body: list[ast.stmt]
    after: list[ast.expr]
    """The state after the step."""
    done: ast.expr

    def numbers(self, shared: Sequence[float]) -> dict[str, float]:
        """The workload's numbers, as far as the step reads them."""
        return {name: shared[place] for name, place in self.shared.items()}

    def lines(
        self, functions: str, constant: Callable[[float], str] = repr, done: str = "done"
    ) -> list[str]:
        """The step as statements that change the state, and set `done`.

        `functions` is how the library's own module is called in the text, `constant` how a number
        is written there.
        """
        spell = _Spelling(functions, constant)
        new = [f"new_{name}" for name in self.state]
        written = [
            *self.body,
            *(_assign(name, value) for name, value in zip(new, self.after, strict=True)),
            _assign(done, self.done),
            *(_assign(name, ast.Name(value)) for name, value in zip(self.state, new, strict=True)),
        ]
        return [
            line
            for each in written
            for line in ast.unparse(ast.fix_missing_locations(spell.visit(_copy(each)))).split("\n")
        ]


def flat(name: str) -> Flat:
    """The step of one workload."""
    wanted = steps.of(math)[name].__name__
    tree = ast.parse(inspect.getsource(steps))
    found = next(
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == wanted
    )
    names: dict[str, tuple[str, ...]] = {}
    body = list(found.body)
    while isinstance(head := body[0], ast.Assign) and (given := _unpacked(head)):
        names |= given
        del body[0]
    end = body.pop()
    assert isinstance(end, ast.Return)
    assert isinstance(end.value, ast.Tuple)
    after, done = end.value.elts
    assert isinstance(after, ast.Tuple)
    state, inputs, shared = (names.get(each, ()) for each in _GIVEN)
    places = {each: k for k, each in enumerate(shared) if each != "_"}  # what nobody reads is _
    return Flat(state, inputs, places, body, after.elts, done)


def module(text: str) -> ModuleType:
    """The text as a module in a file: these libraries read the source of a function from there."""
    folder = Path(tempfile.mkdtemp(prefix="benchmark-"))
    path = folder / f"kernel_{folder.name.replace('-', '_')}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def indented(lines: list[str], depth: int) -> str:
    return "\n".join("    " * depth + line for line in lines)


def _unpacked(node: ast.Assign) -> dict[str, tuple[str, ...]]:
    """Which names an assignment takes from the state, the inputs and the shared numbers."""
    target, value = node.targets[0], node.value
    if isinstance(value, ast.Name):
        pairs = [(target, value)]
    elif isinstance(value, ast.Tuple) and isinstance(target, ast.Tuple):
        pairs = list(zip(target.elts, value.elts, strict=True))
    else:
        return {}
    given: dict[str, tuple[str, ...]] = {}
    for left, right in pairs:
        if not (isinstance(right, ast.Name) and right.id in _GIVEN and isinstance(left, ast.Tuple)):
            return {}
        given[right.id] = tuple(each.id for each in left.elts if isinstance(each, ast.Name))
    return given


def _assign(name: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([ast.Name(name)], value)


def _copy(node: ast.stmt) -> ast.stmt:
    return ast.parse(ast.unparse(ast.fix_missing_locations(node))).body[0]


class _Spelling(ast.NodeTransformer):
    """Numbers and functions as a library writes them."""

    def __init__(self, functions: str, constant: Callable[[float], str]) -> None:
        self._functions, self._constant = functions, constant

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        number = node.value
        if isinstance(number, bool) or not isinstance(number, int | float):
            return node
        return ast.parse(self._constant(number), mode="eval").body

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id == "range":
            return node  # counts passes: a number of Python's
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(known := vars(steps).get(node.id), float):
            return ast.parse(self._constant(known), mode="eval").body
        return ast.Name(self._functions) if node.id == "m" else node
