"""The samples of a batch that are not done: a map of them, for launches that leave out the rest.

A launch advances samples in groups, and a group takes part as long as one of its samples goes on.
Where few are left, scattered over the batch, a map picks those, and groups are full again. What a
launch computes for a sample does not depend on its neighbours, so the bits are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from eagle.bundles import arrays_in
from eagle.devices.base import Device, home_of
from eagle.devices.host.device import HOST
from eagle.overlap import overlap
from eagle.params import shown
from eagle.planes import view_of
from hawk.ir.types import DType

LEAST_SHARE, LARGEST_SHARE = 0.25, 0.75


MOVED = tuple(dict.fromkeys(each.numpy for each in DType))
"""The types of numbers that kernels have, which a GPU can move."""


class ActiveSet:
    """The samples of a batch that are not done, for a loop of one's own.

        bound = eagle.deploy(kernel).bind(x=x, v=v, dt=1e-3)
        active = eagle.ActiveSet(bound.finished)
        while active.compact():
            bound.launch(16, active=active)

    `mask` is a bool array `(n,)`, on the host or on a GPU, True where a sample is done. It is
    looked at by `compact`, `reset` and `live`, so a set never lies about samples: those that became
    done since are only still in the map.

    With `reorder`, a share from 0.25 to 0.75, `compact` moves the samples of `planes` and of the
    mask: when so few of those at the front go on, they take the first places, where they are loaded
    side by side. That is faster than a map where a launch takes few and cheap steps. `planes` are
    all arrays of the launches with one element a sample in their last dimension, inputs too; an
    object of a dataclass stands for those of its fields. They are out of order from then on;
    `order` says whose numbers stand where, and `reset`, or the end of a `with` block, puts them
    back.

    Raises TypeError and ValueError for what is not such a mask, share or array.
    """

    def __init__(
        self,
        mask: object,
        *,
        reorder: float | None = None,
        planes: Iterable[object] = (),
    ) -> None:
        self._device, self._mask = _mask(mask, written=reorder is not None)
        self._share = _share(reorder)
        self._planes = _planes(planes, self._device, self._mask, moved=reorder is not None)
        self.n = len(self._mask)
        """Samples in the batch."""
        self.compactions = 0
        """Times that `compact` left out samples."""
        self.reorders = 0
        """Times that samples were moved."""
        self._order = np.arange(self.n)
        self._front = self.n
        """Places at the front in which all samples are that may go on."""
        self._map = self._order
        self._pick(np.flatnonzero(~self._over()))

    @property
    def moves(self) -> bool:
        """May `compact` move samples? Where `reorder` was given."""
        return self._share is not None

    @property
    def map(self) -> NDArray[np.int64]:
        """The places of the samples that launches advance, ascending: int64 `(count,)`."""
        return self._map

    @property
    def count(self) -> int:
        """Samples in the map."""
        return len(self._map)

    @property
    def live(self) -> int:
        """Samples in the map that are not done by now."""
        return self.count - int(np.count_nonzero(self._over()[self._map]))

    @property
    def order(self) -> NDArray[np.int64]:
        """For each place, the sample of the caller's order that stands there: int64 `(n,)`."""
        order = self._order.view()
        order.flags.writeable = False
        return order

    def compact(self) -> int:
        """Leave out the samples that became done; say how many are left."""
        going = self._map[~self._over()[self._map]]
        if len(going) < self.count:
            self.compactions += 1
            if self._share is not None and 0 < len(going) <= self._share * self._front:
                self.reorders += 1
                self._to_the_front(going)
            else:
                self._pick(going)
        return self.count

    def reset(self) -> None:
        """Put the samples back in the caller's order, and pick all that are not done."""
        if self._front < self.n:
            self._move(np.argsort(self._order), self.n)
        else:
            self._pick(np.flatnonzero(~self._over()))

    def leaves(self, array: NDArray[Any]) -> bool:
        """Would moving samples leave this array of a launch as it is?"""
        if self._share is None or not self.n:  # arrays without samples share no memory
            return False
        moved = (*self._planes, self._mask)
        return not any(np.may_share_memory(array, other) for other in moved)

    def __len__(self) -> int:
        return self.count

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.reset()

    def __repr__(self) -> str:
        moved = " at the front" if self._front < self.n else ""
        return f"<ActiveSet of {self.count:,} of {self.n:,} samples{moved}>"

    def _over(self) -> NDArray[np.bool]:
        """The mask as it is now."""
        return self._mask if self._device is HOST else self._device.fetch(self._mask)

    def _pick(self, places: NDArray[np.int64]) -> None:
        places.flags.writeable = False
        self._map = places

    def _to_the_front(self, going: NDArray[np.int64]) -> None:
        others = np.ones(self._front, np.bool)
        others[going] = False
        self._move(np.concatenate((going, np.flatnonzero(others))), len(going))

    def _move(self, places: NDArray[np.int64], front: int) -> None:
        """Let the first places hold what `places` held, in all arrays or in none.

        The first `front` of them are then the ones in which samples may go on.
        """
        there, count = self._device, len(places)
        homes = [(there, array) for array in (*self._planes, self._mask)] + [(HOST, self._order)]
        left = [
            (
                home,
                array[..., :count],
                array[..., places] if home is HOST else home.picked(array, places),
            )
            for home, array in homes
        ]
        stopped: BaseException | None = None
        while True:
            try:
                while left:
                    home, target, moved = left[-1]
                    if home is HOST:  # done twice it is done once
                        target[...] = moved
                    else:
                        home.duplicate(moved, into=target)
                    left.pop()
                self._front = front
                self._pick(np.flatnonzero(~self._over()[:front]))
                break
            except KeyboardInterrupt as signal:  # half of the arrays must not stay moved
                stopped = signal
        if stopped is not None:
            raise stopped


