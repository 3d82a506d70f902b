"""What a kernel is and what becomes of it, told as a colleague would: the text of `explain()`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from hawk.frontend.debug import quoted
from hawk.ir.hidden import grid_of
from hawk.ir.nodes import Function, Plane, Role, used_values
from hawk.ir.printer import to_text
from hawk.kernel import Kernel
from hawk.passes.phases import step_of
from hawk.passes.pipeline import optimise
from hawk.targets.base import Compiled
from hawk.targets.cpu.estimate import Estimate, estimate
from hawk.targets.cpu.machine import Machine, host
from hawk.targets.cpu.stopping import Monotone, monotone_stop
from hawk.targets.cpu.straight import in_its_step, repeats_itself
from hawk.targets.cpu.width import (
    LONGER,
    SHORT,
    Variant,
    choose_variant,
    is_masked,
    usual_work,
    work_of,
)
from hawk.targets.uniform import has_loop

WIDE = 98
LINES = 150
"""The most lines of a program that are shown."""


def explanation(
    kernel: Kernel[..., Any], *, dtype: str | None = None, machine: Machine | None = None
) -> str:
    """The text that `kernel.explain()` prints.

    For another machine than this one nothing is compiled. Raises ValueError for a float width that
    is not there or not the kernel's own, HawkError where the kernel is wrong.
    """
    real = kernel.width(dtype)
    traced = kernel.trace(real)
    fn = optimise(step_of(traced))
    compiled = kernel.compile(real) if machine is None else None
    machine = machine or host()
    variant = choose_variant(fn, machine)
    counted = in_its_step(fn)
    guess = estimate(counted, variant.shape)
    lines = [
        *_title(kernel, fn),
        *_planes(fn, traced),
        *_reductions(traced),
        *_scatters(traced),
        *_program(fn),
        *_code(fn, machine, variant, guess),
        *_work(counted, guess),
        *_limits(kernel, fn, guess),
        *(_making(compiled) if compiled is not None else ()),
    ]
    return "\n".join(lines) + "\n"


def estimated(kernel: Kernel[..., Any], dtype: str | None = None) -> Estimate:
    """What `explain()` says of the work of a step on this machine, as numbers."""
    fn = optimise(step_of(kernel.trace(kernel.width(dtype))))
    return estimate(in_its_step(fn), choose_variant(fn, host()).shape)


def _said(text: str, indent: str = "  ") -> list[str]:
    """A paragraph."""
    return textwrap.wrap(text, WIDE, initial_indent=indent, subsequent_indent=indent)


def _title(kernel: Kernel[..., Any], fn: Function) -> Iterator[str]:
    apart = "" if kernel.contract else ", products and sums apart"
    yield f"{kernel.name}: one step of one sample, in {fn.real.hawk}{apart}  ({fn.loc.short()})"
    if kernel.math == "fast":
        text = (
            'With math="fast" elementary functions may be off by 4 units in the last place, where '
            "otherwise they are by 1. Their special values are the same, and so are their bits on "
            "every machine; divisions and roots are exact to the last bit as ever."
        )
        yield from _said(text, "")
    if kernel.checks:
        text = (
            "With checks=True its code also keeps the first event of each sample; that is left out "
        )
        yield from _said(text + "of everything below but the time of compiling.", "")


# --- planes and program ---------------------------------------------------------------------------

_ROLES = {
    Role.INPUT: "read, one a sample",
    Role.UNIFORM: "one number for the whole launch",
    Role.TABLE: "a table that all samples read, contiguous",
    Role.SHARED: "a table that all samples read and give to, contiguous",
    Role.INDEX: "the sample's index in the batch",
    Role.STATE: "read when a step starts, stored when it ends",
    Role.MASK: "True where the sample is done",
    Role.OUTPUT: "returned",
}


def _planes(fn: Function, traced: Function) -> Iterator[str]:
    yield "\nPlanes"
    given = {name for each in traced.scatters for name in (each.spot, each.value)}
    planes = [plane for plane in fn.planes if plane.name not in given]
    name_width = max(len(plane.name) for plane in planes)
    of_lines = {each.plane for each in traced.reductions if each.lines is not None}
    stores = dict(fn.stores)
    for plane in planes:
        what = _ROLES[plane.role]
        if plane.role is Role.STATE and stores[plane.name] is plane.read:
            what = "state that no step changes"
        elif plane.name in of_lines:
            what = "a number for each line of the grid, made before each step"
        elif grid_of(plane.name):
            what = f"the numbers of all samples in {grid_of(plane.name)}"
        elif plane.role is Role.STATE and not _is_read(fn, plane):
            what = "stored when a step ends, never read: it may be left out"
        yield f"  {plane.name:{name_width}}  {plane.dtype.hawk:7}  {what}"


def _reductions(fn: Function) -> Iterator[str]:
    """What is made of all samples before each step."""
    if not fn.reductions:
        return
    yield "\nOf all samples, before each step"
    name_width = max(len(each.plane) for each in fn.reductions)
    for each in fn.reductions:
        yield f"  {each.plane:{name_width}}  = {quoted(each.loc) or f'hawk.{each.kind}(...)'}"
    yield from _said(TOGETHER)


def _scatters(fn: Function) -> Iterator[str]:
    """What samples give to tables after each step."""
    if not fn.scatters:
        return
    yield "\nTo all samples, after each step, sample by sample"
    for each in fn.scatters:
        yield f"  {quoted(each.loc) or f'{each.kind} to {each.plane}'}"
    yield from _said("" if fn.reductions else TOGETHER)


TOGETHER = "So all samples take their steps together, one at a time, however many a launch is of."


def _is_read(fn: Function, plane: Plane) -> bool:
    return plane.read in used_values(fn)


def _program(fn: Function) -> Iterator[str]:
    yield "\nThe program"
    bodies = {"launch": "once a launch", "sample": "once a sample", "step": "each step"}
    parts = _parts(to_text(fn))
    for body, title in bodies.items():
        yield from _listing(f"{title}:" if body in parts else f"{title}: nothing", parts.get(body))
    yield from _listing("at the end of a step:", parts["store"])


def _listing(title: str, lines: list[str] | None) -> Iterator[str]:
    yield f"  {title}"
    for line in (lines or [])[:LINES]:
        indent = " " * (len(line) - len(line.lstrip()))
        yield from textwrap.wrap(
            line.strip() if len(line) > WIDE - 2 else line,
            WIDE - 2,
            initial_indent=f"  {indent}" if len(line) > WIDE - 2 else "  ",
            subsequent_indent=f"  {indent}    ",
            drop_whitespace=len(line) > WIDE - 2,
            break_long_words=False,
        )
    if len(lines or []) > LINES:
        yield f"    ... and {len(lines or []) - LINES:,} lines more: print(kernel.ir)"


def _parts(text: str) -> dict[str, list[str]]:
    """The lines of a printed program under each of its titles."""
    parts: dict[str, list[str]] = {}
    title = ""
    for line in text.splitlines():
        if not line.startswith(" "):
            title = line.partition(":")[0]
        elif not title.startswith("kernel"):
            parts.setdefault(title, []).append(line)
    return parts


# --- the code -------------------------------------------------------------------------------------


def _code(fn: Function, machine: Machine, variant: Variant, guess: Estimate) -> Iterator[str]:
    shape = variant.shape
    yield "\nThe code"
    holds = f"{machine.name}: a vector holds {_counted(shape.width, 'sample')}"
    yield from _said(f"{holds}; {_chains(fn, shape.chains)}")
    yield from _said(_registers(machine, guess))
    yield from _said(_stepping(fn, machine, variant))


def _chains(fn: Function, chains: int) -> str:
    work = usual_work(fn)
    together = f"{chains} vectors are advanced side by side" if chains > 1 else "one at a time"
    operations = _counted(work, "operation")
    if repeats_itself(fn):
        why = "no sample waits for its own results, and more would not fit the registers"
    elif work < SHORT:
        why = f"a step is only {operations} long and would wait for its own results"
    elif work < LONGER:
        why = f"with {operations} a step still waits for its own results now and then"
    else:
        why = f"with {operations} a step has enough to do"
    return f"{together}, because {why}."


def _registers(machine: Machine, guess: Estimate) -> str:
    there = f"of the {machine.registers} vector registers"
    if guess.registers <= machine.registers:
        return f"About {guess.registers} {there} are needed at a time."
    return (
        f"About {guess.registers} values are needed at a time; those that do not fit into the "
        f"{machine.registers} vector registers wait in the first-level cache."
    )


def _stepping(fn: Function, machine: Machine, variant: Variant) -> str:
    """How samples stop, and why so."""
    if repeats_itself(fn):
        return "Nothing is carried from step to step, so each sample is passed once."
    if not any(plane.role is Role.MASK for plane in fn.planes):
        return "No sample ever stops by itself, so steps are free of masks."
    stop = monotone_stop(fn)
    if has_loop(fn):
        return (
            "Steps are masked: the loop inside a step must not run for a sample that is done, "
            "since on numbers nobody asked for it may not end."
        )
    if is_masked(fn, machine):
        why = "a step computes so much that masks cost less than to do steps again"
        if machine.mask_registers:
            why = "this machine has mask registers, so a mask costs next to nothing"
        return f"Steps are masked: when a sample stops cannot be foreseen, and {why}."
    if stop is None:
        return (
            f"Steps are rushed: {variant.block} run without masks, and if a sample stopped among "
            "them, they are done again with masks. The stop test is made in every step, because "
            "it is not known to stay true once it is."
        )
    return (
        f"Steps are rushed: they run without masks for as long as no sample can be expected to "
        f"stop, with one test at the end: `{_test(stop)}` stays true once it is, since a step "
        f"only ever moves {stop.state.name} one way. If a sample stopped on the way, they are "
        "done again with masks."
    )


def _test(stop: Monotone) -> str:
    symbol = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}[stop.operation]
    limit = getattr(stop.limit, "number", None)
    return f"{stop.state.name} {symbol} {stop.limit.name or 'a limit' if limit is None else limit}"


# --- how much, and how long -----------------------------------------------------------------------


def _work(fn: Function, guess: Estimate) -> Iterator[str]:
    yield "\nThe work"
    usual = usual_work(fn)
    others = usual - (guess.operations - guess.fused)
    parts: list[str] = []
    if guess.fused:
        parts.append(f"{_counted(guess.fused, 'fused multiply-add')} counted twice")
    if guess.divisions:
        parts.append(_counted(guess.divisions, "division or root", "divisions and roots"))
    among = f" ({', '.join(parts)})" if parts else ""
    more = f", and {_counted(others, 'other')}" if others else ""
    loops = "; of each loop one round is counted" if has_loop(fn) else ""
    if usual < work_of(fn) - 1:
        loops += f"; {work_of(fn) - 1 - usual} more are for numbers that few samples have"
    yield from _said(
        f"A step is {_counted(guess.operations, 'floating-point operation')}{among}{more}{loops}."
    )
    total = guess.read + guess.written
    moved = f"A launch moves {total} bytes a sample ({guess.read} read, {guess.written} written)"
    if _has_state(fn):
        moved += (
            f", however many steps it takes: in a launch of one step that is {total} bytes a "
            f"step, in one of 64 steps {total / 64:.3g}"
        )
    yield from _said(f"{moved}.")


def _limits(kernel: Kernel[..., Any], fn: Function, guess: Estimate) -> Iterator[str]:
    yield "\nWhat limits it"
    several = _has_state(fn)
    of = "a sample and step" if several else "a sample"
    yield f"  Cycles of one core for {of}: an estimate from a table, not a measurement."
    rows = (
        ("waiting for results", guess.waiting / guess.lanes),
        ("issuing operations", guess.issuing / guess.lanes),
        ("dividing", guess.dividing / guess.lanes),
        ("memory, one step a launch" if several else "memory", guess.moving),
        ("memory, 64 steps a launch", guess.moving / 64 if several else 0),
    )
    for name, cycles in rows:
        if cycles:
            yield f"    {name:26} {cycles:8.2f}"
    worst, cycles = max(rows[:3], key=lambda row: row[1])
    if not several and guess.moving > guess.cycles:
        worst, cycles = "memory, where arrays do not fit into the caches", guess.moving
    where = "In long launches it is" if several else "It is"
    sentence = f"{where} {worst}: about {cycles:.2g} cycles {of}."
    if several and guess.moving > guess.cycles:
        sentence += f" In a launch of one step it is memory, about {guess.moving:.2g} cycles"
        if kernel.steps == 1:
            ways = 'steps="auto"' if _stops(fn) else "steps=16"
            sentence += f"; @hawk.kernel({ways}) takes more steps at a time"
        sentence += "."
    yield from _said(sentence)


def _has_state(fn: Function) -> bool:
    return any(plane.role is Role.STATE for plane in fn.planes)


def _stops(fn: Function) -> bool:
    return any(plane.role is Role.MASK for plane in fn.planes)


def _making(compiled: Compiled) -> Iterator[str]:
    milliseconds = compiled.build_seconds * 1e3
    if compiled.cached == "hit":
        text = f"Its code was in the cache and took {milliseconds:.0f} ms to load."
    elif compiled.cached.startswith("off"):
        text = f"Compiled in {milliseconds:.0f} ms; the cache is {compiled.cached}."
    else:
        text = f"Compiled in {milliseconds:.0f} ms; it was not in the cache: {compiled.cached}."
    yield "\nMaking it"
    yield from _said(text)


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
