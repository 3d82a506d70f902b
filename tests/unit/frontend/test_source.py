"""Finding the text of a function, wherever it stands, and its annotations."""

import importlib
import linecache
import pickle
import sys
import textwrap

import numpy as np
import pytest

import hawk
from hawk import HawkError, Index, Int32, Mutable, Param, Scalar, Terminated
from hawk.frontend.signature import NO_DEFAULT, Signature, read
from hawk.frontend.source import Source, bound_names
from hawk.ir.nodes import Role
from hawk.ir.types import DType
from hawk.reference import interpret

X = np.array([1.0, 2.0])
NAMES = {"hawk": hawk, "Scalar": Scalar, "Param": Param}


def twice(f):
    return f


def registered(text, file):
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = dict(NAMES)
    exec(compile(text, file, "exec"), names)
    return names


@twice
@twice
def decorated(x: Scalar) -> Scalar:
    return x


def test_the_node_of_a_decorated_function_is_its_own() -> None:
    source = Source.of(decorated)
    assert source.name == "decorated"
    assert source.lines[source.node.lineno - 1] == "def decorated(x: Scalar) -> Scalar:\n"
    assert source.head().line == source.node.lineno


def test_lambdas_on_one_line_are_told_apart() -> None:
    first, second = (lambda x: x + 1), (lambda x: x * 2)
    assert Source.of(first).text(Source.of(first).body[0]) == "x + 1"
    assert Source.of(second).text(Source.of(second).body[0]) == "x * 2"


def test_two_functions_of_one_name_are_told_apart() -> None:
    def same():
        return 1

    before = same

    def same():
        return 2

    assert "1" in Source.of(before).text(Source.of(before).body[0])
    assert "2" in Source.of(same).text(Source.of(same).body[0])


def test_registered_text_works() -> None:
    names = registered("@hawk.kernel\ndef f(x: Scalar) -> Scalar:\n    return x + 1\n", "<mine>")
    assert interpret(names["f"], X)["out"].tolist() == [2.0, 3.0]


def test_text_that_cannot_be_found_is_explained() -> None:
    names = dict(NAMES)
    with pytest.raises(HawkError, match="H101") as error:
        exec("@hawk.kernel\ndef f(x: Scalar) -> Scalar:\n    return x + 1\n", names)
    assert "linecache.cache" in str(error.value)
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


def test_a_builtin_has_no_text() -> None:
    with pytest.raises(HawkError, match="H303"):
        Source.of(len)


def test_a_file_that_changed_since_its_import_is_noticed(tmp_path, monkeypatch) -> None:
    file = tmp_path / "kernels_that_change.py"
    file.write_text("def f(x):\n    return x\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("kernels_that_change")
    monkeypatch.setitem(sys.modules, "kernels_that_change", module)
    assert Source.of(module.f).name == "f"
    file.write_text("import math\n\n\ndef f(x):\n    return x + 1\n")
    with pytest.raises(HawkError, match="H102"):
        Source.of(module.f)


def test_columns_count_characters() -> None:
    def f(x):
        y = ["ß", größe := "ß", größe][-1]  # noqa: PLC2401
        return y

    source = Source.of(f)
    where = source.loc(source.body[0].value.value.elts[-1])
    assert source.lines[where.line - 1][where.col : where.end_col] == "größe"


def test_names_bound_in_a_comprehension_are_its_own() -> None:
    def f(x):
        (a, *b), c.d, e[0] = x
        g = [h for h in x if (i := h)]
        for j, k in x:
            pass
        match x:
            case [l, *m]:
                pass
            case _:
                pass

        def n(o):
            p = 1

        return a

    assert bound_names(Source.of(f).body) == set("abgijklmn")


# --- signatures ---


def signature(function) -> Signature:
    return read(function, Source.of(function))


def test_each_annotation_is_a_role_and_an_element() -> None:
    def f(
        x: Scalar, i: Index, a: Param, k: Param[Int32], s: Mutable[Scalar], done: Terminated,
        y: Mutable[Index] = 3, *, z: Scalar = 1.5,
    ) -> tuple[Scalar, Index]:  # fmt: skip
        done = x > 0
        return x, i

    read = signature(f)
    roles = {each.name: each.role for each in read.parameters}
    assert list(roles) == ["x", "i", "a", "k", "s", "done", "y", "z"]
    assert roles["x"] is Role.INPUT
    assert roles["a"] is roles["k"] is Role.UNIFORM
    assert roles["s"] is roles["y"] is Role.STATE
    assert roles["done"] is Role.MASK
    elements = {each.name: each.element.at(DType.F32) for each in read.parameters}
    assert elements["k"] is DType.I32
    assert elements["s"] is DType.F32
    assert elements["done"] is DType.BOOL
    assert {each.name: each.default for each in read.parameters}["y"] == 3
    assert read.parameters[0].default is NO_DEFAULT
    assert pickle.loads(pickle.dumps(read.parameters[0])).default is NO_DEFAULT
    assert [each.name for each in read.outputs] == ["out0", "out1"]
    assert read.nesting == "tuple"
    assert read.observed == ("s", "done", "y")


def test_postponed_annotations_see_globals_and_closure() -> None:
    text = textwrap.dedent(
        """
        from __future__ import annotations

        def make(kind):
            @hawk.kernel
            def f(x: kind, a: Param = 2.0) -> Scalar:
                kind
                return x * a
            return f
        """
    )
    kernel = registered(text, "<postponed>")["make"](Scalar)
    assert interpret(kernel, X)["out"].tolist() == [2.0, 4.0]


def test_a_string_is_an_annotation_too() -> None:
    def f(x: "Mutable[Scalar]", done: "Terminated") -> "None":
        x += 1
        done = x > 1

    assert [each.role for each in signature(f).parameters] == [Role.STATE, Role.MASK]


def test_a_kernel_may_stand_in_a_class_or_a_function() -> None:
    class Model:
        @hawk.kernel
        def step(x: Scalar) -> Scalar:  # pyright: ignore[reportGeneralTypeIssues]
            return x + 1

    assert interpret(Model.step, X)["out"].tolist() == [2.0, 3.0]
