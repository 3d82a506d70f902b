"""What is said of wrong graphs is kept as text; `python tools/errors.py` writes it anew."""

import re
from pathlib import Path

import pytest

import eagle
from eagle.graph.codes import GRAPH_CODES
from tools import errors

CASES = errors.cases(errors.GRAPHS)


@pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])
def test_the_message_is_the_one_on_file(case: errors.Case) -> None:
    assert case.message == errors.said_of(case.program, errors.graph_error_of)


@pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])
def test_a_message_has_a_place_carets_and_what_to_write(case: errors.Case) -> None:
    first, line, carets, *rest = case.message.splitlines()
    assert re.match(r"graph\.py:\d+: .* \[G\d\d\d\]$", first)
    assert re.fullmatch(r" {4,}\^+", carets)
    assert len(carets) <= len(line)
    assert rest[0].startswith("  write: ")


def test_every_code_has_an_example_and_is_used() -> None:
    assert set(GRAPH_CODES) == {case.code for case in CASES}
    files = (Path(eagle.__file__).parent / "graph").glob("*.py")
    text = "".join(file.read_text() for file in files if file.name != "codes.py")
    assert set(GRAPH_CODES) == set(re.findall(r'"(G\d\d\d)"', text))
