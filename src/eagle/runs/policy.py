"""How many steps each launch takes, and what that makes of a run. Plain numbers only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, assert_never

ROUND = 64
"""One pass reports its steps as "auto" would: up to a multiple of this. What it rounds up are steps
of whole blocks, so where lanes were refilled it may be the multiple after the one that is due."""


@dataclass(frozen=True, slots=True)
class OneStep:
    """Each launch takes one step."""


@dataclass(frozen=True, slots=True)
class FixedSteps:
    """Each launch takes `k` steps, the last one what is left."""

    k: int


@dataclass(frozen=True, slots=True)
class AutoSteps:
    """eagle chooses the steps of each launch, at most `largest`.

    Where a launch is a tiled loop the largest is the best: a sample that is done waits for nobody.
    """

    largest: int


@dataclass(frozen=True, slots=True)
class OnePass:
    """One launch, in which every sample runs to its end."""


StepPolicy: TypeAlias = OneStep | FixedSteps | AutoSteps | OnePass


def policy_for(steps: int | str, *, largest: int) -> StepPolicy:
    """The policy of a kernel with `steps=`, a number or `"auto"`."""
    if isinstance(steps, str):
        return AutoSteps(largest)
    return OneStep() if steps == 1 else FixedSteps(steps)


def next_launch(
    largest: int | None, *, taken: int, max_steps: int, every: int | None = None
) -> int:
    """Steps that the next launch asks for when `taken` were taken; 0 when none are left.

    `largest` is the policy's own limit. With `every` a launch ends at each multiple of it.
    """
    left = max_steps - taken
    if every is not None:
        left = min(left, every - taken % every)
    return left if largest is None or left < largest else largest


def largest_launch(policy: StepPolicy) -> int | None:
    """The most steps one launch takes; None without a limit."""
    match policy:
        case OneStep():
            return 1
        case FixedSteps(k):
            return k
        case AutoSteps(largest):
            return largest
        case OnePass():
            return None
        case _ as never:
            assert_never(never)


def describe(policy: StepPolicy) -> str:
    """The policy as a report names it: what was written, or "one pass"."""
    match policy:
        case OneStep():
            return "steps=1"
        case FixedSteps(k):
            return f"steps={k}"
        case AutoSteps():
            return 'steps="auto"'
        case OnePass():
            return "one pass"
        case _ as never:
            assert_never(never)


def one_pass_steps(longest: int, *, asked: int, before: int = 0) -> int:
    """Steps that one pass, or the last part of one, reports when its longest sample took `longest`.

    `asked` is what it could have taken, `before` what the parts before it took.
    """
    if not longest:
        return 0
    total = -(-(before + longest) // ROUND) * ROUND
    return min(total - before, asked)


def equal_launches(k: int, *, taken: int, every: int | None) -> dict[int, int]:
    """The launches of `k` steps that take `taken` together, with a shorter one where they end.

    That is at the end, and with `every` at each multiple of it.
    """
    part = every or max(1, taken)
    parts, rest = divmod(taken, part)
    launches: dict[int, int] = {}
    for times, steps in ((parts, part), (1, rest)):
        for size, count in ((k, steps // k), (steps % k, 1)):
            if size and times * count:
                launches[size] = launches.get(size, 0) + times * count
    return launches


def begun_launches(k: int, *, taken: int, max_steps: int, every: int | None) -> int:
    """Steps that launches of `k` ask for together, where `taken` of them are taken by now.

    A launch ends at `max_steps` at the latest, and with `every` at each multiple of it.
    """
    part = min(max_steps, every or max_steps)
    before = taken // part * part
    within = -(-(taken - before) // k) * k
    return min(before + min(within, part), max_steps)


def one_pass_launches(furthest: int, *, max_steps: int, every: int | None) -> dict[int, int]:
    """What a run in one pass counts for, the longest sample of which took `furthest` steps.

    With `every` it is one for each begun part of as many steps.
    """
    part = min(max_steps, every or max_steps)
    if not furthest:
        return {}
    parts = (furthest - 1) // part
    launches = {part: parts} if parts else {}
    before = parts * part
    asked = min(part, max_steps - before)
    last = one_pass_steps(furthest - before, asked=asked, before=before)
    launches[last] = launches.get(last, 0) + 1
    return launches


LOAD, PICK = 8, 24
"""What it costs to load and store a sample that stands beside its neighbours, and one that a map
picks, in steps of a light kernel."""


def worth_counting(live: int, *, counted: int) -> bool:
    """May few enough samples be left for a map, when `counted` were at the last look?

    A look takes a pass over the mask, or over the map: all looks of a run together some four
    passes over the batch.
    """
    return 0 < 4 * live <= 3 * counted


def worth_mapping(live: int, *, busy: int, together: int, k: int, mapped: bool) -> bool:
    """Do launches of `k` steps take less time by a new map of the `live` samples?

    Samples advance in groups of `together`, and `busy` groups have one that goes on. `mapped`:
    launches go by a map already.
    """
    now = PICK if mapped else LOAD
    return -(-live // together) * (k + PICK) < busy * (k + now)


def total_steps(launches_by_k: Mapping[int, int]) -> int:
    """Steps asked for in all launches together."""
    return sum(k * count for k, count in launches_by_k.items())


def is_exact(launches_by_k: Mapping[int, int], *, live: int) -> bool:
    """Can no launch have run past the step at which the last sample stopped?

    With one step a launch none can; and where a sample is still `live`, no step was too many.
    """
    return live > 0 or all(k == 1 for k in launches_by_k)
