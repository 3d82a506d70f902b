"""Leave out what nothing needs: whole statements, results of an If, carried values of a Loop."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import assert_never

from hawk.ir.nodes import Apply, Block, Function, If, Loop, Statement, Value, walk
from hawk.passes.rewrite import with_bodies


def dead_code(fn: Function) -> Function:
    """Keep only what the stores need. A loop without an end whose results nobody needs goes too."""
    needed = _needed(fn)
    launch, sample, step = (_kept(body, needed) for body in (fn.launch, fn.sample, fn.step))
    return with_bodies(fn, launch, sample, step, fn.stores)


def _needed(fn: Function) -> set[Value]:
    """The values that the stores need, themselves or through others."""
    sources = _sources(fn)
    needed: set[Value] = set()
    work = [value for _, value in fn.stores]
    while work:
        value = work.pop()
        if value not in needed:
            needed.add(value)
            work.extend(sources.get(value, ()))
    return needed


def _sources(fn: Function) -> dict[Value, tuple[Value, ...]]:
    """For each result and each param of a block, what it is made from."""
    sources: dict[Value, tuple[Value, ...]] = {}
    for statement in walk(fn.statements):
        match statement:
            case Apply(_, args, result):
                sources[result] = args
            case If(test, then, orelse, results):
                for result, yes, no in zip(results, then.yields, orelse.yields, strict=True):
                    sources[result] = (test, yes, no)
            case Loop(inits, test, body, results):
                for i, result in enumerate(results):
                    carried = (inits[i], body.yields[i])
                    sources[test.params[i]] = sources[body.params[i]] = carried
                    sources[result] = (*carried, *test.yields)
            case _ as never:
                assert_never(never)
    return sources


def _kept(items: Sequence[Statement], needed: set[Value]) -> tuple[Statement, ...]:
    kept: list[Statement] = []
    for item in items:
        if needed.isdisjoint(item.results):
            continue
        match item:
            case Apply():
                kept.append(item)
            case If():
                kept.append(_reduced_if(item, needed))
            case Loop():
                kept.append(_reduced_loop(item, needed))
            case _ as never:
                assert_never(never)
    return tuple(kept)


def _reduced_if(branch: If, needed: set[Value]) -> If:
    """`branch` without the results that are not needed."""
    keep = [result in needed for result in branch.results]
    then, orelse = (
        _with(block, _kept(block.items, needed), tuple(compress(block.yields, keep)), ())
        for block in (branch.then, branch.orelse)
    )
    if (then, orelse) == (branch.then, branch.orelse):
        return branch
    return If(branch.test, then, orelse, tuple(compress(branch.results, keep)), branch.rare)


def _reduced_loop(loop: Loop, needed: set[Value]) -> Loop:
    """`loop` without the carried values that neither it nor anything after it needs."""
    carried = zip(loop.results, loop.test.params, loop.body.params, strict=True)
    keep = [not needed.isdisjoint(same) for same in carried]

    def left(values: tuple[Value, ...]) -> tuple[Value, ...]:
        return tuple(compress(values, keep))

    old_test, old_body = loop.test, loop.body
    test = _with(old_test, _kept(old_test.items, needed), old_test.yields, left(old_test.params))
    body = _with(
        old_body, _kept(old_body.items, needed), left(old_body.yields), left(old_body.params)
    )
    if (test, body) == (old_test, old_body):
        return loop
    return Loop(left(loop.inits), test, body, left(loop.results))


def _with(
    block: Block,
    items: tuple[Statement, ...],
    yields: tuple[Value, ...],
    params: tuple[Value, ...],
) -> Block:
    """A block of these; `block` itself if they are its own."""
    same = (items, yields, params) == (block.items, block.yields, block.params)
    return block if same else Block(items, yields, params)
