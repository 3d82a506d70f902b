"""What keeps reading and tracing fast. Times are measured by benchmarks/tracing.py, not here."""

from __future__ import annotations

import ast
import importlib.util
import linecache
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import hawk
from hawk import Scalar
from hawk.frontend.source import Source, bound_names, own_nodes
from hawk.ir.nodes import Apply, walk
from hawk.ir.types import DType

HEADER = "import hawk\nfrom hawk import Scalar\n"
KERNEL = "\n@hawk.kernel\ndef step_{k}(x: Scalar) -> Scalar:\n    return x + {k}\n"


def imported(path: Path, text: str) -> Any:
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_file_is_parsed_once_for_all_its_kernels(tmp_path: Path) -> None:
    parse = ast.parse
    with mock.patch.object(ast, "parse", side_effect=parse) as parsed:
        module = imported(
            tmp_path / "many.py", HEADER + "".join(KERNEL.format(k=k) for k in range(50))
        )
    assert parsed.call_count == 1
    first, last = module.step_0.source, module.step_49.source
    assert first.lines is last.lines
    assert (first.node.name, last.node.name) == ("step_0", "step_49")


def test_a_changed_file_is_parsed_again(tmp_path: Path) -> None:
    file = "<a cell>"

    def kernel(number: int) -> Any:
        text = HEADER + KERNEL.format(k=number)
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        names: dict[str, Any] = {}
        exec(compile(text, file, "exec"), names)
        return names[f"step_{number}"]

    assert [ast.unparse(kernel(k).source.node.body[0]) for k in (1, 2)] == [
        "return x + 1", "return x + 2",
    ]  # fmt: skip


def test_files_that_were_read_are_not_kept_without_end() -> None:
    from hawk.frontend import source

    for k in range(source._TEXTS_MAX + 10):
        file, text = f"<cell {k}>", "def step(x):\n    return x\n"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        names: dict[str, Any] = {}
        exec(compile(text, file, "exec"), names)
        assert Source.of(names["step"]).file == file
    assert len(source._TEXTS) <= source._TEXTS_MAX


def test_lambdas_and_functions_of_one_name_are_told_apart() -> None:
    first, second = (lambda x: x + 1), (lambda x, y: x * y)

    def step(x):
        return x

    one = step

    def step(x):  # noqa: F811
        return -x

    texts = [ast.unparse(Source.of(each).node) for each in (first, second)]
    assert texts == ["lambda x: x + 1", "lambda x, y: x * y"]
    assert [ast.unparse(Source.of(each).body[0]) for each in (one, step)] == [
        "return x",
        "return -x",
    ]


STATEMENTS = """
a = [b for b in c if b]
d: float = 1.0
for e, (f, *g) in h: i += 1
if (j := k): pass
match l:
    case [m, *n]: pass
    case {"key": o, **p}: pass
def q(r): s = 1
class t: u = 2
import v.w, x as y
lambda z: z
"""


def test_the_names_that_statements_bind() -> None:
    body = ast.parse(STATEMENTS).body
    assert set("adefgijmnopqtvy") == bound_names(body)


def test_own_nodes_leave_functions_inside_alone_and_keep_the_order_of_the_text() -> None:
    body = ast.parse(STATEMENTS).body
    nodes = list(own_nodes(body))
    assert not any(isinstance(node, ast.Name) and node.id in ("s", "u") for node in nodes)
    names = [node.id for node in nodes if isinstance(node, ast.Name)]
    assert names[:5] == ["a", "b", "b", "c", "b"]
    everything = {type(node) for statement in body[:5] for node in ast.walk(statement)}
    own = {type(node) for node in own_nodes(body[:5])}
    assert everything - own <= {ast.Load, ast.Store}


@pytest.mark.parametrize("lines", [250])
def test_a_long_kernel_traces_to_one_operation_for_each_it_says(lines: int, tmp_path: Path) -> None:
    body = "    x = x * x + 1.0\n    y = y + x\n    x = x / y\n    y = y - 0.5\n" * lines
    text = (
        f"{HEADER}\n@hawk.kernel\ndef step(x: Scalar, y: Scalar) -> Scalar:\n{body}    return x\n"
    )
    kernel = imported(tmp_path / "long.py", text).step
    operations = [each for each in walk(kernel.trace(DType.F64).step) if isinstance(each, Apply)]
    assert len(operations) == 4 * lines


def test_a_kernel_that_reads_the_same_global_often_records_it_once() -> None:
    terms = " + ".join(["FACTOR * x"] * 300)
    text = f"def step(x: Scalar) -> Scalar:\n    return {terms}\n"
    file = "<many reads>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names: dict[str, Any] = {"Scalar": Scalar, "FACTOR": 0.5}
    exec(compile(text, file, "exec"), names)
    kernel = hawk.kernel(names["step"])
    traced = kernel.program.trace(DType.F64, frozenset())
    assert [name for _, name, _ in traced.reads.items] == ["FACTOR"]
