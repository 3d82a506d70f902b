"""Every refusal says where, what and what to write instead: the whole messages are kept as text.

`tests/golden/errors` holds wrong kernels with what hawk says of them. `python tools/errors.py`
writes the messages anew, and `docs/errors.md`; read the difference.
"""

import linecache
import multiprocessing
import pickle
import re
import warnings
from pathlib import Path

import pytest

import hawk
from hawk import HawkError, Index, Mutable, Scalar
from hawk.frontend.codes import CODES
from hawk.ir.types import DType
from tests.unit.frontend.agreement import agree
from tools import errors

CASES = errors.cases()
WITHOUT_AN_EXAMPLE = {"H102", "H403", "H501", "H502", "H601", "H602", "H603", "H604"}
"""A file that changes while it runs, 300 parentheses, other processors, and what a run reports."""


@pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])
def test_the_message_is_the_one_on_file(case: errors.Case) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # Python finds some of them strange too
        assert case.message == errors.said_of(case.program), "write: python tools/errors.py"


@pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])
def test_a_message_has_a_place_carets_and_no_address(case: errors.Case) -> None:
    first, *rest = case.message.splitlines()
    assert case.code or first.startswith(("TypeError: ", "ValueError: "))
    assert not re.search(r"0x[0-9a-f]{6}", case.message)
    if case.code not in ("", "H101"):
        assert re.match(r"kernel\.py:\d+: .* \[H\d\d\d\]$", first)
        line, carets = rest[:2]
        assert re.fullmatch(r" {4,}\^+", carets)
        assert len(carets) <= len(line)


def test_no_two_cases_are_alike() -> None:
    assert len(CASES) > 200
    assert len({case.title for case in CASES}) == len(CASES)
    assert len({case.program for case in CASES}) == len(CASES)


def test_every_code_has_an_example() -> None:
    assert set(CODES) - WITHOUT_AN_EXAMPLE == {case.code for case in CASES} - {""}


def test_the_page_of_errors_is_current() -> None:
    page = errors.PAGE.read_text(encoding="utf-8")
    assert errors.page([*CASES, *errors.cases(errors.GRAPHS)]) == page, (
        "write: python tools/errors.py"
    )


def test_the_registry_holds_the_codes_that_are_used() -> None:
    files = Path(hawk.__file__).parent.rglob("*.py")
    text = "".join(file.read_text() for file in files if file.name != "codes.py")
    assert set(CODES) == set(re.findall(r'"(H\d\d\d)"', text))


def kernel_of(text: str, file: str = "<long>"):
    """The last kernel of a text."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace = errors.names()
    exec(compile(text, file, "exec"), namespace)
    return next(each for each in reversed(namespace.values()) if isinstance(each, hawk.Kernel))


def test_an_expression_may_be_deep_but_not_endless() -> None:
    def nested(depth: int):
        text = f"{'-' * depth}x"
        return kernel_of(f"@hawk.kernel\ndef step(x: Scalar) -> Scalar:\n    return {text}\n")

    agree(nested(80), 1.0)
    with pytest.raises(HawkError, match="H403"):
        nested(800).trace(DType.F64)


def test_a_kernel_may_be_long() -> None:
    lines = "".join(f"    x = x * 0.5 + {i}\n    y = y - x\n    x = x + y\n" for i in range(1000))
    step = kernel_of(f"@hawk.kernel\ndef step(x: Mutable[Scalar], y: Mutable[Scalar]):\n{lines}")
    agree(step, 1.0, 2.0)


def test_a_sum_may_have_many_terms() -> None:
    terms = " + ".join(f"x * {i}.0" for i in range(900))
    step = kernel_of(f"@hawk.kernel\ndef step(x: Scalar) -> Scalar:\n    return {terms}\n")
    agree(step, 1.5)


def test_numbers_may_be_asked_for_their_truth() -> None:
    @hawk.kernel
    def step(x: Scalar, i: Index) -> Index:
        if x:
            return 1 if i else 2
        while i:
            i -= 1
        return 3 + (not x)

    assert agree(step, [1.0, 1.0, 0.0], [1, 0, 2])["out"].tolist() == [1, 2, 4]


def test_an_unknown_option_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'step'"):
        hawk.kernel(step=4)


def wrong(number: int) -> None:
    """Raise the error of a case; another process calls this."""
    case = CASES[number]
    step = kernel_of(case.program, "kernel.py")
    step.trace(DType.F64)


def test_errors_go_from_one_process_to_another() -> None:
    deep = next(i for i, case in enumerate(CASES) if case.title == "deep in helpers")
    with multiprocessing.get_context("spawn").Pool(1) as pool, pytest.raises(HawkError) as error:
        pool.apply(wrong, (deep,))
    assert CASES[deep].message == f"{error.value}\n"
    assert error.value.code == CASES[deep].code
    again = pickle.loads(pickle.dumps(error.value))
    assert (again.code, again.what, again.fix, again.loc) == (
        error.value.code, error.value.what, error.value.fix, error.value.loc,
    )  # fmt: skip


def test_an_error_at_the_end_of_a_step_points_at_the_assignment() -> None:
    @hawk.kernel
    def step(x: Mutable[Scalar], v: Mutable[Scalar], i: Index):
        if v > 0:
            x = i
        v = v - 1

    with pytest.raises(HawkError, match="H205") as error:
        step.trace(DType.F64)
    assert "x = i\n" in str(error.value)
