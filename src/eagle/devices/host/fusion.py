"""Neighbouring kernels of a graph in one pass over the samples, where nobody could tell.

In a pass each sample goes through all kernels before the next one comes. So kernels may share a
pass if none looks at more of the shared arrays than its own sample's numbers. An array that the
graph made, and that nobody outside the pass reads, is never stored.

What may share a pass is decided here, from where arrays are; `hawk.fused` makes the code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from eagle.devices.base import Pass
from eagle.devices.host.device import HOST
from eagle.devices.plan import (
    Call,
    Copy,
    Item,
    Launch,
    Loop,
    Plan,
    Put,
    Reduce,
    Region,
    Root,
    Spot,
    parts_of,
    tests_of,
    walk,
)
from hawk.ir.nodes import ARRAYS, CHANGED, TABLES, Apply, Function, Role
from hawk.ir.nodes import walk as statements_of
from hawk.ir.types import DType

FEWEST = 4096
"""Samples from which on a pass less is worth the compiling, some 0.1 s for a graph that is new: it
saves 4 us of 6 in three kernels of two operations (AVX2), and a quarter of that with 1,024."""

MOST_WORK = 400
"""Operations of a pass: it grows no larger. Kernels that compute for long gain nothing, and the
time of compiling grows faster than the code."""

MOST_ARRAYS = 32
"""Arrays of a pass; each takes a register for its address."""

BEHIND = 8
"""How many nodes are looked at, from one backwards, for a pass that it may go into."""


class _Span(NamedTuple):
    """An array of a launch in memory."""

    low: int
    high: int
    dtype: DType
    written: bool
    name: str
    table: bool = False
    """Does a sample look at more than its own number?"""

    def same(self, other: _Span) -> bool:
        """Is it the same memory, and each sample's number at the same place?"""
        return not (self.table or other.table) and (self.low, self.high, self.dtype) == (
            other.low,
            other.high,
            other.dtype,
        )


@dataclass(eq=False)
class _Run:
    """Nodes that stand at one place of the order: launches that share a pass, or another node."""

    items: list[Item]
    spans: list[_Span] = field(default_factory=list)
    """The arrays of its launches; none where nothing may join them."""
    work: int = 0
    why: str = ""
    """Why its first node is not in the pass before."""


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Fused(Launch):
    """Several launches in one pass."""

    parts: tuple[Launch, ...]
    sources: tuple[tuple[int, int], ...]
    """Where each word is taken from: a launch, and a place among its words."""

    @property
    def words_now(self) -> list[int]:
        words = [part.words_now for part in self.parts]
        return [words[part][place] for part, place in self.sources]


