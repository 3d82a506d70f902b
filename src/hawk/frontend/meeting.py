"""Where paths meet that have different objects under one name: objects that stand for them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hawk.frontend.instances import OBJECT, Fields, Instance
from hawk.frontend.values import Unusable


class Meeting:
    """Paths that meet, and the objects that stand for what they have."""

    def __init__(
        self,
        stand_in: Callable[[type], tuple[Instance, tuple[int, ...]]],
        paths: Sequence[dict[str, Any]],
        stands: Mapping[str, Any],
        anew: Collection[str],
    ) -> None:
        self.stand_in, self.stands = stand_in, stands
        self.before = list(paths)
        self.paths = list(paths)
        self.made: dict[tuple[int, ...], Instance] = {}
        # What objects hold comes last, since a stand-in holds what the name has that it stands for.
        for name in anew or sorted(paths[0], key=lambda name: name.startswith(OBJECT)):
            if all(name in path for path in paths):
                self._name(name, always=bool(anew))

    def _name(self, name: str, *, always: bool) -> None:
        values = [path[name] for path in self.paths]
        united = self._value(values, always=always)
        for place, (old, new) in enumerate(zip(values, united, strict=True)):
            if old is not new:
                self._set(place, name, new)

    def _set(self, place: int, name: str, value: Any) -> None:
        if self.paths[place] is self.before[place]:
            self.paths[place] = dict(self.paths[place])
        self.paths[place][name] = value

    def _value(self, values: list[Any], *, always: bool = False) -> list[Any]:
        first = values[0]
        if not always and all(each is first for each in values[1:]):
            return values
        kind = type(first)
        if any(type(each) is not kind for each in values[1:]):
            return values
        if kind is Instance:
            return self._instances(values, always=always)
        if kind is Fields:
            parts = self._columns([each.parts for each in values], always=False)
            return [self._of(old, tuple(new)) for old, new in zip(values, parts, strict=True)]
        if isinstance(first, (tuple, list)) and len({len(each) for each in values}) == 1:
            rows = self._columns(values, always=always)
            return [self._like(old, new) for old, new in zip(values, rows, strict=True)]
        if kind is dict and all(tuple(each) == tuple(first) for each in values[1:]):
            rows = self._columns([list(each.values()) for each in values], always=always)
            pairs = zip(values, rows, strict=True)
            return [self._like(old, dict(zip(old, new, strict=True))) for old, new in pairs]
        return values

    def _columns(self, rows: list[Any], *, always: bool) -> list[list[Any]]:
        columns = [self._value(list(each), always=always) for each in zip(*rows, strict=True)]
        return [[column[place] for column in columns] for place in range(len(rows))]

    @staticmethod
    def _of(old: Fields, parts: tuple[Any, ...]) -> Fields:
        same = all(a is b for a, b in zip(old.parts, parts, strict=True))
        return old if same else replace(old, parts=parts)

    @staticmethod
    def _like(old: Any, new: Any) -> Any:
        parts = new.values() if isinstance(new, dict) else new
        before = old.values() if isinstance(old, dict) else old
        if all(a is b for a, b in zip(before, parts, strict=True)):
            return old
        if isinstance(new, dict):
            return new
        return type(old)(*new) if hasattr(type(old), "_fields") else type(old)(new)

    def _instances(self, values: list[Instance], *, always: bool) -> list[Any]:
        """One object for those that each path has."""
        held = [path.get(each.key) for path, each in zip(self.before, values, strict=True)]
        classes, known = {each.cls for each in values}, [h for h in held if isinstance(h, Fields)]
        unusable = [each for each in held if isinstance(each, Unusable)]
        if len(classes) > 1 or len(known) + len(unusable) < len(held):
            return list(values)
        key = tuple([each.number for each in values])
        if key in self.made:
            return [self.made[key]] * len(values)
        stand, cells = values[0], None
        if stand.key not in self.stands or always:
            stand, cells = self.stand_in(stand.cls)
        self.made[key] = stand
        if unusable:  # what it holds there is not known, so it is not afterwards
            for place, fields in enumerate(held):
                if place or cells is not None:
                    self._set(
                        place, stand.key, fields if isinstance(fields, Fields) else unusable[0]
                    )
            return [stand] * len(values)
        columns = self._columns([each.parts for each in known], always=always)
        for place, (fields, parts) in enumerate(zip(known, columns, strict=True)):
            made = replace(fields, parts=tuple(parts))
            if cells is not None:
                made = replace(made, cells=cells, also=made.also | {*fields.cells})
            elif place == 0:
                continue  # what comes in is there
            self._set(place, stand.key, made)
        return [stand] * len(values)
