"""Work that another thread does: its result, its failure, and what an interrupt makes of it."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable

import pytest

from eagle.devices.host import errand as module
from eagle.devices.host.errand import by_another_thread
from eagle.devices.host.threads import started


class Interrupt(Exception):
    """What a signal handler raises."""


def never() -> None:
    raise AssertionError("there was nothing to stop")


@pytest.fixture
def stop() -> threading.Event:
    return threading.Event()


@pytest.fixture
def until(stop: threading.Event) -> Callable[[], None]:
    """Give work that goes on until it is stopped."""

    def work() -> None:
        assert stop.wait(timeout=60)

    return work


def test_another_thread_does_the_work_and_this_one_waits() -> None:
    threads: list[int] = []

    by_another_thread(lambda: threads.append(threading.get_ident()), stop=never)

    assert 1 == len(threads)
    assert threading.get_ident() not in threads


def test_what_the_work_raises_is_raised_here() -> None:
    def work() -> None:
        raise MemoryError("none left")

    with pytest.raises(MemoryError, match="none left"):
        by_another_thread(work, stop=never)


def test_after_an_exception_the_work_is_stopped_and_waited_for(
    stop: threading.Event, until: Callable[[], None]
) -> None:
    over = threading.Event()

    def work() -> None:
        until()
        over.set()

    def interrupt() -> None:
        raise Interrupt

    with pytest.raises(Interrupt):
        by_another_thread(work, stop=stop.set, meanwhile=interrupt)

    assert over.is_set()


def test_a_second_exception_does_not_leave_the_work_running(
    stop: threading.Event, until: Callable[[], None]
) -> None:
    over, times = threading.Event(), iter(range(3))

    def work() -> None:
        until()
        over.set()

    def interrupt() -> None:
        raise Interrupt("the first")

    def interrupted_stop() -> None:
        if next(times, None) is not None:
            raise Interrupt("another")
        stop.set()

    with pytest.raises(Interrupt, match="the first"):
        by_another_thread(work, stop=interrupted_stop, meanwhile=interrupt)

    assert over.is_set()


def test_a_thread_that_comes_too_late_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    late: list[Callable[[], None]] = []

    def starting(work: Callable[[], None]) -> bool:
        late.append(work)
        raise Interrupt

    monkeypatch.setattr(module, "started", starting)
    done: list[None] = []
    with pytest.raises(Interrupt):
        by_another_thread(lambda: done.append(None), stop=lambda: None)

    late[0]()

    assert [] == done


def test_without_another_thread_the_work_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> int:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_thread, "start_new_thread", none)
    threads: list[int] = []

    by_another_thread(lambda: threads.append(threading.get_ident()), stop=never)

    assert [threading.get_ident()] == threads


def test_a_thread_that_is_lost_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Callable[[], None]] = []

    def losing(work: Callable[[], None]) -> bool:
        calls.append(work)
        return len(calls) < 3 or started(work)

    monkeypatch.setattr(module, "started", losing)
    monkeypatch.setattr(module, "POLL_SECONDS", 1e-4)
    done: list[None] = []

    by_another_thread(lambda: done.append(None), stop=never)

    assert (3, 1) == (len(calls), len(done))


def test_a_runtime_error_of_a_signal_handler_is_not_taken_for_a_missing_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*_: object) -> int:
        raise RuntimeError("time is up")

    monkeypatch.setattr(_thread, "start_new_thread", interrupted)
    with pytest.raises(RuntimeError, match="time is up"):
        by_another_thread(lambda: None, stop=lambda: None)
