"""What an error says to write is pasted where it says, and then it is Python that means it.

Every case of `tests/golden/errors` is tried, and expressions in all surroundings that ask for
parentheses. What is not code is words: it does not parse.
"""

import ast
import itertools
import re
import warnings

import pytest

from hawk import HawkError
from hawk.edits import Edit, Loc, edited, filled, is_code
from tests.pages.page import read_page
from tools import errors

CASES = errors.cases()
CODE = [case for case in CASES if re.search(r"^  write: ", case.message, re.MULTILINE)]

LEADS_ON = {
    "any number of parameters": "what the body did with all of them is the user's to say",
    "keywords of any number": "what the body did with all of them is the user's to say",
    "state of an input": "a Param alone leaves nothing behind, the other choice does",
    "a number too large for Int32": "the sum is an Index, and what is returned an Int32",
    "a number too small for UInt32": "the difference as an Index, and what is returned a UInt32",
    "a tuple in a tuple returned": "what is returned is still one in the other",
    "and of numbers": "the number, where a truth is returned",
    "matrices that do not fit": "one of the two products has the shape that is returned",
    "an object that is run over": "its fields are of several shapes",
    "UInt32 and Index": "the bits are an Index, and what is returned a UInt32",
}
"""Cases in which another error follows what is written, with the reason."""


