"""Writing a loop whose number of passes is known only at run time.

The names a loop binds are carried from pass to pass. Their types are found by walking the body:
where it makes another type of a literal, the walk is tried again with that type.
"""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from hawk.errors import Fix, HawkError, Loc
from hawk.frontend.frame import Exit, Frame, Way, Ways
from hawk.frontend.instances import OBJECT
from hawk.frontend.source import bound_names, own_nodes, read_names
from hawk.frontend.values import Range, Unusable

if TYPE_CHECKING:
    from hawk.frontend.walk import Walker


LEAVING = (Exit.BREAK, Exit.RETURN, Exit.RAN_OUT)
"""How a pass ends that is the last one."""

UNROLL_MAX = 1024
"""The most passes of a loop that are written one after the other."""


class Attempt:
    """One try at writing a loop whose carried values have the types `templates` say."""

    def __init__(
        self,
        walker: Walker,
        frame: Frame,
        node: ast.For | ast.While,
        bounds: Range | None,
        trips: int | None,
        templates: dict[str, Any],
        names: frozenset[str],
        stands: dict[str, Any],
    ) -> None:
        self.names = names
        """What the loop binds, or changes in place."""
        self.stands = stands
        """The objects that stand for those of all passes, by their key."""
        self.walker, self.domain, self.frame, self.node = walker, walker.domain, frame, node
        self.bounds, self.trips, self.templates = bounds, trips, templates
        self.widened = dict(templates)
        self.entry = self.came = frame.names
        """What comes in; and what the next try should take to come in."""
        self.added: set[str] = set()
        """Names to be carried by the next try, of which nothing is known yet."""
        self.cycle = self.domain.cycle(frame, node, trips)

    def run(self) -> Ways | None:
        """The ways out of the loop; None where `widened` are the types to try next."""
        frame, node, cycle, domain = self.frame, self.node, self.cycle, self.domain
        for name, template in self.templates.items():
            if not isinstance(template, Unusable):
                cycle.carry(name, self.entry[name], template)
        if self.bounds is not None:
            start = domain.settle(self.bounds.start)
            cycle.carry("for", start, domain.template(domain.counter(0)))
        with cycle.test() as carried:
            frame.names = self._inside(carried)
            going = self._going(carried)
        if going is False:
            frame.names = self.entry
            return self.walker.block(frame, node.orelse)
        with cycle.body() as carried:
            frame.names = self._inside(carried)
            if isinstance(node, ast.For):
                self.walker.bind(frame, node.target, carried["for"])
            ways = self.walker.block(frame, node.body)
            ways = self.walker.continued(frame, ways, node)
            united = self._united(ways)
            if cycle.again(settled=self._settled(ways) and united):
                return None
            if self.bounds is not None:
                cycle.next("for", domain.advance(carried["for"], self.bounds))
            slots = self._hand_over(ways)
        exits = [_flag(way) for way in LEAVING if way in ways]
        cycle.decide(going, exits)
        return self._out(ways, slots, exits, cycle.close(), endless=going is True)

    def _inside(self, carried: dict[str, Any]) -> dict[str, Any]:
        """The names at the start of a pass."""
        unusable = {n: t for n, t in self.templates.items() if isinstance(t, Unusable)}
        names = {name: value for name, value in carried.items() if name != "for"}
        return {**self.entry, **names, **unusable}

    def _going(self, carried: dict[str, Any]) -> Any:
        if self.bounds is not None:
            return self.domain.below(carried["for"], self.bounds)
        assert isinstance(self.node, ast.While)
        test = self.node.test
        return self.domain.truth(self.frame, self.domain.evaluate(self.frame, test), test)

    def _ends(self, ways: Ways) -> list[Way]:
        """What reaches the next pass, or what comes behind the loop."""
        return [ways[way] for way in (Exit.NEXT, Exit.BREAK, Exit.RAN_OUT) if way in ways]

    def _united(self, ways: Ways) -> bool:
        """Whether names have the same objects after a pass as before; what stands for them, if not.

        What an object holds is carried too if it changed.
        """
        ends = self._ends(ways)
        paths = self.domain.unite([self.entry, *(each.names for each in ends)], self.stands)
        for way, names in zip(ends, paths[1:], strict=True):
            way.names = names
        self.came = came = paths[0]
        changed = {
            name
            for way in ends
            for name, value in way.names.items()
            if name.startswith(OBJECT) and value is not came.get(name, value)
        }
        changed |= self.stands.keys() & came.keys()
        changed -= self.templates.keys()
        changed |= {name for name in self.templates if came[name] is not self.entry[name]}
        self.added = changed
        self.names |= changed
        return not changed

    def _settled(self, ways: Ways) -> bool:
        """Whether all that reaches the next pass, or leaves by break, has the types assumed."""
        for way in (Exit.NEXT, Exit.BREAK, Exit.RAN_OUT):
            if way not in ways:
                continue
            for name, template in self.widened.items():
                value = ways[way].names.get(name)
                if isinstance(template, Unusable) or name not in self.templates:
                    continue
                self.widened[name] = (
                    value
                    if isinstance(value, Unusable)
                    else self.domain.widen(
                        self.frame, name, self.entry[name], template, value, self.node
                    )
                )
        return all(self.widened[name] == self.templates[name] for name in self.templates)

    def _hand_over(self, ways: Ways) -> set[str]:
        """Say what each key holds in the next pass, or after the loop; the keys that have one."""
        domain, where = self.domain, self.frame.head(self.node)
        outside = _read_outside(self.frame, self.node)
        self._let_out(ways, outside)
        keys = {
            name for name, template in self.templates.items() if not isinstance(template, Unusable)
        }
        for way in (Exit.NEXT, Exit.BREAK, Exit.RAN_OUT):
            if way in ways:
                keys |= {name for name in self.names & outside if name in ways[way].names}
        if Exit.RETURN in ways:
            left = ways[Exit.RETURN].names
            keys |= {name for name in left if left[name] is not self.entry.get(name, left)}
        held: set[str] = set()
        for key in sorted(keys):
            value: Any = None
            found = False
            for way in (Exit.NEXT, Exit.RETURN, Exit.BREAK, Exit.RAN_OUT):
                if way not in ways or key not in ways[way].names:
                    continue
                other = ways[way].names[key]
                if isinstance(other, Unusable):
                    continue
                value = domain.choose(ways[way].flag, key, other, value, where) if found else other
                found = True
            if found and key not in self.templates:
                value = self._fresh(ways, key, value)
            if found and not isinstance(value, Unusable):
                held.add(key)
                self.cycle.next(key, value)
        for way in LEAVING:
            if way in ways:
                self.cycle.next(_flag(way), ways[way].flag)
        return held

    def _fresh(self, ways: Ways, key: str, value: Any) -> Any:
        """A value that leaves the loop; Unusable if it changed under another name meanwhile."""
        template = self.domain.template(value)
        if not isinstance(template, Unusable):
            return value
        for way in ways.values():
            if key in way.names:
                way.names[key] = template
        return template

    def _let_out(self, ways: Ways, outside: set[str]) -> None:
        """Names of the last pass alone that are read behind the loop have objects of their own."""
        for name in sorted((self.names & outside) - self.entry.keys()):
            ends = [each for each in self._ends(ways) if name in each.names]
            paths = self.domain.unite([each.names for each in ends], anew=(name,)) if ends else []
            for way, names in zip(ends, paths, strict=True):
                new = frozenset(names) - way.names.keys()
                self.names |= new
                outside |= new
                way.names = names

    def _out(
        self,
        ways: Ways,
        held: set[str],
        exits: list[str],
        results: dict[str, Any],
        *,
        endless: bool,
    ) -> Ways:
        """The ways out of the closed loop, told apart by the flags it carried."""
        frame, domain = self.frame, self.domain
        frame.names = self.entry
        left: Ways = {}
        for way in LEAVING:
            if way in ways:
                left[way] = Way(results[_flag(way)], self._left(ways[way].names, held, results))
        following: Way | None = None
        if not endless:
            flag: Any = True
            if exits:
                flag = functools.reduce(domain.either, [results[key] for key in exits])
                flag = domain.opposite(flag)
            following = Way(flag, self._ran_out(ways, held, results))
        elif not left:
            what = "this loop never ends: nothing in it breaks or returns"
            fix = "a test that changes, a `break` or a `return`"
            raise HawkError("H404", what, frame.head(self.node), fix)
        return self.walker.after(frame, self.node, following, left)

    def _left(
        self, names: dict[str, Any], held: set[str], results: dict[str, Any]
    ) -> dict[str, Any]:
        """The names of a way out. What neither came in nor is handed over ends with the pass."""
        left: dict[str, Any] = {}
        for name, value in names.items():
            if isinstance(value, Unusable) or value is self.entry.get(name):
                left[name] = value
            elif name in held:
                left[name] = results[name]
        return left

    def _ran_out(self, ways: Ways, held: set[str], results: dict[str, Any]) -> dict[str, Any]:
        """The names where the loop ran out: those of the last pass, if there was one."""
        names = dict(self.entry)
        last = ways[Exit.NEXT].names if Exit.NEXT in ways else {}
        for name in self.names:
            template = self.templates.get(name)
            if name in held and template is not None and not isinstance(template, Unusable):
                names[name] = results[name]
            elif name in last and self.trips and name in held:
                names[name] = last[name] if isinstance(last[name], Unusable) else results[name]
            elif isinstance(template, Unusable):
                names[name] = template
            elif template is None and isinstance(last.get(name), Unusable):
                names[name] = last[name]
            elif name in last and name not in self.entry:
                names[name] = _maybe_unbound(self.frame, self.node)
        return names


