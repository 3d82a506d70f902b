"""The team: threads that wait for work without Python.

A team is a block of words and some threads that called `work` on it and stay there. `run` hands
them one call each, takes part itself, and returns when all have returned: about a microsecond
where they spin, a few where they sleep. The words are of 32 bits, as the operating system's futex
wants them; the two addresses take two words each.
"""

from __future__ import annotations

import ctypes
import enum

SPINS = 4_000
"""Looks at a word before a thread sleeps: some 20 microseconds."""


class Seat(enum.IntEnum):
    """The words of a team."""

    CALL = 0
    """Address of the function to call (two words)."""
    ARGUMENT = 2
    """Its argument (two words)."""
    SYSCALL = 4
    """Address of libc's `syscall` (two words)."""
    BUSY = 16
    """1 while a caller owns the team."""
    JOB = 32
    """Counts jobs. Waiting threads sleep on it."""
    TICKETS = 33
    """Calls of this job that are still to be taken."""
    SLEEPERS = 34
    """Threads asleep on JOB."""
    INSIDE = 48
    """Threads that may be working. The caller sleeps on it."""
    CALLER_SLEEPS = 49
    """1 while it does."""
    QUIT = 64
    """1: threads leave."""


WORDS = 80
_WAIT, _WAKE = 128, 129  # private to the process


def new_team() -> ctypes.Array[ctypes.c_int32]:
    """The words of a team without threads."""
    words = (ctypes.c_int32 * WORDS)()
    syscall = ctypes.cast(ctypes.CDLL(None).syscall, ctypes.c_void_p)
    address = ctypes.c_int64.from_buffer(words, 4 * Seat.SYSCALL)
    address.value = syscall.value or 0
    return words


def team_text(futex: int) -> str:
    """The routines `team_work`, `team_run` and `team_quit`. `futex` is the system call's number."""
    at = {f"at_{seat.name}": 4 * seat for seat in Seat}
    return _TEXT.format(futex=futex, wait=_WAIT, wake=_WAKE, spins=SPINS, **at)


