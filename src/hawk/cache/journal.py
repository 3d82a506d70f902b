"""What was compiled because it was not there, and why: the part of its key that is new."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

MEANING = {
    "program": "the program",
    "hawk": "hawk itself",
    "versions": "versions",
    "machine": "the machine",
}
"""How a sentence names the parts of a key, but for the variant: it is looked for first."""

OPAQUE = ("program", "hawk")
"""Parts that are hashes, which tell nobody anything."""


@dataclass(frozen=True, slots=True)
class Miss:
    """A kernel that was compiled because its code was not in the cache."""

    when: int
    """Seconds since 1970."""
    kernel: str
    file: str
    parts: Mapping[str, str]
    why: str

    def line(self) -> str:
        return repr((self.when, self.kernel, self.file, dict(self.parts), self.why))


def misses(lines: Iterable[str]) -> Iterator[Miss]:
    """The misses in the lines of a journal. A line that was written in part is passed over."""
    for line in lines:
        try:
            when, kernel, file, parts, why = ast.literal_eval(line)
            yield Miss(when, kernel, file, dict(parts), why)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            continue


def explain(earlier: Iterable[Miss], parts: Mapping[str, str]) -> str:
    """Why a kernel with a key of these parts is not there, from its earlier misses in order."""
    seen = list(earlier)
    if not seen:
        return "first time"
    same_way = [miss for miss in seen if miss.parts.get("variant") == parts["variant"]]
    if not same_way:
        return f"first time for {parts['variant']}"
    # Of two that differ in as much, the later one says more about what was just done.
    changed = min((_changed(miss.parts, parts) for miss in reversed(same_way)), key=len)
    if not changed:
        return "it was removed: the cache was cleared, or was full"
    return "; ".join(changed)


def _changed(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """A phrase for each part that differs."""
    phrases: list[str] = []
    for part, meaning in MEANING.items():
        before, after = old.get(part, ""), new[part]
        if before == after:
            continue
        phrase = f"{meaning} changed"
        if part not in OPAQUE:
            phrase += f": {_without(before, after)} -> {_without(after, before)}"
        phrases.append(phrase)
    return phrases


def _without(text: str, other: str) -> str:
    """The items of one list that are not in the other."""
    others = other.split(", ")
    return ", ".join(item for item in text.split(", ") if item not in others) or "nothing"