class Fusion:
    """The passes of a plan."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._lookers: dict[Root, set[int]] | None = None
        """Who looks at each array."""

    def body(self, items: list[Item]) -> list[Item]:
        """The nodes of a body in an order in which they may run, launches of one pass as one."""
        runs = self._runs(items)
        return [self._fused(run) if len(run.items) > 1 else run.items[0] for run in runs]

    def passes(self) -> Iterator[Pass]:
        """All passes, those of bodies inside others after these."""
        yield from self._passes(self._plan.body)

    def _passes(self, items: list[Item]) -> Iterator[Pass]:
        for run in self._runs(items):
            if isinstance(run.items[0], Launch):
                launches = [item for item in run.items if isinstance(item, Launch)]
                unstored = self._wiring(launches).unstored if len(launches) > 1 else []
                names = tuple(root.name for root in unstored)
                yield Pass(tuple(launches), names, run.why)
        for item in items:
            for part in parts_of(item):
                yield from self._passes(part)

    # -- which nodes -------------------------------------------------------------------------------

    def _runs(self, items: list[Item]) -> list[_Run]:
        ordered = self._plan.order(items)
        alone = {id(item): _alone(item) for item in ordered if isinstance(item, Launch)}
        if not self._plan.fuse or sum(not why for why in alone.values()) < 2:
            return [_Run([item], why=alone.get(id(item), "")) for item in ordered]
        waits = {(id(items[one]), id(items[two])) for one, two in self._plan.waits(items)}
        runs: list[_Run] = []
        for item in ordered:
            if not isinstance(item, Launch) or alone[id(item)]:
                runs.append(_Run([item], why=alone.get(id(item), "")))
                continue
            spans, work = _spans(item), _work(item)
            why = ""
            for run in reversed(runs[-BEHIND:]):
                if run.spans:
                    refused = _refused(run, item, spans, work)
                    if not refused:
                        run.items.append(item)
                        run.spans += spans
                        run.work += work
                        break
                    why = why or refused
                in_between = _in_the_way(run, item, waits)
                if in_between:
                    why = why or in_between
                    runs.append(_Run([item], spans, work, why))
                    break
            else:
                runs.append(_Run([item], spans, work, why))
        return runs

    # -- which memory ------------------------------------------------------------------------------

    def _fused(self, run: _Run) -> Fused:
        from hawk.fused import Part, fused_code  # few graphs need it

        launches = [item for item in run.items if isinstance(item, Launch)]
        wiring = self._wiring(launches)
        for root in wiring.unstored:
            root.stored = False
        functions = [_function(each) for each in launches]
        parts = tuple(Part(f, memory) for f, memory in zip(functions, wiring.memory, strict=True))
        compiled, memory = fused_code(parts, wiring.stored)
        first = launches[0]
        sources = tuple(wiring.sources[number] for number in memory)
        return Fused(
            name=" + ".join(each.name for each in launches),
            loc=first.loc,
            lane=first.lane,
            reads=tuple(region for each in launches for region in each.reads),
            writes=tuple(region for each in launches for region in each.writes),
            compiled=compiled,
            n=first.n,
            steps=1,
            planes=[launches[part].planes[place] for part, place in sources],
            words=[],
            threads=first.threads,
            parts=tuple(launches),
            sources=sources,
        )

    def _wiring(self, launches: list[Launch]) -> _Wiring:
        """Which memory each plane of the launches is, and what has to be stored."""
        numbers: dict[object, int] = {}
        wiring = _Wiring()
        looked: set[int] = set()
        """What is looked at before anything is written to it."""
        written: dict[int, Root] = {}
        for which, item in enumerate(launches):
            memory: list[int] = []
            stores: dict[int, Root] = {}
            for place, (slot, word, now) in enumerate(
                zip(item.compiled.planes, item.words, item.words_now, strict=True)
            ):
                key: object = (which, place)
                if isinstance(word, Spot) and slot.role in ARRAYS:
                    key = (now, slot.dtype)
                elif slot.role is Role.INDEX:
                    key = Role.INDEX
                number = numbers.setdefault(key, len(numbers))
                memory.append(number)
                wiring.sources.setdefault(number, (which, place))
                if not isinstance(word, Spot) or slot.role not in ARRAYS:
                    continue
                if slot.role is not Role.OUTPUT and slot.needed and number not in written:
                    looked.add(number)
                if slot.role in CHANGED:
                    stores[number] = word.root
            written.update(stores)
            wiring.memory.append(tuple(memory))
        kept = {root for number, root in written.items() if number in looked}
        for root in dict.fromkeys(written.values()):
            if root in kept or not _own(root) or self._is_looked_at(root, launches):
                kept.add(root)
            else:
                wiring.unstored.append(root)
        wiring.stored = frozenset(number for number, root in written.items() if root in kept)
        return wiring

    def _is_looked_at(self, root: Root, launches: list[Launch]) -> bool:
        """Does a node besides these look at any of this memory?"""
        if self._lookers is None:
            self._lookers = {}
            for item in walk(self._plan.body):
                for region in _looked_at(item):
                    self._lookers.setdefault(region.root, set()).add(id(item))
        return not self._lookers.get(root, set()) <= {id(item) for item in launches}


@dataclass
class _Wiring:
    memory: list[tuple[int, ...]] = field(default_factory=list)
    """For each launch the memory of each plane, by number."""
    sources: dict[int, tuple[int, int]] = field(default_factory=dict)
    """For each memory a launch and a place among its words."""
    stored: frozenset[int] = frozenset()
    unstored: list[Root] = field(default_factory=list)
    """Arrays of the graph's own that are handed on and never written."""


# -- one launch ------------------------------------------------------------------------------------


