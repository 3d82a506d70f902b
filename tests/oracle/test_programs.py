"""Random programs give the same bits in every way there is to run them."""

from __future__ import annotations

import pytest

from tests.oracle.harness import case_of, check
from tests.oracle.programs import write
from tests.oracle.reduce import reduced, report


def test_every_way_to_run_a_program_gives_the_same_bits(seeds: range) -> None:
    for seed in seeds:
        case = case_of(write(seed))
        try:
            check(case)
        except Exception as failure:  # noqa: BLE001 - a refused program is a failure, too
            text = report(reduced(case, failure), failure, seed)
            pytest.fail(text, pytrace=False)


def test_the_programs_are_as_various_as_they_should_be() -> None:
    """Each construct of the language is in many of them, or the other test says little."""
    texts = [write(seed).text for seed in range(200)]
    wanted = {
        "if ": 100, "elif ": 30, "else:": 60, " if ": 100, "for ": 60, "while ": 20, "break": 10,
        "continue": 10, "def h": 60, "lambda": 5, " and ": 20, " or ": 15, "not ": 40, "min(": 40,
        "max(": 40, "abs(": 40, "//": 30, "%": 40, "<<": 30, ">>": 30, "~": 20, "&": 60, "^": 30,
        " ** ": 10, "Param[": 60, "Mutable[Scalar]": 60, "Mutable[Bool]": 15, "Mutable[Int32]": 15,
        "Mutable[UInt32]": 15, "Mutable[Index]": 15, "Terminated": 100, "t += dt": 5, "k += 1": 5,
        "-> tuple[": 30, "return": 100, "+= ": 40, "-= ": 40, "*= ": 10, "/= ": 10, "C": 50,
        "contract=False": 8, "float32": 3, "hawk.int32": 60, "hawk.uint32": 60, "int(": 60,
        "float(": 60, "bool(": 30, "math.": 40, "np.": 40, " in ": 60, "make(": 40, "1e+300": 5,
    }  # fmt: skip
    counts = {word: sum(word in text for text in texts) for word in wanted}
    assert {} == {word: counts[word] for word, least in wanted.items() if counts[word] < least}
