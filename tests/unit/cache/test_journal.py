"""Why a kernel was compiled: the part of its key that is new."""

from __future__ import annotations

import pytest

from hawk.cache.journal import Miss, explain, misses

PARTS = {
    "program": "p1",
    "variant": "float64",
    "machine": "x86_64-unknown-linux-gnu, +avx2, -avx512f",
    "versions": "llvmlite 0.49.0, LLVM 21.1.0",
    "hawk": "h1",
}


def miss(**parts: str) -> Miss:
    return Miss(1_800_000_000, "orbit", "orbit.py", PARTS | parts, "first time")


@pytest.mark.parametrize(
    ("why", "earlier", "parts"),
    [
        ("first time", [], {}),
        ("it was removed: the cache was cleared, or was full", [miss()], {}),
        ("the program changed", [miss()], {"program": "p2"}),
        ("hawk itself changed", [miss()], {"hawk": "h2"}),
        (
            "versions changed: LLVM 21.1.0 -> LLVM 22.1.0",
            [miss()],
            {"versions": "llvmlite 0.49.0, LLVM 22.1.0"},
        ),
        (
            "the machine changed: -avx512f -> +avx512f",
            [miss()],
            {"machine": "x86_64-unknown-linux-gnu, +avx2, +avx512f"},
        ),
        (
            "the machine changed: nothing -> +avx512f",
            [miss(machine="x86_64")],
            {"machine": "x86_64, +avx512f"},
        ),
        ("the program changed; hawk itself changed", [miss()], {"program": "p2", "hawk": "h2"}),
        # A way that was never asked for is new, whatever the program did since.
        ("first time for float32", [miss()], {"variant": "float32", "program": "p2"}),
        ("the program changed", [miss(), miss(variant="float32")], {"program": "p2"}),
        (
            "versions changed: LLVM 22.1.0 -> LLVM 23.1.0",
            [miss(), miss(versions="llvmlite 0.49.0, LLVM 22.1.0")],
            {"versions": "llvmlite 0.49.0, LLVM 23.1.0"},
        ),
        # The nearest of the earlier ones is compared with, not the last.
        ("the program changed", [miss(), miss(program="p2", hawk="h2")], {"program": "p3"}),
    ],
)
def test_it_says_which_part_is_new(why: str, earlier: list[Miss], parts: dict[str, str]) -> None:
    assert why == explain(earlier, PARTS | parts)


def test_a_line_becomes_the_miss_it_was_made_from() -> None:
    odd = Miss(1_800_000_000, "f.<locals>.k", "a 'b'\n\"c\"\udc80.py", PARTS, "first time")

    assert "\n" not in odd.line()
    assert [odd] == list(misses([odd.line().encode().decode()]))


@pytest.mark.parametrize(
    "broken",
    ["", "(", miss().line()[:-3], "1", "(1, 2)", "[1, 2, 3, 4, 5]", "\0", "{**1}", "(" * 9999],
)
def test_a_broken_line_is_passed_over(broken: str) -> None:
    assert [miss(), miss()] == list(misses([miss().line(), broken, miss().line()]))