def _alone(item: Launch) -> str:
    """Why a launch shares no pass with any other; empty where it may."""
    roles = {slot.role for slot in item.compiled.planes}
    function = item.function
    if item.careful is not None:
        return f"{item.name} has checks"
    if Role.SHARED in roles or item.compiled.scatters or item.compiled.phases:
        return f"{item.name} reduces or scatters, which is for all samples at a time"
    if Role.MASK in roles:
        return f"{item.name} leaves out samples that are terminated"
    if item.steps != 1:
        return f"{item.name} takes {item.steps} steps a launch"
    if item.fresh:
        return f"{item.name} has state of its own that begins anew at each replay"
    if function is None:
        return f"{item.name} was traced again since, as a global changed"
    if item.n < FEWEST:
        return f"{item.name} has {item.n} samples, too few to gain"
    if not any(slot.role in ARRAYS for slot in item.compiled.planes):
        return f"{item.name} has no arrays by samples"
    return ""


def _function(item: Launch) -> Function:
    assert item.function is not None
    return item.function


def _work(item: Launch) -> int:
    """Operations of a step."""
    return sum(isinstance(each, Apply) for each in statements_of(_function(item).step))


def _spans(item: Launch) -> list[_Span]:
    """The arrays of a launch."""
    spans: list[_Span] = []
    for slot, word, plane in zip(item.compiled.planes, item.words_now, item.planes, strict=True):
        if slot.role in ARRAYS:
            high, written = word + item.n * slot.dtype.itemsize, slot.role in CHANGED
            spans.append(_Span(word, high, slot.dtype, written, slot.name))
        elif slot.role in TABLES:
            high = word + plane.nbytes
            spans.append(_Span(word, high, slot.dtype, written=False, name=slot.name, table=True))
    return spans


# -- one launch and a pass -------------------------------------------------------------------------


def _refused(run: _Run, item: Launch, spans: list[_Span], work: int) -> str:
    """Why a launch cannot share the pass; empty where it can."""
    first = run.items[0]
    assert isinstance(first, Launch)
    names = f"{first.name} and {item.name}"
    if first.n != item.n:
        return f"{names} have {first.n} and {item.n} samples"
    if _function(first).real is not _function(item).real:
        one, two = (_function(each).real.hawk for each in (first, item))
        return f"{first.name} computes in {one}, {item.name} in {two}"
    if first.threads != item.threads:
        return f"{names} have different threads="
    if first.lane != item.lane:
        return f"{names} stand in different branches"
    shared = False
    for one in spans:
        for other in run.spans:
            if one.low >= other.high or other.low >= one.high:
                continue
            same = one.same(other)
            shared = shared or same
            if same or not (one.written or other.written):
                continue
            if one.table or other.table:
                table = one if one.table else other
                return f"`{table.name}` is read at other samples too, and written by {names}"
            mine, theirs = f"`{one.name}` of {item.name}", f"`{other.name}` before"
            return f"{mine} shares memory with {theirs}, without being the same"
    if not shared:
        return f"{names} have no array in common"
    if run.work + work > MOST_WORK:
        return f"{names} are {run.work + work} operations in all, too many to gain"
    if len({(each.low, each.table) for each in (*run.spans, *spans)}) > MOST_ARRAYS:
        return f"{names} have more than {MOST_ARRAYS} arrays in all"
    return ""


def _in_the_way(run: _Run, item: Launch, waits: set[tuple[int, int]]) -> str:
    """Why a launch cannot come before what stands there; empty where it can."""
    last = run.items[-1]
    if not all(isinstance(each, (Launch, Copy, Put, Reduce)) for each in run.items):
        # What a Python function looks at besides its planes is its own affair.
        return f"{last.name} lies between"
    waited = next((each for each in run.items if (id(each), id(item)) in waits), None)
    return "" if waited is None else f"{item.name} waits for {waited.name}"


# -- memory ----------------------------------------------------------------------------------------


def _own(root: Root) -> bool:
    """Can nobody but the graph look at it?"""
    return root.made and not root.asked and root.device is HOST


def _looked_at(item: Item) -> list[Region]:
    counter = item.counter if isinstance(item, Loop) else None
    cells = [] if counter is None else [counter.count.region, counter.limit.region]
    # A Python function is given what it writes, and may read that too.
    given = item.writes if isinstance(item, Call) else ()
    return [*item.reads, *given, *tests_of(item), *cells]