def short_enough(numbers: range, where: Loc, reason: HawkError | None = None) -> None:
    """Check that a range whose passes are written out is short. Raises HawkError."""
    if len(numbers) > UNROLL_MAX:
        what = f"{len(numbers)} passes must be written out one after the other"
        fix: Fix = "a `for` loop that computes with numbers only, which is not written out"
        if reason is not None:
            what += f", because in line {reason.loc.line} {reason.what}"
            fix = reason.advice or "fewer passes, or numbers computed from the counter"
        raise HawkError("H402", f"{what}; the limit is {UNROLL_MAX}", where, fix)


def _flag(way: Exit) -> str:
    """The key of the flag that says whether a loop was left this way."""
    return f"if {way.value}"


def _maybe_unbound(frame: Frame, node: ast.AST) -> Unusable:
    line = frame.loc(node).line

    def why(name: str, where: Loc) -> HawkError:
        what = f"`{name}` is bound only in the loop at line {line}, which may not run at all"
        return HawkError("H302", what, where, f"{name} = ... before line {line}")

    return Unusable(why)


_BOUND: WeakKeyDictionary[ast.AST, frozenset[str]] = WeakKeyDictionary()


def bound(node: ast.AST) -> frozenset[str]:
    """The names a statement binds."""
    names = _BOUND.get(node)
    if names is None:
        names = _BOUND[node] = frozenset(bound_names([node]))  # type: ignore[list-item]
    return names


_STORED: WeakKeyDictionary[ast.AST, frozenset[str]] = WeakKeyDictionary()


def stored(node: ast.AST) -> frozenset[str]:
    """The names to elements of which a statement assigns: of `P[0][1] = x` that is `P`."""
    known = _STORED.get(node)
    if known is not None:
        return known
    names: set[str] = set()
    for each in own_nodes([node]):  # type: ignore[list-item]
        if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store):
            inner: ast.expr = each
            while isinstance(inner, (ast.Subscript, ast.Attribute)):
                inner = inner.value
            if isinstance(inner, ast.Name):
                names.add(inner.id)
    return _STORED.setdefault(node, frozenset(names))


def _read_outside(frame: Frame, node: ast.For | ast.While) -> set[str]:
    """The names the function reads outside the passes of this loop; its `else` is outside."""
    orelse = {each for statement in node.orelse for each in ast.walk(statement)}
    inside = set(ast.walk(node)) - orelse
    return {each.id for each in read_names(frame.source.node) if each not in inside}