def live_places(
    mask: NDArray[np.bool], among: NDArray[np.int64] | None, together: int
) -> tuple[NDArray[np.int64], int]:
    """The places that are not done, and how many groups of `together` samples they keep busy.

    `among`: the map that launches go by now; without one every sample stands at its own place.
    """
    going = ~mask if among is None else ~mask[among]
    positions = np.flatnonzero(going)
    groups = positions // together
    busy = int(np.count_nonzero(np.diff(groups))) + 1 if len(groups) else 0
    return positions if among is None else among[positions], busy


def _located(given: object) -> tuple[Device, NDArray[Any]] | None:
    """Where an array is that kernels can be called with; None for what is none."""
    view = view_of(given)
    if view is not None:
        return HOST, view
    found = home_of(given)
    return found if found is not None and found[0].calls else None


def _mask(given: object, *, written: bool) -> tuple[Device, NDArray[np.bool]]:
    device, view = _located(given) or (HOST, None)
    if view is None or view.dtype != np.bool or view.ndim != 1:
        got = shown(given) if view is None else f"{view.dtype} {view.shape}"
        raise TypeError(
            f"eagle.ActiveSet: 'mask': expected bool (n,), True where a sample is done, got {got}; "
            "write bound.finished, or np.zeros(n, bool) for a batch that begins"
        )
    if written and not view.flags.writeable:
        raise ValueError("eagle.ActiveSet: 'mask': is read-only, and reorder= moves it")
    return device, view


def _share(given: float | None) -> float | None:
    if given is None:
        return None
    number = isinstance(given, (int, float, np.floating)) and not isinstance(given, bool)
    if not number or not LEAST_SHARE <= given <= LARGEST_SHARE:
        raise ValueError(
            "eagle.ActiveSet: 'reorder': expected a share of the samples from "
            f"{LEAST_SHARE} to {LARGEST_SHARE}, got {shown(given)}; write reorder=0.5"
        )
    return float(given)


def _planes(
    given: Iterable[object], device: Device, mask: NDArray[np.bool], *, moved: bool
) -> Sequence[NDArray[Any]]:
    """The arrays that are to be moved, each of them whole and nobody else's memory."""
    if isinstance(given, np.ndarray):
        raise TypeError(f"eagle.ActiveSet: planes= is a tuple of arrays, got {shown(given)}")
    planes = [_located(array) for each in given for array in arrays_in(each)]
    if bool(planes) is not moved:
        problem = "reorder= moves samples; give all arrays, inputs too: planes=(x, v, omega)"
        if planes:
            problem = "planes= is for reorder=; write reorder=0.5, or leave planes= out"
        raise ValueError(f"eagle.ActiveSet: {problem}")
    whole: list[NDArray[Any]] = []
    for number, (home, plane) in enumerate(each or (device, None) for each in planes):
        what = f"eagle.ActiveSet: planes[{number}]"
        if home is not device:
            raise ValueError(f"{what}: is on {home.name}, and the mask on {device.name}")
        if plane is None or not plane.ndim or plane.shape[-1] != len(mask):
            got = "no array that eagle can move" if plane is None else f"shape {plane.shape}"
            raise ValueError(f"{what}: expected an array of {len(mask)} samples, got {got}")
        if home is not HOST and plane.dtype.name not in MOVED:
            usual = ", ".join(MOVED)
            raise ValueError(f"{what}: on {home.name} one of {usual} is moved, got {plane.dtype}")
        if home is not HOST and plane.shape[-1] > 1 and plane.strides[-1] != plane.itemsize:
            raise ValueError(f"{what}: its samples do not stand side by side; give a copy")
        if not plane.flags.writeable:
            raise ValueError(f"{what}: is read-only, and reorder= moves it; give a copy")
        if any(overlap(plane, other) for other in (mask, *whole)):
            raise ValueError(f"{what}: shares memory with the mask or a plane before it")
        whole.append(plane)
    return whole