_TEXT = """; Sleep while the word is `value`, or wake up to `count` that sleep on it.
define internal void @sleep_on(ptr %team, ptr %word, i32 %value) nounwind {{
  %slot = getelementptr i8, ptr %team, i64 {at_SYSCALL}
  %syscall = load ptr, ptr %slot
  %r = call i64 (i64, ...) %syscall(i64 {futex}, ptr %word, i32 {wait}, i32 %value, ptr null)
  ret void
}}

define internal void @wake(ptr %team, ptr %word, i32 %count) nounwind {{
  %slot = getelementptr i8, ptr %team, i64 {at_SYSCALL}
  %syscall = load ptr, ptr %slot
  %r = call i64 (i64, ...) %syscall(i64 {futex}, ptr %word, i32 {wake}, i32 %count)
  ret void
}}

; Take a ticket: true if there was one.
define internal i1 @take(ptr %team) nounwind {{
entry:
  %tickets = getelementptr i8, ptr %team, i64 {at_TICKETS}
  %first = load atomic i32, ptr %tickets monotonic, align 4
  br label %again
again:
  %seen = phi i32 [ %first, %entry ], [ %now, %try ]
  %some = icmp sgt i32 %seen, 0
  br i1 %some, label %try, label %none
try:
  %less = sub i32 %seen, 1
  %pair = cmpxchg ptr %tickets, i32 %seen, i32 %less acq_rel monotonic
  %now = extractvalue {{ i32, i1 }} %pair, 0
  %taken = extractvalue {{ i32, i1 }} %pair, 1
  br i1 %taken, label %got, label %again
got:
  ret i1 true
none:
  ret i1 false
}}

; A thread of the team. It counts itself INSIDE before it asks for a ticket, so a caller that has
; withdrawn the tickets and sees nobody inside knows that nobody will come.
define void @team_work(ptr %team) nounwind {{
entry:
  %job = getelementptr i8, ptr %team, i64 {at_JOB}
  %inside = getelementptr i8, ptr %team, i64 {at_INSIDE}
  %sleepers = getelementptr i8, ptr %team, i64 {at_SLEEPERS}
  %caller = getelementptr i8, ptr %team, i64 {at_CALLER_SLEEPS}
  %leave = getelementptr i8, ptr %team, i64 {at_QUIT}
  %call = getelementptr i8, ptr %team, i64 {at_CALL}
  %argument = getelementptr i8, ptr %team, i64 {at_ARGUMENT}
  br label %next
next:
  %seen = load atomic i32, ptr %job acquire, align 4
  %quit = load atomic i32, ptr %leave monotonic, align 4
  %stay = icmp eq i32 %quit, 0
  br i1 %stay, label %ask, label %gone
gone:
  ret void
ask:
  %0 = atomicrmw add ptr %inside, i32 1 seq_cst
  %mine = call i1 @take(ptr %team)
  br i1 %mine, label %work, label %out
work:
  %function = load ptr, ptr %call
  %block = load ptr, ptr %argument
  call void %function(ptr %block)
  br label %out
out:
  %before = atomicrmw sub ptr %inside, i32 1 seq_cst
  %last = icmp eq i32 %before, 1
  %waits = load atomic i32, ptr %caller seq_cst, align 4
  %sleeping = icmp ne i32 %waits, 0
  %tell = and i1 %last, %sleeping
  br i1 %tell, label %rouse, label %rest
rouse:
  call void @wake(ptr %team, ptr %inside, i32 1)
  br label %rest
rest:
  br i1 %mine, label %next, label %spin
spin:
  %round = phi i32 [ 0, %rest ], [ %further, %same ]
  %current = load atomic i32, ptr %job acquire, align 4
  %changed = icmp ne i32 %current, %seen
  br i1 %changed, label %next, label %same
same:
  %further = add i32 %round, 1
  %patient = icmp ult i32 %further, {spins}
  br i1 %patient, label %spin, label %sleep
sleep:
  %1 = atomicrmw add ptr %sleepers, i32 1 seq_cst
  call void @sleep_on(ptr %team, ptr %job, i32 %seen)
  %2 = atomicrmw sub ptr %sleepers, i32 1 seq_cst
  br label %next
}}

define i64 @team_run(ptr %team, ptr %function, ptr %block, i64 %helpers) nounwind {{
entry:
  %busy = getelementptr i8, ptr %team, i64 {at_BUSY}
  %inside = getelementptr i8, ptr %team, i64 {at_INSIDE}
  %tickets = getelementptr i8, ptr %team, i64 {at_TICKETS}
  %caller = getelementptr i8, ptr %team, i64 {at_CALLER_SLEEPS}
  %count = trunc i64 %helpers to i32
  %some = icmp sgt i32 %count, 0
  br i1 %some, label %claim, label %alone
claim:
  %pair = cmpxchg ptr %busy, i32 0, i32 1 acquire monotonic
  %claimed = extractvalue {{ i32, i1 }} %pair, 1
  br i1 %claimed, label %publish, label %alone
alone:
  call void %function(ptr %block)
  ret i64 0
publish:
  %call = getelementptr i8, ptr %team, i64 {at_CALL}
  %argument = getelementptr i8, ptr %team, i64 {at_ARGUMENT}
  store ptr %function, ptr %call
  store ptr %block, ptr %argument
  store atomic i32 %count, ptr %tickets seq_cst, align 4
  %job = getelementptr i8, ptr %team, i64 {at_JOB}
  %0 = atomicrmw add ptr %job, i32 1 seq_cst
  %asleep = getelementptr i8, ptr %team, i64 {at_SLEEPERS}
  %sleepers = load atomic i32, ptr %asleep seq_cst, align 4
  %any = icmp sgt i32 %sleepers, 0
  br i1 %any, label %rouse, label %share
rouse:
  call void @wake(ptr %team, ptr %job, i32 %count)
  br label %share
share:
  call void %function(ptr %block)
  %left = atomicrmw xchg ptr %tickets, i32 0 seq_cst
  br label %spin
spin:
  %round = phi i32 [ 0, %share ], [ %further, %same ]
  %working = load atomic i32, ptr %inside seq_cst, align 4
  %quiet = icmp eq i32 %working, 0
  br i1 %quiet, label %finish, label %same
same:
  %further = add i32 %round, 1
  %patient = icmp ult i32 %further, {spins}
  br i1 %patient, label %spin, label %wait
wait:
  store atomic i32 1, ptr %caller seq_cst, align 4
  %still = load atomic i32, ptr %inside seq_cst, align 4
  %empty = icmp eq i32 %still, 0
  br i1 %empty, label %awake, label %sleep
sleep:
  call void @sleep_on(ptr %team, ptr %inside, i32 %still)
  br label %wait
awake:
  store atomic i32 0, ptr %caller seq_cst, align 4
  br label %finish
finish:
  store atomic i32 0, ptr %busy release, align 4
  %took = sub i32 %count, %left
  %result = zext i32 %took to i64
  ret i64 %result
}}

define void @team_quit(ptr %team) nounwind {{
entry:
  %leave = getelementptr i8, ptr %team, i64 {at_QUIT}
  %job = getelementptr i8, ptr %team, i64 {at_JOB}
  store atomic i32 1, ptr %leave seq_cst, align 4
  %0 = atomicrmw add ptr %job, i32 1 seq_cst
  call void @wake(ptr %team, ptr %job, i32 2147483647)
  ret void
}}
"""
