"""Random programs give the same bits in every way there is to run them."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import replace

import pytest

from tests.oracle.constructs import CONSTRUCTS, held
from tests.oracle.harness import case_of, check
from tests.oracle.programs import Program, write
from tests.oracle.reduce import reduced, report


def test_every_way_to_run_a_program_gives_the_same_bits(seeds: range) -> None:
    for seed in seeds:
        case = case_of(write(seed))
        try:
            check(case)
        except Exception as failure:  # noqa: BLE001 - a refused program is a failure, too
            text = report(reduced(case, failure), failure, seed)
            pytest.fail(text, pytrace=False)


def test_programs_that_ask_where_they_are_give_the_same_bits(seeds: range) -> None:
    for seed in seeds[: max(1, len(seeds) // 8)]:
        case = case_of(write(seed, placed=True))
        try:
            check(case)
        except Exception as failure:  # noqa: BLE001 - a refused program is a failure, too
            text = report(reduced(case, failure), failure, seed)
            pytest.fail(text, pytrace=False)


def test_programs_of_fast_mathematics_give_the_same_bits(seeds: range) -> None:
    for seed in seeds:
        if seed % 40 == 0:
            case = case_of(of_fast_mathematics(seed))
            try:
                check(case)
            except Exception as failure:  # noqa: BLE001 - a refused program is a failure, too
                text = report(reduced(case, failure), failure, seed)
                pytest.fail(text, pytrace=False)


FUNCTION = re.compile(r"\.(exp|log|sin|cos|tan|tanh|pow|atan2|arctan2|hypot)\w*\(|\*\* [a-z]")


def of_fast_mathematics(seed: int) -> Program:
    """The first program from a seed on that calls an elementary function, with math="fast"."""
    programs = (write(each) for each in itertools.count(seed))
    program = next(each for each in programs if FUNCTION.search(each.text))
    text = re.sub(r"@hawk\.kernel\(", '@hawk.kernel(math="fast", ', program.text)
    text = re.sub(r"@hawk\.kernel$", '@hawk.kernel(math="fast")', text, flags=re.MULTILINE)
    return replace(program, text=text)


FEW = 5
"""How many of the 200 programs hold each construct at least."""


def test_the_programs_are_as_various_as_they_should_be() -> None:
    """Each construct of the language is in some of them, or the other test says little."""
    counts = Counter(name for seed in range(200) for name in held(write(seed)))
    assert {} == {name: counts[name] for name in CONSTRUCTS if counts[name] < FEW}
    assert min(counts[f"width: {width}"] for width in ("float32", "float64")) > 50
