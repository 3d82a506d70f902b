"""The native team: every ticket is a call, callers return when all calls have."""

from __future__ import annotations

import ctypes
import threading

import pytest

import hawk.targets.cpu.runtime as native
from hawk.targets.cpu.link import assemble, link_symbols
from hawk.targets.cpu.machine import host
from hawk.targets.cpu.team import Seat, new_team

_WORK = """
define void @work(ptr %block) nounwind {
entry:
  %inside = getelementptr i64, ptr %block, i64 1
  %0 = atomicrmw add ptr %inside, i64 1 seq_cst
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %c = call i64 @llvm.readcyclecounter()
  %next = add i64 %i, 1
  %rounds = load i64, ptr %block
  %more = icmp slt i64 %next, %rounds
  br i1 %more, label %loop, label %done
done:
  %1 = atomicrmw sub ptr %inside, i64 1 seq_cst
  %calls = getelementptr i64, ptr %block, i64 2
  %2 = atomicrmw add ptr %calls, i64 1 seq_cst
  ret void
}
"""

runtime = native.runtime()
pytestmark = pytest.mark.skipif(runtime is None, reason="needs Linux on x86-64 or AArch64")


@pytest.fixture
def team():
    words = new_team()
    address = ctypes.addressof(words)
    threads = [threading.Thread(target=runtime.work, args=(address,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    yield address
    runtime.quit(address)
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()
    assert [0] * 3 == [words[seat] for seat in (Seat.BUSY, Seat.INSIDE, Seat.TICKETS)]


@pytest.fixture(scope="module")
def work():
    return link_symbols(assemble(_WORK, host()), "work")


@pytest.mark.parametrize("rounds", [0, 10, 1_000, 200_000])
def test_who_took_a_ticket_has_returned_when_run_does(team: int, work, rounds: int) -> None:
    for _ in range(2_000 if rounds < 1_000 else 20):
        block = (ctypes.c_int64 * 3)(rounds, 0, 0)
        helpers = runtime.run(team, work["work"], ctypes.addressof(block), 3)
        assert 0 == block[1]
        assert 1 + helpers == block[2]
        assert 0 <= helpers <= 3


def test_many_callers_never_wait_for_each_other_and_lose_no_call(team: int, work) -> None:
    failures: list[object] = []

    def call() -> None:
        for _ in range(300):
            block = (ctypes.c_int64 * 3)(50, 0, 0)
            helpers = runtime.run(team, work["work"], ctypes.addressof(block), 2)
            if block[1] or block[2] != 1 + helpers:
                failures.append(list(block))

    callers = [threading.Thread(target=call) for _ in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not failures


def test_without_helpers_only_the_caller_works(team: int, work) -> None:
    block = (ctypes.c_int64 * 3)(1, 0, 0)
    assert 0 == runtime.run(team, work["work"], ctypes.addressof(block), 0)
    assert 1 == block[2]
