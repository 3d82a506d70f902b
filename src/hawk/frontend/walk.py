"""The walk of statements, written once for any domain.

What Python knows while it walks runs as Python. What is known only at run time is the domain's: it
says what the truth of a value is, joins two paths (`Fork`), and closes a loop (`Cycle`). A list of
statements is left in up to four ways (`Exit`); each carries a flag and the names as they are on it.
Where falling through is only one of the ways, the rest of the list runs under its flag. `break`,
`continue` and an early `return` need nothing else.

Above 400 lines because each statement is a few lines that use the same small set of moves.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from hawk.errors import HawkError, Loc
from hawk.frontend.domain import Domain, Fork
from hawk.frontend.frame import RESULT, Exit, Frame, Way, Ways, always
from hawk.frontend.loops import UNROLL_MAX, Attempt, bound, short_enough, stored
from hawk.frontend.refused import refusal
from hawk.frontend.values import Closure, NeedsKnown, Range, Unusable, leaves


class Walker:
    """Walks functions for a domain."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.unrolled: dict[ast.AST, HawkError] = {}
        """Loops that asked to be unrolled once are not tried at run time again; with the reason."""

    # --- functions and lists of statements ---

    def function(self, frame: Frame) -> dict[str, Any]:
        """Run the body of the frame's function; the names its `return`s leave."""
        body = frame.source.body
        end = ast.copy_location(ast.Return(value=None), body[-1])
        ways = self.block(frame, [*body, end])
        return ways[Exit.RETURN].names

    def block(self, frame: Frame, statements: Sequence[ast.stmt]) -> Ways:
        """Run statements; the ways out of them."""
        for place, statement in enumerate(statements):
            ways = self.statement(frame, statement)
            if ways is None:
                continue
            following = ways.pop(Exit.NEXT, None)
            if following is None:
                return ways
            frame.names = following.names
            if ways:
                rest = statements[place + 1 :]
                if not rest:
                    return {Exit.NEXT: following, **ways}
                return self._guarded_rest(frame, following, rest, ways, statement)
        return {Exit.NEXT: always(frame.names)}

    def _guarded_rest(
        self,
        frame: Frame,
        following: Way,
        rest: Sequence[ast.stmt],
        ways: Ways,
        node: ast.stmt,
    ) -> Ways:
        """Run the rest of a list that some have left already."""
        alone = frame.is_kernel and set(ways) == {Exit.RETURN}
        return self.branch(
            frame, following.flag, lambda: self.block(frame, rest), lambda: ways, node, alone=alone
        )

    def branch(
        self,
        frame: Frame,
        test: Any,
        then: Callable[[], Ways],
        orelse: Callable[[], Ways],
        node: ast.AST,
        *,
        alone: bool = False,
    ) -> Ways:
        """Run both paths of a test and join what leaves them in the same way.

        `alone`: those on the second path have left the kernel.
        """
        if isinstance(test, bool):
            return then() if test else orelse()
        entry = frame.names
        fork = self.domain.fork(frame, test, node)
        with fork.arm(alone=alone):
            frame.names = dict(entry)
            for name, value in self.domain.bound_where(test).items():
                if isinstance(frame.names.get(name), Unusable):
                    frame.names[name] = value
            first = _certain(then())
        with fork.arm():
            frame.names = dict(entry)
            second = _certain(orelse())
        frame.names = entry
        joined: Ways = {}
        for way in Exit:
            a, b = first.get(way), second.get(way)
            if a is not None and b is not None:
                names, other = self.domain.unite([a.names, b.names])
                names = _paired(fork, names, other, frame, node)
                joined[way] = Way(fork.flag(a.flag, b.flag), names)
            elif a is not None:
                names = {name: fork.only(name, value, 0) for name, value in a.names.items()}
                joined[way] = Way(fork.flag(a.flag, second=False), names)
            elif b is not None:
                names = {name: fork.only(name, value, 1) for name, value in b.names.items()}
                joined[way] = Way(fork.flag(second=b.flag, first=False), names)
        fork.close()
        return joined

    def statement(self, frame: Frame, node: ast.stmt) -> Ways | None:
        """Run one statement; None where it always falls through."""
        domain = self.domain
        match node:
            case ast.Assign():
                target = node.targets[0]
                name = target.id if isinstance(target, ast.Name) else ""
                value = domain.evaluate(frame, node.value, name)
                for each in node.targets:
                    self.bind(frame, each, value)
            case ast.AugAssign():
                domain.augment(frame, node)
            case ast.AnnAssign():
                if node.value is not None:
                    name = node.target.id if isinstance(node.target, ast.Name) else ""
                    self.bind(frame, node.target, domain.evaluate(frame, node.value, name))
            case ast.Expr():
                if not isinstance(node.value, ast.Constant):
                    domain.evaluate(frame, node.value)
            case ast.If():
                return self._if(frame, node)
            case ast.For():
                return self._for(frame, node)
            case ast.While():
                return self._while(frame, node)
            case ast.Match():
                return self._match(frame, node)
            case ast.Return():
                value = None if node.value is None else domain.evaluate(frame, node.value)
                return {Exit.RETURN: always(frame.leave(frame, value, node))}
            case ast.Break():
                way = Exit.RAN_OUT if isinstance(node, _RunsOut) else Exit.BREAK
                return {way: always(frame.names)}
            case ast.Continue():
                return {Exit.CONTINUE: always(frame.names)}
            case ast.FunctionDef():
                frame.names[node.name] = self.closure(frame, node)
            case ast.Assert():
                domain.asserts(frame, node)
            case ast.Pass():
                pass
            case _:
                raise refusal(frame.source, node, frame.caller)
        return None

    def closure(self, frame: Frame, node: ast.FunctionDef | ast.Lambda) -> Closure:
        """The function that a `def` or `lambda` in a walked function makes."""
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            what = "a function inside a kernel has no decorators"
            fix = f"def {node.name}(...): without @{frame.source.text(node.decorator_list[0])}"
            raise HawkError("H103", what, frame.loc(node.decorator_list[0]), fix)
        source = type(frame.source)(frame.source.file, frame.source.lines, node)
        args = node.args
        defaults = tuple(self.domain.evaluate(frame, each) for each in args.defaults)
        keywords = {
            arg.arg: self.domain.evaluate(frame, default)
            for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)
            if default is not None
        }
        scope = frame.scope or frame
        return Closure(source, scope, defaults, keywords, self.domain.region)

    def bind(self, frame: Frame, target: ast.expr, value: Any) -> None:
        """Assign `value` to a target: a name, a tuple of targets, an element."""
        match target:
            case ast.Name():
                frame.names[target.id] = value
            case ast.Tuple() | ast.List():
                parts = self.domain.unpack(frame, value, target)
                for each, part in _matched(frame, target, parts):
                    if isinstance(each, ast.Starred):
                        self.bind(frame, each.value, self.domain.new(part))
                    else:
                        self.bind(frame, each, part)
            case _:
                self.domain.store(frame, target, value)

    # --- choices ---

    def _if(self, frame: Frame, node: ast.If) -> Ways:
        test = self.domain.evaluate(frame, node.test)
        ways = self.branch(
            frame,
            self.domain.truth(frame, test, node.test),
            lambda: self.block(frame, node.body),
            lambda: self.block(frame, node.orelse),
            node,
        )
        if self.domain.is_number(test):
            self._settle(ways, bound(node))
        return ways

    def _settle(self, ways: Ways, names: frozenset[str]) -> None:
        """Give numbers assigned on one of several paths a type, whichever path is pruned."""
        for way in ways.values():
            for name in (*names, RESULT):
                if name in way.names:
                    way.names[name] = self.domain.settle(way.names[name])

    def _match(self, frame: Frame, node: ast.Match) -> Ways:
        subject = self.domain.evaluate(frame, node.subject)

        def case(place: int) -> Ways:
            if place == len(node.cases):
                return {Exit.NEXT: always(frame.names)}
            each = node.cases[place]
            test, captured = self.domain.matches(frame, subject, each.pattern)

            def body() -> Ways:
                frame.names.update(captured)
                if each.guard is None:
                    return self.block(frame, each.body)
                guard = self.domain.evaluate(frame, each.guard)
                return self.branch(
                    frame,
                    self.domain.truth(frame, guard, each.guard),
                    lambda: self.block(frame, each.body),
                    lambda: case(place + 1),
                    each.pattern,
                )

            return self.branch(frame, test, body, lambda: case(place + 1), each.pattern)

        ways = case(0)
        if any(self.domain.is_number(part) for part in leaves(subject)):
            self._settle(ways, bound(node))
        return ways

    # --- loops ---

    def _for(self, frame: Frame, node: ast.For) -> Ways:
        domain = self.domain
        elements = domain.iterate(frame, domain.evaluate(frame, node.iter), node.iter)
        if not isinstance(elements, (Range, range)):
            return self._passes(frame, node, (_binder(self, frame, node, e) for e in elements))
        bounds = Range(elements.start, elements.stop, elements.step)
        trips = len(elements) if isinstance(elements, range) else None
        names = bound(node)
        self._settle({Exit.NEXT: always(frame.names)}, names)
        if trips != 0 and node not in self.unrolled:
            entry = dict(frame.names)
            try:
                return self._cycle(frame, node, bounds, trips)
            except NeedsKnown as error:
                if trips is None:
                    raise
                self.unrolled[node] = error
                frame.names = entry
        numbers = elements if isinstance(elements, range) else range(0)
        short_enough(numbers, frame.head(node), self.unrolled.get(node))
        binders = (_binder(self, frame, node, domain.counter(number)) for number in numbers)
        return self._passes(frame, node, binders, names)

    def _while(self, frame: Frame, node: ast.While) -> Ways:
        node = _with_plain_test(node, always=self.domain.acts(node.test))
        names = bound(node)
        self._settle({Exit.NEXT: always(frame.names)}, names)
        entry = dict(frame.names)
        reason: NeedsKnown | None = None
        if node not in self.unrolled:
            try:
                return self._cycle(frame, node, None, None)
            except NeedsKnown as error:
                self.unrolled[node] = error
                frame.names, reason = entry, error

        def again() -> Iterator[Callable[[], None]]:
            for _ in range(UNROLL_MAX):
                test = self.domain.truth(frame, self.domain.evaluate(frame, node.test), node.test)
                if not isinstance(test, bool):
                    # Where a loop around it is written out, it may do at run time after all.
                    self.unrolled.pop(node, None)
                    raise reason or NeedsKnown(
                        "H212",
                        "this loop must be written out, and whether it goes on is not known",
                        frame.loc(node.test),
                    )
                if not test:
                    return
                yield lambda: None
            what = f"this loop is written out, and did not end after {UNROLL_MAX} passes"
            fix = "a loop whose test changes" if reason is None else reason.advice
            raise HawkError("H402", what, frame.head(node), fix)

        return self._passes(frame, node, again(), names)

    def _passes(
        self,
        frame: Frame,
        node: ast.For | ast.While,
        binders: Iterator[Callable[[], None]],
        settled: frozenset[str] = frozenset(),
    ) -> Ways:
        """Write the passes of a loop one after the other."""
        exits: Ways = {}
        following: Way | None = always(frame.names)
        for bind in binders:

            def one(bind: Callable[[], None] = bind) -> Ways:
                bind()
                ways = self.continued(frame, self.block(frame, node.body), node)
                self._settle(ways, settled)
                return ways

            left = exits
            ways = self.branch(frame, following.flag, one, lambda left=left: left, node)
            following = ways.pop(Exit.NEXT, None)
            exits = ways
            if following is None:
                break
            frame.names = following.names
        return self.after(frame, node, following, exits)

    def continued(self, frame: Frame, ways: Ways, node: ast.AST) -> Ways:
        """A `continue` ends the pass as falling through does."""
        again = ways.pop(Exit.CONTINUE, None)
        following = ways.get(Exit.NEXT)
        if again is None:
            return ways
        if following is None:
            ways[Exit.NEXT] = again
            return ways
        test = again.flag
        joined = self.branch(
            frame,
            test,
            lambda: {Exit.NEXT: always(again.names)},
            lambda: {Exit.NEXT: always(following.names)},
            node,
        )[Exit.NEXT]
        ways[Exit.NEXT] = Way(
            self.domain.either(test, following.flag) if len(ways) > 1 else True,
            joined.names,
        )
        return ways

    def after(
        self, frame: Frame, node: ast.For | ast.While, following: Way | None, exits: Ways
    ) -> Ways:
        """What comes after a loop: `else` where it ran out, nothing where it was left."""
        left = {Exit.NEXT if way is Exit.BREAK else way: each for way, each in exits.items()}
        following = left.pop(Exit.RAN_OUT, following)
        if following is None:
            return left

        def ran_out() -> Ways:
            frame.names = dict(following.names)
            return self.block(frame, node.orelse)

        return self.branch(frame, following.flag, ran_out, lambda: left, node)

    def _cycle(
        self, frame: Frame, node: ast.For | ast.While, bounds: Range | None, trips: int | None
    ) -> Ways:
        """A loop at run time: find the types it carries, then write it."""
        entry, domain = frame.names, self.domain
        changed = {n for n in stored(node) if domain.changes_in_place(entry.get(n))}
        names = bound(node) | changed | domain.changing(node, entry)
        templates = {
            name: domain.template(entry[name])
            for name in sorted(names)
            if name in entry and not isinstance(entry[name], Unusable)
        }
        templates = {n: each for n, each in templates.items() if not isinstance(each, Unusable)}
        kept, stands = domain.kept(), dict[str, Any]()
        while True:
            frame.names = dict(entry)
            attempt = Attempt(self, frame, node, bounds, trips, templates, names, stands)
            try:
                ways = attempt.run()
            except NeedsKnown:
                domain.restore(kept)
                raise
            if ways is not None:
                return ways
            domain.restore(kept)
            templates, names, entry = attempt.widened, attempt.names, attempt.came
            templates |= {name: domain.template(entry[name]) for name in sorted(attempt.added)}


