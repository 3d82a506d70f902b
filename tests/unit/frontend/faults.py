"""Faults to make on purpose in the walk of a function: each is a method, and what takes its place.

The tests of the walk make them with a few small kernels, the oracle tests with random programs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hawk.frontend import trace
from hawk.frontend.arithmetic import Arithmetic
from hawk.frontend.conditions import Conditions
from hawk.frontend.containers import Containers
from hawk.frontend.frame import Exit, always
from hawk.frontend.kernel_cycle import KernelCycle
from hawk.frontend.kernel_domain import KernelDomain
from hawk.frontend.kernel_fork import KernelFork
from hawk.frontend.kernel_numbers import KernelNumbers
from hawk.frontend.leave import Leave
from hawk.frontend.loops import Attempt
from hawk.frontend.structural import Structural
from hawk.frontend.sums import Sums, _Product
from hawk.frontend.values import Range
from hawk.frontend.values import Scalar as Traced
from hawk.frontend.walk import Walker
from hawk.ir.types import DType


def swapped_arms(right):
    def wrong(self, frame, test, then, orelse, node):
        return right(self, frame, test, orelse, then, node)

    return wrong


def forgotten_arm(right):
    def wrong(self, frame, test, then, orelse, node):
        return right(self, frame, test, then, lambda: {Exit.NEXT: always(frame.names)}, node)

    return wrong


def ignored_flag(right):
    def wrong(self, frame, following, rest, ways, node):
        return self.block(frame, rest)

    return wrong


def no_merge(right):
    def wrong(self, name, first, second):
        return first

    return wrong


def loses_what_only_one_path_knows(right):
    def wrong(self, name, value, arm):
        return right(self, name, value, 1 - arm)

    return wrong


def flag_of_one_arm(right):
    def wrong(self, first, second):
        return first

    return wrong


def break_is_forgotten(right):
    def wrong(self, test, exits):
        right(self, test, [key for key in exits if "break" not in key])

    return wrong


def return_is_forgotten(right):
    def wrong(self, test, exits):
        right(self, test, [key for key in exits if "return" not in key])

    return wrong


def one_value_is_not_handed_over(right):
    def wrong(self, key, value):
        if key != "total":
            right(self, key, value)

    return wrong


def counter_stands_still_once(right):
    def wrong(self, number, bounds):
        return right(self, number, Range(bounds.start, bounds.stop, bounds.step + 1))

    return wrong


def one_pass_more(right):
    def wrong(self, number, bounds):
        stop = bounds.stop + 1 if isinstance(bounds.stop, int) else bounds.stop
        return right(self, number, Range(bounds.start, stop, bounds.step))

    return wrong


def le_for_lt(right):
    def wrong(self, number, bounds):
        stop = self.numbers.to(bounds.stop, DType.I64)
        return self.numbers.binary("<=", number, stop)

    return wrong


def else_always(right):
    def wrong(self, frame, node, following, exits):
        return right(self, frame, node, always((following or exits[Exit.BREAK]).names), {})

    return wrong


def else_never(right):
    def wrong(self, frame, node, following, exits):
        if following is None:
            return right(self, frame, node, following, exits)
        node = type(node)(**{**vars(node), "orelse": []})
        return right(self, frame, node, following, exits)

    return wrong


def continue_falls_through(right):
    def wrong(self, frame, ways, node):
        again = ways.pop(Exit.CONTINUE, None)
        if Exit.NEXT not in ways and again is not None:
            ways[Exit.NEXT] = again
        return ways

    return wrong


def carried_values_as_they_came_in(right):
    def wrong(self, ways, held, results):
        return dict(self.entry)

    return wrong


def last_pass_for_break(right):
    def wrong(self, names, held, results):
        return {**names, **dict(self.entry)}

    return wrong


def right_product_first(right):
    """Of two products the right one is fused."""

    def wrong(self, frame, node, left, other, name=""):
        if isinstance(left, _Product) and isinstance(other, _Product):
            left = self._written(frame, left)
        return right(self, frame, node, left, other, name)

    return wrong


def never_fused(right):
    return lambda self, first, second, added: None


def fused_across_names(right):
    """A sum of names is a sum of products."""

    def wrong(self, frame, node, left, other, name=""):
        if isinstance(left, Traced) and left.dtype.is_float and not isinstance(other, _Product):
            left = _Product(left, 1.0 + 2**-52, node)
        return right(self, frame, node, left, other, name)

    return wrong


def signs_lost(right):
    def wrong(self, dtype, first, second, added, signs="++"):
        return right(self, dtype, first, second, added, "++")

    return wrong


def signs_swapped(right):
    def wrong(self, dtype, first, second, added, signs="++"):
        return right(self, dtype, first, second, added, signs[::-1])

    return wrong


def and_is_or(right):
    def wrong(self, frame, left, side, node, *, wanted):
        return right(self, frame, left, side, node, wanted=not wanted)

    return wrong


def chain_forgets_all_but_the_last(right):
    def wrong(self, frame, node, name):
        if len(node.ops) == 1:
            return right(self, frame, node, name)
        last = type(node)(
            left=node.comparators[-2], ops=node.ops[-1:], comparators=node.comparators[-1:]
        )
        return right(self, frame, _placed(last, node), name)

    return wrong


def _placed(node: Any, like: Any) -> Any:
    for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
        setattr(node, name, getattr(like, name))
    return node


def not_in_is_in(right):
    return lambda self, flag: flag


def choice_turned_round(right):
    def wrong(self, frame, truth, body, orelse, node):
        return right(self, frame, truth, orelse, body, node)

    return wrong


def first_pattern_only(right):
    def wrong(self, frame, value, node):
        return right(self, frame, value, getattr(node, "patterns", [node])[0])

    return wrong


def pattern_always_fits(right):
    def wrong(self, frame, value, node):
        _, names = right(self, frame, value, node)
        return True, names

    return wrong


def comprehension_leaks(right):
    def wrong(self, frame, generators, parts):
        values = right(self, frame, generators, parts)
        for generator in generators:
            name = getattr(generator.target, "id", "")
            if name in frame.names:
                frame.names[name] = 2.0
        return values

    return wrong


def filter_ignored(right):
    return lambda self, frame, test: True


def enumerates_from_one(right):
    def wrong(self, frame, node, values, start=0):
        return right(self, frame, node, values, start + 1)

    return wrong


def not_reversed(right):
    def wrong(self, frame, node, values):
        return self.sequence(frame, node, values)

    return wrong


def only_the_right(right):
    return lambda self, frame, node: self.expressions.evaluate(frame, node.value)


def reversed_parts(right):
    return lambda self, frame, value, node: right(self, frame, value, node)[::-1]


def index_is_zero(right):
    def wrong(self, frame, node):
        key = right(self, frame, node)
        return 0 if isinstance(key, int) else key

    return wrong


def first_only(right):
    return lambda self, frame, node, value, container: right(
        self, frame, node, value, container[:1]
    )


def true_if_positive(right):
    return lambda self, value: self.binary(">", value, 0)


def mask_is_forgotten(right):
    def wrong(self, frame, value, node):
        left = right(self, frame, value, node)
        return {**left, "stop": self.domain.numbers.settle(False)} if "stop" in left else left

    return wrong


def early_binding(right):
    def wrong(self, frame, node):
        made = right(self, frame, node)
        then = replace(frame, names=dict(frame.names))
        return type(made)(made.source, then, made.defaults, made.keyword_defaults)

    return wrong


def any_is_all(right):
    def wrong(self, frame, node, values):
        return self.all_(frame, node, values)

    return wrong


def sum_forgets_the_first(right):
    def wrong(self, frame, node, values, start=0):
        return right(self, frame, node, self.sequence(frame, node, values)[1:], start)

    return wrong


FAULTS: dict[str, tuple[Any, str, Callable[..., Any], tuple[str, ...]]] = {
    "the arms of a branch are swapped": (Walker, "branch", swapped_arms, ("branches",)),
    "the else of a branch is forgotten": (Walker, "branch", forgotten_arm, ("branches",)),
    "who left a list of statements goes on": (Walker, "_guarded_rest", ignored_flag, ("returns",)),
    "two paths join as the first": (KernelFork, "pair", no_merge, ("branches",)),
    "what one path knows comes from the other": (
        KernelFork,
        "only",
        loses_what_only_one_path_knows,
        ("returns",),
    ),
    "a flag is that of one arm": (KernelFork, "flag", flag_of_one_arm, ("loops", "returns")),
    "a break does not end the loop": (KernelCycle, "decide", break_is_forgotten, ("loops",)),
    "a return does not end the loop": (KernelCycle, "decide", return_is_forgotten, ("returns",)),
    "a value is not carried to the next pass": (
        KernelCycle,
        "next",
        one_value_is_not_handed_over,
        ("loops",),
    ),
    "the counter takes a step too many": (
        KernelDomain,
        "advance",
        counter_stands_still_once,
        ("loops",),
    ),
    "the last pass is run twice": (KernelDomain, "below", le_for_lt, ("loops",)),
    "a known bound is one too large": (KernelDomain, "below", one_pass_more, ("loops",)),
    "the else of a loop always runs": (Walker, "after", else_always, ("loops",)),
    "the else of a loop never runs": (Walker, "after", else_never, ("loops",)),
    "a continue is forgotten": (Walker, "continued", continue_falls_through, ("loops",)),
    "a loop that ran out changed nothing": (
        Attempt,
        "_ran_out",
        carried_values_as_they_came_in,
        ("loops",),
    ),
    "a loop that was left changed nothing": (Attempt, "_left", last_pass_for_break, ("loops",)),
    "of two products the right one is fused": (Sums, "_combine", right_product_first, ("sums",)),
    "products are not fused": (Arithmetic, "contracts", never_fused, ("sums",)),
    "a name is fused": (Sums, "_combine", fused_across_names, ("sums",)),
    "a subtracted product is added": (KernelNumbers, "fma", signs_lost, ("sums",)),
    "the signs of product and sum are swapped": (KernelNumbers, "fma", signs_swapped, ("sums",)),
    "and is or": (Conditions, "_second", and_is_or, ("conditions",)),
    "of a chain of comparisons the last counts": (
        Conditions,
        "compare",
        chain_forgets_all_but_the_last,
        ("conditions",),
    ),
    "not in is in": (KernelDomain, "opposite", not_in_is_in, ("conditions",)),
    "a conditional expression is turned round": (
        Conditions,
        "_chosen",
        choice_turned_round,
        ("conditions",),
    ),
    "of alternatives in a pattern the first counts": (
        KernelDomain,
        "matches",
        first_pattern_only,
        ("branches",),
    ),
    "every pattern fits": (KernelDomain, "matches", pattern_always_fits, ("branches",)),
    "the name of a comprehension leaks": (
        Containers,
        "comprehension",
        comprehension_leaks,
        ("scopes",),
    ),
    "a comprehension keeps all": (Containers, "_keeps", filter_ignored, ("lists",)),
    "enumerate begins with one": (Structural, "enumerate_", enumerates_from_one, ("lists",)),
    "reversed is not": (Structural, "reversed_", not_reversed, ("lists",)),
    "any is all": (Structural, "any_", any_is_all, ("lists",)),
    "a sum forgets its first term": (Structural, "sum_", sum_forgets_the_first, ("lists",)),
    "an augmented assignment forgets what was there": (Sums, "augment", only_the_right, ("loops",)),
    "parts are assigned in reverse": (KernelDomain, "unpack", reversed_parts, ("lists",)),
    "every index is 0": (Containers, "index", index_is_zero, ("lists",)),
    "in looks at the first only": (Conditions, "_contains", first_only, ("conditions",)),
    "a number is true if it is positive": (Arithmetic, "truth", true_if_positive, ("lists",)),
    "a sample is done when its step starts": (trace, "NOT_DONE", lambda _: True, ("stops",)),
    "the mask is forgotten": (Leave, "__call__", mask_is_forgotten, ("stops",)),
    "an inner function sees names as they were": (Walker, "closure", early_binding, ("scopes",)),
}
