"""Methods of lists, dicts and tuples in a kernel, and the builtins that make them: as CPython's."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from hawk.errors import HawkError
from hawk.frontend.frame import Frame
from hawk.frontend.known import by_python
from hawk.frontend.templates import describe
from hawk.frontend.values import NeedsKnown, is_known, known_of

if TYPE_CHECKING:
    from hawk.frontend.kernel_domain import KernelDomain

_CHANGES = {
    list: {"append", "extend", "insert", "pop", "remove", "reverse", "clear", "sort"},
    dict: {"pop", "popitem", "setdefault", "update", "clear"},
    tuple: set[str](),
}
"""Methods that change what they are called on."""
_LOOKS = {
    list: {"copy", "count", "index"},
    dict: {"copy", "get", "items", "keys", "values"},
    tuple: {"count", "index"},
}
"""Methods that do not."""
_KEYED = {"get", "setdefault", "pop", "insert"}
"""Methods whose first argument is a key or a place."""
_COMPARES = {"count", "index", "remove"}
"""Methods that look for an equal element, so all elements must be known."""


def form_of(owner: Any, method: str) -> type | None:
    """The builtin type whose method `owner.method` is, where a kernel may call it."""
    for form in (list, dict, tuple):
        if isinstance(owner, form) and method in _CHANGES[form] | _LOOKS[form]:
            return form if getattr(type(owner), method) is getattr(form, method) else None
    return None


class Methods:
    """Evaluates calls of methods, for the domain of kernels."""

    def __init__(self, domain: KernelDomain) -> None:
        self.domain = domain

    def call(
        self,
        frame: Frame,
        node: ast.Call,
        owner: Any,
        method: str,
        args: list[Any],
        keywords: dict[str, Any],
    ) -> Any:
        """The value of `owner.method(...)`."""
        containers, where = self.domain.expressions.containers, frame.loc(node)
        form = form_of(owner, method)
        assert form is not None
        if method in _CHANGES[form]:
            containers.changing(frame, owner, node)
        if method == "sort" and not args:
            owner[:] = self.ordered(frame, node, tuple(owner), **keywords)
            return None
        if method == "update" and len(args) <= 1:
            given = self.pairs(frame, node, args[0]) if args else {}
            owner.update(given, **keywords)
            return None
        if method == "extend" and len(args) == 1:
            args = [self._sequence(frame, node, args[0])]
        if method in _COMPARES:
            self._check_compares(frame, node, owner, method, args)
            args = [known_of(each) for each in args]
        elif method in _KEYED and args and (method != "pop" or form is dict or len(args) == 1):
            written = node.args[0] if node.args else node
            args = [containers.as_index(frame, args[0], written), *args[1:]]
        bound = getattr(owner, method)
        result = by_python(lambda: bound(*args, **keywords), where)
        return containers.new(result) if method == "copy" else result

    def _sequence(self, frame: Frame, node: ast.Call, value: Any) -> tuple[Any, ...]:
        return self.domain.expressions.calls.structural.sequence(frame, node, value)

    def sequence(self, frame: Frame, node: ast.AugAssign, value: Any) -> tuple[Any, ...]:
        """The values that `+=` joins to a list."""
        return self.domain.expressions.calls.structural.sequence(frame, node.value, value)

    def _check_compares(
        self, frame: Frame, node: ast.Call, owner: Any, method: str, args: list[Any]
    ) -> None:
        """Which elements are equal to a number of the program is not known while it is traced."""
        if is_known(tuple(map(known_of, (*owner, *args)))):
            return
        text = frame.source.text
        assert isinstance(node.func, ast.Attribute)
        what = f"`{method}` looks for an equal element while the kernel is traced, and the numbers "
        fix = "a loop over the elements, with `if`"
        if method == "count" and len(node.args) == 1:
            fix = f"sum([int(each == {text(node.args[0])}) for each in {text(node.func.value)}])"
        raise NeedsKnown("H212", what + "are known only at run time", frame.loc(node), fix)

    # --- what makes lists and dicts ---

    def dict_(self, frame: Frame, node: ast.Call, *given: Any, **keywords: Any) -> Any:
        if len(given) > 1:
            what = f"`dict` takes one value, got {len(given)}"
            raise HawkError("H305", what, frame.loc(node), "dict(zip(keys, values))")
        pairs = self.pairs(frame, node, given[0]) if given else {}
        return self.domain.new({**pairs, **keywords})

    def sorted_(
        self,
        frame: Frame,
        node: ast.Call,
        values: Any,
        /,
        *,
        key: Any = None,
        reverse: Any = False,
    ) -> Any:
        sequence = self._sequence(frame, node, values)
        return self.domain.new(self.ordered(frame, node, sequence, key=key, reverse=reverse))

    def ordered(
        self,
        frame: Frame,
        node: ast.Call,
        values: tuple[Any, ...],
        *,
        key: Any = None,
        reverse: Any = False,
    ) -> list[Any]:
        """The values in order, which must be known."""
        by = list(values)
        if key is not None:
            by = [self.domain.expressions.calls.apply(frame, node, key, [each]) for each in values]
        by = [known_of(each) for each in by]
        backwards = known_of(reverse)
        if not is_known((by, backwards)):
            what = "an order must be known while the kernel is traced, and these numbers are not"
            fix = "min(x, y), max(x, y)"
            raise NeedsKnown("H212", what, frame.loc(node), fix)
        places = by_python(
            lambda: sorted(range(len(by)), key=lambda i: by[i], reverse=backwards), frame.loc(node)
        )
        return [values[place] for place in places]

    def pairs(self, frame: Frame, node: ast.AST, value: Any) -> dict[Any, Any]:
        """The dict that a dict, or pairs of a key and a value, make."""
        containers = self.domain.expressions.containers
        if isinstance(value, dict):
            return dict(value)
        made: dict[Any, Any] = {}
        written: Any = node.args[0] if isinstance(node, ast.Call) and node.args else node
        sequence = self.domain.expressions.calls.structural.sequence
        for part in sequence(frame, node, value):
            both = self.domain.unpack(frame, part, written)
            if len(both) != 2:
                what = f"a dict is made of pairs, and this is {describe(self.domain.numbers, part)}"
                raise HawkError("H213", what, frame.loc(written), "dict(zip(keys, values))")
            made[containers.key(frame, both[0], written)] = both[1]
        return made
