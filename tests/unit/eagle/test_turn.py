"""One thread at a time, and nothing that Ctrl-C could leave taken."""

from __future__ import annotations

import signal
from itertools import count

import numpy as np
import pytest

import eagle
from eagle.devices import base
from eagle.devices.base import Turn
from tests.unit.eagle.kernels import double


@pytest.mark.parametrize("one_at_a_time", [True, False], ids=["with Python's lock", "without"])
def test_a_turn_is_had_by_the_first_who_takes_it(
    one_at_a_time: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "_ONE_AT_A_TIME", one_at_a_time)
    turn, mine, yours = Turn(), object(), object()

    assert turn.take(mine)
    assert not turn.take(yours)

    turn.holder = None
    assert turn.take(yours)


class Alarm(Exception):
    """Raised by the handler of the clock's signal."""


def test_a_bound_kernel_is_free_after_any_interrupt() -> None:
    bound = eagle.deploy(double).bind(x=np.ones(4))
    bound.launch()  # what is loaded at the first use is loaded

    def ring(*_: object) -> None:
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    alarms = 0
    try:
        for number in count():
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-4 + 1e-6 * (number % 97))
                while True:
                    bound.launch()
            except Alarm:
                alarms += 1
            if alarms == 100:
                break
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

    bound.launch()
    assert [2.0] * 4 == bound.planes["out"].tolist()
