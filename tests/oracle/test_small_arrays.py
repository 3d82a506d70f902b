"""Random programs with vectors and matrices give the same bits in every way to run them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from hawk import reference
from hawk.frontend import shapes
from hawk.frontend.arrays import Arrays
from hawk.frontend.kernel_cycle import KernelCycle
from hawk.frontend.kernel_fork import KernelFork
from hawk.frontend.small_arrays import Memory, SmallArray
from tests.oracle.batch import unlike
from tests.oracle.harness import case_of, check, given, load
from tests.oracle.programs import write
from tests.oracle.reduce import reduced, report
from tests.unit.frontend.every_way import by_component

SHARE = 8
"""Every so many seeds of a run are also those of programs with arrays."""


def test_every_way_to_run_a_program_with_arrays_gives_the_same_bits(seeds: range) -> None:
    for seed in seeds[::SHARE]:
        case = case_of(write(seed, arrays=True))
        try:
            check(case)
        except Exception as failure:  # noqa: BLE001 - a refused program is a failure, too
            text = report(reduced(case, failure), failure, seed)
            pytest.fail(text, pytrace=False)


CONSTRUCTS = {
    "vec": r"hawk\.math\.vec\(",
    "mat": r"hawk\.math\.mat\(",
    "@": r" @ ",
    ".T": r"\.T\b",
    ".copy()": r"\.copy\(\)",
    "an element read": r"= z\d+\[-?\d\]\n",
    "an element at run time": r"z\d+\[[^\]\d:.-][^\]]*\]",
    "an element assigned": r"\n +z\d+\[[^\n=]*\] = ",
    "an element augmented": r"z\d+\[[^\n=]*\] [+*-]= ",
    "a slice assigned": r"z\d+\[[^\n]*:[^\n]*\] [+*-]?= ",
    "a row assigned": r"z\d+\[[01]\] [+*-]?= z",
    "augmented": r"\n +z\d+ [+*/-]= ",
    "a choice of arrays": r"\(z\d+ if ",
    "taken apart": r"v\d+, _\d+[^\n]* = z",
    "run over": r"for (_k, )?_\d+ in (enumerate\()?z",
    "a function of one": r"def f\d+\(p, x",
    "any() or all()": r"(any|all)\(z",
    "norm": r"hawk\.math\.norm",
    "det": r"hawk\.math\.det",
    "Mutable": r"Mutable\[(Vector|Matrix)",
    "Param": r"Param\[(Vector|Matrix)",
    "an input": r"z\d+: (Vector|Matrix)",
}


def test_the_programs_are_as_various_as_they_should_be() -> None:
    texts = [write(seed, arrays=True).text for seed in range(200)]
    counts = Counter(name for t in texts for name, form in CONSTRUCTS.items() if re.search(form, t))
    assert {} == {name: counts[name] for name in CONSTRUCTS if counts[name] < 3}


# -- faults ----------------------------------------------------------------------------------------


def dot_without_fma(right: Any) -> Any:
    def wrong(numbers: Any, first: Any, second: Any) -> Any:
        total = numbers.binary("*", first[0], second[0])
        for a, b in zip(first[1:], second[1:], strict=True):
            total = numbers.binary("+", total, numbers.binary("*", a, b))
        return total

    return wrong


def columns_for_rows(right: Any) -> Any:
    return lambda array: [array.numbers[i :: array.shape[0]] for i in range(array.shape[0])]


def never_from_the_end(right: Any) -> Any:
    def wrong(self: Any, frame: Any, node: Any, array: Any, key: Any) -> Any:
        return {n: part for n, part in enumerate(key) if not isinstance(part, (int, slice))}

    return wrong


def one_place_stored(right: Any) -> Any:
    return lambda self, array, indices, known: right(self, array, indices, known) and None


def the_first_path(right: Any) -> Any:
    return lambda self, name, first, second: first


def arrays_that_stay(right: Any) -> Any:
    def wrong(self: Any, key: str, value: Any) -> None:
        kept = self.keys.get(key)
        right(self, key, value)
        if isinstance(kept, SmallArray):
            for slot in kept.parts:
                slot.following = None

    return wrong


def not_fused(right: Any) -> Any:
    def wrong(self: Any, frame: Any, node: Any, product: Any, added: Any, signs: Any, **more: Any):
        value = self.binary(frame, product.node, "*", product.first, product.second, (node, node))
        pair = (value, added) if more["first"] else (added, value)
        return self.binary(frame, node, "+" if signs == "++" else "-", *pair, (node, node))

    return wrong


FAULTS: dict[str, tuple[Any, str, Callable[[Any], Any]]] = {
    "products are added with two roundings": (shapes, "dot", dot_without_fma),
    "rows are columns": (shapes, "_rows", columns_for_rows),
    "an index below 0 is not one from the end": (Arrays, "_wrapped", never_from_the_end),
    "an element at run time is assigned everywhere": (Arrays, "_is_there", one_place_stored),
    "the first path is taken": (KernelFork, "_arrays", the_first_path),
    "a carried array stays": (KernelCycle, "next", arrays_that_stay),
    "a product in a sum of arrays is rounded": (Arrays, "fused", not_fused),
    "memory starts at one": (
        Memory,
        "meet",
        lambda right: lambda self, shape, parts, ways: ways[0],
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_it_is_noticed_that(fault: str) -> None:
    owner, name, make = FAULTS[fault]
    for seed in range(0, 400, 2):
        case = case_of(write(seed, arrays=True))
        kernel = load(case.text)
        planes = given(kernel, case)
        expected = by_component(kernel, reference.run_python(kernel, steps=2, **planes))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(owner, name, make(getattr(owner, name)))
            try:
                kernel = load(case.text)
                got = by_component(kernel, reference.interpret(kernel, steps=2, **planes))
            except Exception:  # noqa: BLE001 - a fault may end in anything
                return
            if any(len(unlike(wanted, got[name])) for name, wanted in expected.items()):
                return
    pytest.fail(f"the programs give the right bits although {fault}")