def raised(program: str) -> HawkError | None:
    """The error of hawk that a program ends in."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        error = errors.error_of(program)
    assert error is None or isinstance(error, (HawkError, TypeError, ValueError))
    return error if isinstance(error, HawkError) else None


def after(program: str, edit: Edit) -> str:
    """The program with an edit made."""
    assert edit.at.file == errors.FILE
    new = edited(program.splitlines(keepends=True), edit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        ast.parse(new)
    return new


@pytest.mark.parametrize("case", CODE, ids=[case.title for case in CODE])
def test_what_is_written_can_be_pasted(case: errors.Case) -> None:
    error = raised(case.program)
    if error is None:
        pytest.skip("an error of Python")
    follow: list[str] = []
    for edit in error.edits:
        said = raised(after(case.program, edit))
        follow += [] if said is None else [str(said)]
        assert str(error) not in follow
    assert (case.title in LEADS_ON) == bool(follow)


@pytest.mark.parametrize("case", CODE, ids=[case.title for case in CODE])
def test_what_cannot_be_pasted_is_words(case: errors.Case) -> None:
    error = raised(case.program)
    if error is not None and not error.edits:
        assert not is_code(error.fix)


@pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])
def test_nothing_of_a_template_is_left(case: errors.Case) -> None:
    said = case.message.replace(case.program, "")
    assert not re.search(r"\{(left|right|key|test|\d)\}", said)


def kernels_of_pages() -> list[str]:
    """The kernels in cells of the documentation that show an error."""
    found: list[str] = []
    for page in sorted((errors.ROOT / "docs").glob("*.md")):
        for cell in read_page(page, root=errors.ROOT):
            if "HawkError" in cell.code:
                for node in ast.parse(cell.code).body:
                    if isinstance(node, ast.FunctionDef) and node.decorator_list:
                        found.append(f"{ast.unparse(node)}\n")
    return found


@pytest.mark.parametrize("program", kernels_of_pages())
def test_what_the_pages_say_to_write_can_be_pasted(program: str) -> None:
    error = raised(program)
    if error is not None:
        assert error.edits
        for edit in error.edits:
            assert raised(after(program, edit)) is None


def test_the_cases_that_lead_on_are_cases() -> None:
    assert set(LEADS_ON) <= {case.title for case in CODE}


# --- parentheses ---------------------------------------------------------------------------------

PLANES = """k: Int32, u: UInt32, i: Index, x: Scalar, y: Scalar, b: Bool, c: Bool,
         m: Mutable[Int32], s: Mutable[Scalar], w: Mutable[UInt32], t: Mutable[Bool]"""
EXPRESSIONS = (
    *("i ** i", "pow(i, i)", "2 ** i", "x @ y", "x << 2"),
    *(
        "~b",
        "~(x > 0)",
        "i + k",
        "k * u",
        "k + 3_000_000_000",
        "u - 1_000_000_000_000",
        "int(x) & y",
    ),
    *(
        "(0, x)[i > 0]",
        "TABLE[i % 3]",
        "TABLE[i]",
        "{1: x, 2: y}[i]",
        "x[0]",
        "x.sqrt()",
        "x.item()",
    ),
    *("x and y", "x or y", "b and x", "b or x", "x and y and 2", "(x if b else 1) and b"),
    *("i < k < 3", "0 < k < i", "x > 0 & y > 0", "b is True", "b is False", "x is 1", "i is k"),
    *("i in (1, k)", "k in (1, i)", "k in (1, 5_000_000_000)", "i not in [k, k]", "x in y"),
    *("i in [k for _ in (1, 2)]", "x if b else None", "i if b else k", "k if b else u"),
    *(
        "max(i, k)",
        "min(k, i, 2)",
        "max([i, k])",
        "np.where(b, k, u)",
        "sum([k, i])",
        "sum((i, k))",
    ),
    *(
        "np.zeros(3)",
        "np.array([x, y])[0]",
        "np.arange(3)[i]",
        "math.hypot(x + 1, y)",
        "np.max((x, y))",
    ),
    *("(x, y) * x", "x - TABLE", "math.modf(x)[0]", "sorted((x, y))[0]", "x + '1'", "y * 10**400"),
)
SURROUNDINGS = (
    *("s = {}", "s = -{}", "s = 2 * {} + 1", "s = 3.0 / {}", "s = x - {}", "s = {} ** 2"),
    *(
        "t = b & {}",
        "t = c == {}",
        "t = not {}",
        "t = x < {}",
        "s = [{}, 2][0]",
        "s = x if {} else y",
    ),
    *("if {}:\n        s = 1.0", "while x < {} - s:\n        s += 1.0", "s += {}", "s *= {}"),
    *("m += {}", "w ^= {}", "t &= {}", "v = {}\n    s = v", "assert {}", "s = max({}, 1)"),
)


def in_a_kernel(statements: str) -> str:
    """A kernel of these statements."""
    return f"TABLE = (1.0, 2.0, 3.0)\n\n@hawk.kernel\ndef step({PLANES}):\n    {statements}\n"


def check_suggestions(program: str) -> int:
    """Paste what the error of a program says, as often as there is one; how often that was."""
    seen: list[str] = []
    while (error := raised(program)) is not None:
        said = str(error)
        assert said not in seen
        assert not re.search(r"\{(left|right|key|test|\d)\}", said)
        for edit in error.edits:
            new = after(program, edit)
            bare, safe = (ast.dump(ast.parse(each)) for each in (new, _safe(program, edit)))
            assert bare == safe
        if not error.edits:
            break
        seen.append(said)
        program = after(program, error.edits[0])
    return len(seen)


def _safe(program: str, edit: Edit) -> str:
    """The program with the edit in parentheses, if it is an expression."""
    try:
        ast.parse(edit.text, mode="eval")
    except SyntaxError:
        return after(program, edit)
    return after(program, Edit(f"({edit.text})", at=edit.at, before=edit.before))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_suggestion_keeps_its_meaning_in_every_surrounding(expression: str) -> None:
    for surrounding in SURROUNDINGS:
        program = in_a_kernel(surrounding.format(expression))
        if "if b" not in expression or is_code(program):  # a choice in a choice has parentheses
            check_suggestions(program)


@pytest.mark.parametrize("name", ["m", "w", "s", "t"])
def test_what_a_state_becomes_can_be_mended(name: str) -> None:
    values = (
        "x * 2",
        "i",
        "k / 2",
        "x > 0",
        "u",
        "1",
        "2.5",
        "-1",
        "5_000_000_000",
        "x if b else y",
    )
    forms = (
        *(
            "{0} = {1}",
            "{0} += {1}",
            "{0} /= {1}",
            "{0}, s = {1}, x",
            "t = (z := {1}) > 0\n    {0} = z",
        ),
        "if b:\n        {0} = {1}",
        "if b:\n        {0} = {1}\n    else:\n        {0} = i",
        "if b:\n        {0} = 0\n    else:\n        {0} = {1}",
        "if b:\n        {0} = {1}\n    else:\n        {0} += 0.5 * x",
        "for q in range(i):\n        {0} = {1}",
        "while x > {0}:\n        {0} += {1}",
        "z = {0}\n    for q in range(i):\n        z = {1}\n    {0} = z",
        "match {0}:\n        case 5_000_000_000:\n            {0} = {1}",
    )
    for form, value in itertools.product(forms, values):
        check_suggestions(in_a_kernel(form.format(name, value)))


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("s = 5 + 2 ** (i & 7)", "(1 << (i & 7))"),
        ("s = (0, x)[i > 0]", "x if i > 0 else 0"),
        ("s = TABLE[i % 3] * x",
         "(TABLE[0] if i % 3 == 0 else TABLE[1] if i % 3 == 1 else TABLE[2])"),
        ("m += i", "m += hawk.int32(i)"),
        ("w ^= i", "w ^= hawk.uint32(i)"),
        ("s &= 1", "s = int(s) & 1"),
        ("s <<= 1", "s = s * 2.0 ** 1"),
        ("t = i < k < 3", "i < hawk.index(k) < 3"),
        ("s = max(i, k)", "hawk.index(k)"),
        ("s = x and y", "y if x != 0 else x"),
        ("if x and y:\n        s = 1.0", "x != 0 and y"),
        ("t = (x if b else 1) and x > 3", "x > 3 if (x if b else 1) != 0 else x if b else 1"),
        ("t = b == ~c", "(not c)"),
        ("t = i in (1, k)", "hawk.index(k)"),
        ("match k:\n        case 5_000_000_000:\n            s = 1.0", "hawk.index(k)"),
        ("z = np.array([0.25, 0.5, 0.25])", "[0.25, 0.5, 0.25]"),
        ("z = np.arange(3)", "[0, 1, 2]"),
        ("z = np.zeros(40)", "[0.0] * 40"),
        ("z = [x, y]\n    del z[0]", "z.pop(0)"),
        ("z = [x, y]\n    del z[1:]", "z = z[:1]"),
        ("m, s = s, m", "hawk.int32(s)"),
        ("m = k / 2", "k // 2"),
        ("m = x / 2", "hawk.int32(x / 2)"),
        ("m /= 2", "m //= 2"),
        ("for q in range(x / 2):\n        s = 1.0", "int(x / 2)"),
        ("if x < m:\n        m = m / 2\n    else:\n        m += 0.5 * m",
         "m = hawk.int32(m + 0.5 * m)"),
        ("for q in range(i):\n        m = 0.5 * m", "hawk.int32(0.5 * m)"),
        ("if x > 1:\n        t = 0\n    else:\n        t = i", "i != 0"),
    ],
)  # fmt: skip
def test_the_text_is_the_one_that_means_it(statement: str, expected: str) -> None:
    error = raised(in_a_kernel(statement))
    assert error is not None
    assert expected == error.edits[0].text


# --- how -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "texts", "expected"),
    [
        ("{left} * {right}", {"left": "a + b", "right": "c * d"}, "(a + b) * (c * d)"),
        ("{left} != 0", {"left": "a - b"}, "a - b != 0"),
        ("{left} != 0", {"left": "a > b"}, "(a > b) != 0"),
        ("f({left})", {"left": "a if b else c"}, "f(a if b else c)"),
        ("f({left}, 2)", {"left": "a, b"}, "f((a, b), 2)"),
        ("not {left}", {"left": "a or b"}, "not (a or b)"),
        ("a loop of {left} passes", {"left": "i + 1"}, "a loop of i + 1 passes"),
    ],
)  # fmt: skip
def test_texts_are_filled_in_with_the_parentheses_they_need(
    template: str, texts: dict[str, str], expected: str
) -> None:
    assert expected == filled(template, **texts)


def test_an_edit_replaces_what_is_marked_and_no_more() -> None:
    lines = ["def f():\n", "    return (a\n", "            + b) * c\n"]
    edit = Edit("d", at=Loc("f.py", 2, 12, 3, 15))
    assert "def f():\n    return (d) * c\n" == edited(lines, edit)
    before = Edit("a = 1\nb = 2", at=Loc("f.py", 2, 4, 2, 10), before=True)
    assert "def f():\n    a = 1\n    b = 2\n    return (a\n            + b) * c\n" == edited(
        lines, before
    )
