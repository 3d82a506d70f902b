"""Random programs with objects of dataclasses give the same bits in every way to run them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hawk
from hawk import reference
from hawk.frontend.calls import Calls
from hawk.frontend.kernel_domain import KernelDomain
from hawk.frontend.kernel_fork import KernelFork
from hawk.frontend.loops import Attempt
from hawk.frontend.objects import Objects
from hawk.frontend.small_arrays import Memory
from tests.oracle import aliases
from tests.oracle.batch import unlike
from tests.oracle.harness import case_of, check, given, load
from tests.oracle.programs import write
from tests.oracle.reduce import reduced, report
from tests.unit.frontend.every_way import by_component

SHARE = 8
"""Every so many seeds of a run are also those of programs with objects."""


def test_every_way_to_run_a_program_with_objects_gives_the_same_bits(seeds: range) -> None:
    for seed in seeds[::SHARE]:
        case = case_of(write(seed, bundles=True))
        try:
            check(case)
        except Exception as failure:  # noqa: BLE001 - a refused program is a failure, too
            text = report(reduced(case, failure), failure, seed)
            pytest.fail(text, pytrace=False)


CONSTRUCTS = {
    "Mutable": r"Mutable\[Body\]",
    "an input": r"b\d+: Body",
    "made": r"= Body\(",
    "with a default": r"= Body\((?!.* g=)",
    "replaced": r"= replace\(b",
    "a field assigned": r"\n +b\d+\.x = ",
    "a product added": r"\n +b\d+\.(x|spin\.rate) [+-]= [^\n]+ \* ",
    "an element assigned": r"\n +b\d+\.v\[\d\] [+*-]?= ",
    "an array changed": r"\n +b\d+\.(v|spin\.axis) [+*-]= ",
    "of an object inside": r"\n +b\d+\.spin\.rate [+*-]?= ",
    "two fields at once": r"\n +b\d+\.x, [^\n=]+ = ",
    "a method": r"\.bump\(",
    "a property": r"\.energy",
    "another name": r"\n +_\d+ = b\d+\n",
    "on one path": r"if [^\n]*:\n +b\d+\.",
    "another on one path": r"if [^\n]*:\n +b\d+ = ",
    "carried": r"for i\d+ in range[^\n]*:\n +b\d+\.",
    "another in each pass": r"for i\d+ in range[^\n]*:\n +b\d+ = ",
    "given to a function": r"def f\d+\(p, y\)",
    "run over": r"for _\d+ in \(b",
}


def test_the_programs_are_as_various_as_they_should_be() -> None:
    texts = [write(seed, bundles=True).text for seed in range(200)]
    counts = Counter(name for t in texts for name, form in CONSTRUCTS.items() if re.search(form, t))
    assert {} == {name: counts[name] for name in CONSTRUCTS if counts[name] < 3}


# -- several names of one object -------------------------------------------------------------------

REFUSED = {"H302", "H309", "H212"}
"""What a program may be refused for: what a name holds, or which object, is not known any more."""


def samples(kernel: hawk.Kernel[..., Any]) -> dict[str, Any]:
    random = np.random.default_rng(0)
    planes: dict[str, Any] = {}
    for each in kernel.parameters:
        shape = (*each.element.shape, 4)
        if each.element.name == "Index":
            planes[each.name] = random.integers(0, 5, 4)
        elif each.element.name == "Bool":
            planes[each.name] = np.array([True, False, True, False])
        else:
            planes[each.name] = random.normal(size=shape).astype(kernel.dtype or "float64")
    return planes


def differs(text: str) -> bool | None:
    """Does the kernel compute something else than CPython? None where it is refused."""
    kernel = load(text)
    planes = samples(kernel)
    try:
        got = by_component(kernel, reference.interpret(kernel, steps=2, **planes))
    except hawk.HawkError as error:
        if error.code in REFUSED:
            return None
        raise
    expected = by_component(kernel, reference.run_python(kernel, steps=2, **planes))
    return any(len(unlike(wanted, got[name])) for name, wanted in expected.items())


def test_objects_of_several_names_are_refused_or_what_cpython_has(seeds: range) -> None:
    for seed in seeds:
        text = aliases.write(seed)
        assert not differs(text), text


def test_many_programs_with_several_names_are_not_refused() -> None:
    refused = [differs(aliases.write(seed)) is None for seed in range(60)]
    assert sum(refused) < 40


# -- faults ----------------------------------------------------------------------------------------


def the_first_path(right: Any) -> Any:
    return lambda self, first, second: first


def nothing_stands_for_others(right: Any) -> Any:
    return lambda self, paths, stands=None, anew=(): list(paths)


def helpers_that_change_nothing(right: Any) -> Any:
    def wrong(self: Any, frame: Any, *args: Any) -> Any:
        before = dict(frame.names)
        result = right(self, frame, *args)
        for name, value in before.items():
            if name.startswith("object "):
                frame.names[name] = value
        return result

    return wrong


def never_old(right: Any) -> Any:
    def wrong(self: Any, value: Any, written: Any = None) -> Any:
        return None if hasattr(value, "label") else right(self, value, written)

    return wrong


def untyped(right: Any) -> Any:
    def wrong(self: Any, frame: Any, node: Any, cls: Any, name: str, value: Any, text: str) -> Any:
        return (
            value
            if isinstance(value, (int, float))
            else right(self, frame, node, cls, name, value, text)
        )

    return wrong


def assigned_to_a_copy(right: Any) -> Any:
    def wrong(self: Any, frame: Any, instance: Any, name: str, value: Any) -> None:
        if name != "x":
            right(self, frame, instance, name, value)

    return wrong


FAULTS: dict[str, tuple[Any, str, Callable[[Any], Any]]] = {
    "the first path is taken": (KernelFork, "_fields", the_first_path),
    "objects that differ are not joined": (KernelDomain, "unite", nothing_stands_for_others),
    "what a helper assigns is lost": (Calls, "_walk", helpers_that_change_nothing),
    "an object that may have changed is read": (Memory, "change", never_old),
    "an assignment is lost": (Objects, "put", assigned_to_a_copy),
    "nothing is carried": (Attempt, "_united", lambda right: lambda self, ways: True),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_it_is_noticed_that(fault: str) -> None:
    owner, name, make = FAULTS[fault]
    for seed in range(120):
        text = aliases.write(seed)
        if differs(text) is None and fault != "an object that may have changed is read":
            continue
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(owner, name, make(getattr(owner, name)))
            try:
                if differs(text) is not False:
                    return
            except Exception:  # noqa: BLE001 - a fault may end in anything
                return
    pytest.fail(f"the programs give the right bits although {fault}")


def test_it_is_noticed_that_a_number_in_a_field_has_no_type(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    body = "    one.x = 0.7\n    return one, one.x * one.x\n"
    text = f'{aliases.HEADER}@hawk.kernel(dtype="float32")\n{aliases.SIGNATURE}\n{body}'
    assert differs(text) is False
    monkeypatch.setattr(Objects, "held", untyped(Objects.held))
    assert differs(text)


def test_programs_with_objects_are_run_on_what_they_declare() -> None:
    case = case_of(write(3, bundles=True))
    kernel = load(case.text)
    assert {each.name for each in kernel.parameters if each.role.value != "mask"} <= {
        *given(kernel, case)
    }
