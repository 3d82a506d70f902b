"""Tests of graphs fail where the device for GPUs is wrong: each part of it is made wrong once."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from eagle.devices.cuda import build, device, hosts, launches, loop, ptx, refusals, replay
from eagle.devices.plan import Loop
from tests.pages import test_graphs_across_two_memories as pages
from tests.unit.cuda import test_calls as calls
from tests.unit.cuda import test_cuda as cuda
from tests.unit.cuda import test_runs as runs
from tests.unit.cuda.gpus import gpu_of_tests
from tests.unit.graph import test_simulated as graphs


def none(*_: Any, **__: Any) -> None:
    """Nothing is done."""


def once(self: Any, body: Any, item: Loop) -> None:
    """Loops that look once more and no more."""
    handle = body.handle()

    def look(small: ptx.Small) -> None:
        small.set(handle, small.holds(item.test) if item.test is not None else small.all())

    def stop(small: ptx.Small) -> None:
        small.set(handle, small.opposite(small.all()))

    body.small(look, item)
    inner = body.condition(handle, build.Kind.WHILE, item)
    self._body(inner, item.body)
    inner.all_before()
    inner.small(stop, item)


def unpicked(real: Any) -> Any:
    """A map of other samples."""

    def pick(self: Any, body: Any, item: Any) -> None:
        real(self, body, item)
        first = self._map.__array_interface__["data"][0]
        body.small(lambda small: small.note(first, small.all()), item)

    return pick


def first(real: Any) -> Any:
    return lambda self: 0


def other_arm(real: Any) -> Any:
    return lambda self, condition: self.opposite(real(self, condition))


def unordered(self: Any, body: Any, items: Any) -> None:
    """Nodes that wait for nothing."""
    for item in items:
        body.after = []
        self._stamped(body, item)
    if items:
        body.close(items[0])


def in_a_row(real: Any) -> Any:
    """Nodes that all wait for the one before."""

    def run(self: Any, body: Any, items: Any) -> None:
        waits = self.plan.waits
        self.plan.waits = lambda nodes: [(k, k + 1) for k in range(len(nodes) - 1)]
        try:
            real(self, body, items)
        finally:
            self.plan.waits = waits

    return run


Wrong = tuple[ModuleType, str, tuple[Any, ...], Any, str, Callable[[Any], Any]]
WRONG: list[Wrong] = [
    # the file, its test, arguments, and what of which is replaced by what is made of it
    (
        pages,
        "test_the_direction_of_a_copy_follows_from_where_its_ends_live",
        (),
        build.Builder,
        "_copy",
        lambda real: none,
    ),
    (
        pages,
        "test_when_launch_returns_every_host_array_that_a_node_wrote_is_final",
        (),
        replay.CudaCaptured,
        "synchronize",
        lambda real: none,
    ),
    (
        pages,
        "test_a_host_node_runs_between_the_copies_before_and_after_it_in_replay_order",
        (),
        build.Builder,
        "_body",
        lambda real: unordered,
    ),
    (
        pages,
        "test_an_exception_in_a_host_node_is_kept_and_raised_by_what_is_asked_next",
        ("launch",),
        hosts.Kept,
        "keep",
        lambda real: none,
    ),
    (
        pages,
        "test_an_exception_in_a_host_node_is_kept_and_raised_by_what_is_asked_next",
        ("launch",),
        hosts.Rounds,
        "launch",
        lambda real: none,
    ),
    (
        pages,
        "test_a_host_function_that_touches_the_device_is_caught_when_it_happens",
        ("asnumpy",),
        device.Guard,
        "check",
        lambda real: none,
    ),
    (pages, "test_a_copy_can_overlap_with_kernels", (), build.Builder, "_body", in_a_row),
    (
        pages,
        "test_an_eager_function_cuts_the_graph_and_the_device_is_waited_for_before_and_after",
        (),
        refusals,
        "cuts",
        lambda real: lambda plan: [],
    ),
    (
        pages,
        "test_a_copy_in_the_body_of_a_loop_or_branch_needs_a_pinned_array",
        (),
        refusals,
        "objections",
        lambda real: lambda plan: [],
    ),
    (
        pages,
        "test_it_is_captured_once_and_replayed_without_the_host_stepping_in",
        (),
        hosts.PythonCall,
        "run",
        lambda real: none,
    ),
    (
        graphs,
        "test_a_node_runs_where_its_planes_live",
        (),
        build.Builder,
        "_loop",
        lambda real: once,
    ),
    (
        graphs,
        "test_a_node_runs_where_its_planes_live",
        (),
        build.Builder,
        "_launch_on_host",
        lambda real: none,
    ),
    (graphs, "test_a_node_runs_where_its_planes_live", (), ptx.Small, "holds", other_arm),
    (
        graphs,
        "test_a_node_runs_where_its_planes_live",
        (),
        replay.CudaCaptured,
        "moved",
        lambda real: none,
    ),
    (
        graphs,
        "test_a_launch_changes_its_numbers",
        (),
        replay.CudaCaptured,
        "renumbered",
        lambda real: none,
    ),
    (
        pages,
        "test_enqueue_does_not_wait_and_synchronize_does",
        (),
        device.CudaDevice,
        "wait",
        lambda real: none,
    ),
    (
        graphs,
        "test_a_pageable_array_that_a_host_node_writes_cuts_the_graph",
        (),
        refusals,
        "cuts",
        lambda real: lambda plan: [],
    ),
    (
        cuda,
        "test_a_replay_waits_for_the_one_that_writes_what_it_stages",
        (),
        replay,
        "_reads_what_is_written",
        lambda real: lambda plan: False,
    ),
    (
        cuda,
        "test_a_host_kernel_is_native_code_that_follows_exchanges",
        (),
        hosts.NativeCall,
        "look_again",
        lambda real: none,
    ),
    (cuda, "test_all_is_given_back", (), device.Remains, "with_", lambda real: none),
    (
        cuda,
        "test_pinned_memory_is_locked_and_given_back",
        (),
        device.Locker,
        "lock",
        lambda real: none,
    ),
    (
        cuda,
        "test_replays_come_after_and_before_what_other_libraries_ask_for",
        ("monkeypatch",),
        device.CudaDevice,
        "lead_others",
        lambda real: none,
    ),
    (
        calls,
        "test_calls_come_after_and_before_what_other_libraries_ask_for",
        ("monkeypatch",),
        device.CudaDevice,
        "lead_others",
        lambda real: none,
    ),
    (
        calls,
        "test_a_bound_kernel_is_launched_again_and_again",
        (),
        launches,
        "fill",
        lambda real: none,
    ),
    (runs, "test_what_is_left_of_many_samples_is_picked", (), loop.CudaLoop, "_pick", unpicked),
    (
        runs,
        "test_auto_takes_longer_launches_while_few_become_done",
        (),
        ptx.Small,
        "tally",
        lambda real: none,
    ),
    (runs, "test_a_report_says_what_one_pass_took", (), loop.CudaLoop, "first_going", first),
    (runs, "test_all_is_given_back", (), device.Remains, "with_", lambda real: none),
]


@pytest.mark.parametrize(
    ("file", "test", "arguments", "where", "name", "made"),
    WRONG,
    ids=[f"{getattr(w[3], '__name__', w[3])}.{w[4]}: {w[1][5:45]}" for w in WRONG],
)
def test_it_fails(
    file: ModuleType,
    test: str,
    arguments: tuple[Any, ...],
    where: Any,
    name: str,
    made: Callable[[Any], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = getattr(file, test)
    monkeypatch.setattr(where, name, made(getattr(where, name)))
    with pytest.raises((Exception, pytest.fail.Exception)), gpu_of_tests() as library:  # noqa: PT012 - whatever it fails with
        if file in (cuda, calls, runs):
            run(library, *(monkeypatch for _ in arguments))
        else:
            monkeypatch.setattr(file, "xp", library)
            monkeypatch.setattr(file, "WHERE", "GPU 0")
            run(*arguments)