def _certain(ways: Ways) -> Ways:
    """The only way out is taken for sure."""
    if len(ways) == 1:
        return {way: always(each.names) for way, each in ways.items()}
    return ways


def _paired(
    fork: Fork, first: dict[str, Any], second: dict[str, Any], frame: Frame, node: ast.AST
) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for name in first | second:
        if name in first and name in second:
            a, b = first[name], second[name]
            names[name] = a if a is b else fork.pair(name, a, b)
        else:
            names[name] = _one_path(frame, node)
    return names


def _one_path(frame: Frame, node: ast.AST) -> Unusable:
    line = frame.loc(node).line

    def why(name: str, where: Loc) -> HawkError:
        what = f"`{name}` is bound on one path only, see line {line}"
        return HawkError("H302", what, where, f"{name} = ... before line {line}, or on both paths")

    return Unusable(why)


def _matched(
    frame: Frame, target: ast.Tuple | ast.List, parts: tuple[Any, ...]
) -> list[tuple[ast.expr, Any]]:
    """Each target with its part, a starred one with a list of what is left."""
    names = target.elts
    stars = [place for place, each in enumerate(names) if isinstance(each, ast.Starred)]
    short = len(names) - len(stars)
    if (not stars and len(parts) != short) or len(parts) < short:
        what = f"{len(parts)} values for {len(names)} names"
        fix = "as many names as values, with _ for those not needed" if len(parts) > short else ""
        raise HawkError("H213", what, frame.loc(target), fix)
    if not stars:
        return list(zip(names, parts, strict=True))
    star = stars[0]
    behind = len(names) - star - 1
    end = len(parts) - behind
    return [
        *zip(names[:star], parts[:star], strict=True),
        (names[star], list(parts[star:end])),
        *zip(names[star + 1 :], parts[end:], strict=True),
    ]


def _binder(walker: Walker, frame: Frame, node: ast.For, element: Any) -> Callable[[], None]:
    return lambda: walker.bind(frame, node.target, element)


_PLAIN: WeakKeyDictionary[ast.While, ast.While] = WeakKeyDictionary()


def _with_plain_test(node: ast.While, *, always: bool) -> ast.While:
    """The same loop, its test in the body where something of it must be seen there.

    That is a name it binds, or what happens in a function it calls (`always`).
    """
    binds = any(isinstance(each, ast.NamedExpr) for each in ast.walk(node.test))
    if not (binds or always):
        return node
    plain = _PLAIN.get(node)
    if plain is None:
        plain = _PLAIN[node] = _plain_test(node)
    return plain


def _plain_test(node: ast.While) -> ast.While:
    leave = ast.copy_location(_RunsOut(), node.test)
    choice = ast.copy_location(ast.If(test=node.test, body=node.body, orelse=[leave]), node.test)
    true = ast.copy_location(ast.Constant(value=True), node.test)
    return ast.copy_location(ast.While(test=true, body=[choice], orelse=node.orelse), node)


class _RunsOut(ast.Break):
    """Ends a loop whose test does not hold: what a loop does that no `break` has left."""
