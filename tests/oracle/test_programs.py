"""Random programs give the same bits in every way there is to run them."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.oracle.constructs import CONSTRUCTS, held
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


def test_programs_that_ask_where_they_are_give_the_same_bits(seeds: range) -> None:
    for seed in seeds[: max(1, len(seeds) // 4)]:
        case = case_of(write(seed, placed=True))
        try:
            check(case)
        except Exception as failure:  # noqa: BLE001 - a refused program is a failure, too
            text = report(reduced(case, failure), failure, seed)
            pytest.fail(text, pytrace=False)


FEW = 5
"""How many of the 200 programs hold each construct at least."""


def test_the_programs_are_as_various_as_they_should_be() -> None:
    """Each construct of the language is in some of them, or the other test says little."""
    counts = Counter(name for seed in range(200) for name in held(write(seed)))
    assert {} == {name: counts[name] for name in CONSTRUCTS if counts[name] < FEW}
    assert min(counts[f"width: {width}"] for width in ("float32", "float64")) > 50
