"""Make a failing case small, and print it as a test that can be kept."""

from __future__ import annotations

import ast
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from hawk.ir.nodes import Number
from tests.oracle.harness import STAGES, Case, Mismatch, check, load

Edit = Callable[[], None]

SECONDS = 60.0
"""How long a case is made smaller at most."""
SIMPLE = (0, 1, 1.0, True)


def reduced(case: Case, failure: Exception, *, seconds: float = SECONDS) -> Case:
    """A smaller case that fails in the same stage, or with the same error."""
    deadline = time.monotonic() + seconds
    fails = _same_failure(failure)

    def wins(small: Case) -> bool:
        return time.monotonic() < deadline and fails(small)

    while True:
        before = case
        case = _shorter_text(_fewer_numbers(case, wins), wins)
        if case == before:
            return case


def _same_failure(failure: Exception) -> Callable[[Case], bool]:
    stages: Sequence[str] = STAGES
    if isinstance(failure, Mismatch):
        stages = tuple(dict.fromkeys(("width 1", failure.stage)))
    if stages[-1] in ("python", "passes"):
        stages = stages[-1:]

    def fails(case: Case) -> bool:
        try:
            check(case, stages)
        except Mismatch as mismatch:
            return isinstance(failure, Mismatch) and mismatch.stage == failure.stage
        except Exception as error:  # noqa: BLE001 - whatever it was
            code = getattr(failure, "code", None)
            return type(error) is type(failure) and getattr(error, "code", None) == code
        return False

    return fails


# -- numbers ---------------------------------------------------------------------------------------


def _fewer_numbers(case: Case, wins: Callable[[Case], bool]) -> Case:
    """One sample, few steps, simple numbers."""
    count = max([len(each) for each in case.columns.values()], default=1)
    if count > 1:
        for sample in range(count):
            one = {name: [column[sample]] for name, column in case.columns.items()}
            if wins(replace(case, columns=one)):
                case = replace(case, columns=one)
                break
    for steps in (1, 2, 3, 5, 17):
        if steps < case.steps and wins(replace(case, steps=steps)):
            case = replace(case, steps=steps)
            break
    for simple in _simpler(case):
        if wins(simple):
            case = simple
    return case


def _simpler(case: Case) -> Iterator[Case]:
    """The case with one number made 1 or 0. Made of what the case was when this began."""
    for name, number in case.numbers.items():
        for simple in _simple(number):
            yield replace(case, numbers={**case.numbers, name: simple})
    for name, column in case.columns.items():
        for simple in _simple(column[0]) if len(column) == 1 else ():
            yield replace(case, columns={**case.columns, name: [simple]})


def _simple(number: Number) -> list[Number]:
    kind = type(number)
    return [
        kind(each) for each in (1, 0) if number != kind(each) and number not in (kind(0), kind(1))
    ]


# -- text ------------------------------------------------------------------------------------------


def _shorter_text(case: Case, wins: Callable[[Case], bool]) -> Case:
    place = 0
    while True:
        tree = ast.parse(case.text)
        nodes = list(ast.walk(tree))
        if place >= len(nodes):
            return case
        for number in range(len(list(_edits(nodes[place])))):
            small = _edited(case, place, number)
            if small is not None and len(small.text) < len(case.text) and wins(small):
                case = small
                break
        else:
            place += 1


def _edited(case: Case, place: int, number: int) -> Case | None:
    """The case with one edit of its text; None where that is no program any more."""
    tree = ast.parse(case.text)
    edits = list(_edits(list(ast.walk(tree))[place]))
    edits[number]()
    try:
        text = ast.unparse(tree) + "\n"
        with warnings.catch_warnings():  # such as: 0(x), perhaps you missed a comma?
            warnings.simplefilter("ignore")
            names = [each.name for each in load(text).parameters]
    except Exception:  # noqa: BLE001 - not a kernel any more
        return None
    numbers = {name: each for name, each in case.numbers.items() if name in names}
    columns = {name: each for name, each in case.columns.items() if name in names}
    return replace(case, text=text, numbers=numbers, columns=columns)


def _edits(node: ast.AST) -> Iterator[Edit]:
    """Ways to make a node smaller, the largest first."""
    for name in ("body", "orelse"):
        statements = getattr(node, name, None)
        if isinstance(statements, list):
            yield from _fewer_statements(statements, needed=name == "body")
    if isinstance(node, ast.FunctionDef):
        for place in range(len(node.args.args)):
            yield lambda place=place: node.args.args.pop(place)  # type: ignore[misc]
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.expr):
            for smaller in _smaller(value):
                yield lambda name=name, smaller=smaller: setattr(node, name, smaller)
        elif isinstance(value, list) and value and isinstance(value[0], ast.expr):
            for place, each in enumerate(value):
                if len(value) > 1:
                    yield lambda value=value, place=place: value.pop(place)
                for smaller in _smaller(each):
                    yield lambda value=value, place=place, smaller=smaller: value.__setitem__(
                        place, smaller
                    )


def _fewer_statements(statements: list[ast.stmt], *, needed: bool) -> Iterator[Edit]:
    for place, each in enumerate(statements):

        def without(place: int = place) -> None:
            del statements[place]
            if needed and not statements:
                statements.append(ast.Pass())

        yield without
        for name in ("body", "orelse"):
            inner = getattr(each, name, None)
            if isinstance(inner, list) and inner and not isinstance(each, ast.FunctionDef):
                yield lambda place=place, inner=inner: statements.__setitem__(
                    slice(place, place + 1), inner
                )


def _smaller(value: ast.expr) -> Iterator[ast.expr]:
    """Parts of an expression that may stand in its place, and simple numbers."""
    if isinstance(value, (ast.Name, ast.Constant)):
        return
    for child in ast.walk(value):
        if isinstance(child, ast.expr) and child is not value and not isinstance(child, ast.Tuple):
            if not (isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store)):
                yield child
    for number in SIMPLE:
        yield ast.Constant(number)


# -- text of a test --------------------------------------------------------------------------------


def report(case: Case, failure: Exception, seed: int) -> str:
    """What failed, and a test that fails in the same way."""
    return "\n".join(
        (
            f"program {seed}: {type(failure).__name__}: {failure}",
            "",
            "To keep it, add to tests/oracle/test_found.py:",
            "",
            as_test(case, f"program_{seed}"),
        )
    )


def as_test(case: Case, name: str) -> str:
    """A test of the case, as text."""
    return f"""\
def test_{name}() -> None:
    check(
        Case(
            text='''
{case.text.strip()}
''',
            real=DType.{case.real.name},
            steps={case.steps},
            numbers={_shown(dict(case.numbers))},
            tables={_shown({n: each.tolist() for n, each in case.tables.items()})},
            columns={_shown({key: list(column) for key, column in case.columns.items()})},
            seed={case.seed},
        )
    )
"""


def _shown(value: Any) -> str:
    """The value as Python text; it may say `inf` and `nan`, which the file imports from `math`."""
    return repr(value)


__all__ = ["as_test", "reduced", "report"]
