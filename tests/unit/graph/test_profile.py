"""When nodes ran: every one is seen, in order, and the replays are replays like others."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2

import eagle
import hawk
from hawk import Int32, Mutable, Scalar


@hawk.kernel
def inc(x: Mutable[Scalar]):
    x += 1.0


@hawk.kernel
def down(k: Mutable[Int32]):
    k -= 1


@pytest.fixture
def graph() -> Any:
    @eagle.Graph.builder
    def build(x, y, k):
        g = eagle.Graph()
        with g.parallel() as p:
            with p.branch():
                eagle.copy(x, into=y)
            with p.branch():
                down(k)
        while k > 0:
            inc(x)
            down(k)
        eagle.opaque(lambda: None, reads=x, name="look")
        return g

    return build(np.zeros(2), np.zeros(2), np.array([3], np.int32))


def test_every_node_is_seen_in_order(graph: Any) -> None:
    profile = graph.profile(2)
    names = [span.item.name for span in profile.spans]
    first = ["copy x", "down", "inc", "down", "inc", "down", "look"]
    assert [*first, "copy x", "down", "look"] == names
    assert [1] * 7 + [2] * 3 == [span.replay for span in profile.spans]
    times = [time for span in profile.spans for time in (span.begin, span.end)]
    assert sorted(times) == times
    assert (2.0, -1) == (graph.nodes[0].reads[0].view[0], graph.nodes[1].reads[0].view[0])


def test_it_is_written_for_perfetto(graph: Any, tmp_path: Path) -> None:
    profile = graph.profile()
    profile.to_perfetto(tmp_path / "run.json")
    events = json.loads((tmp_path / "run.json").read_text())["traceEvents"]
    named = [each["args"]["name"] for each in events if each["ph"] == "M"]
    assert ["build", "branch 1", "branch 2"] == named
    bars = [(each["name"], each["tid"]) for each in events if each["ph"] == "X"]
    assert [("copy x", 1), ("down", 2), ("inc", 0)] == bars[:3]


def test_perfetto_reads_its_own_format(graph: Any, tmp_path: Path) -> None:
    profile = graph.profile(2)
    profile.to_perfetto(tmp_path / "run.pftrace")
    trace = perfetto_trace_pb2.Trace()
    trace.ParseFromString((tmp_path / "run.pftrace").read_bytes())

    tracks = [each.track_descriptor for each in trace.packet if each.HasField("track_descriptor")]
    names = {each.uuid: each.name for each in tracks if each.name}
    assert ["build", "branch 1", "branch 2"] == [*names.values()]
    assert "build" == tracks[0].process.process_name
    assert {tracks[0].uuid} == {each.parent_uuid for each in tracks[1:]}
    packets = [each for each in trace.packet if each.HasField("track_event")]
    times = [each.timestamp for each in packets]
    assert 0 == times[0]
    assert sorted(times) == times
    bars = bars_of(packets, names)
    assert len(profile.spans) == len(bars)
    for (name, lane, began, ended, notes), span in zip(bars, profile.spans, strict=True):
        assert (span.item.name, span.replay) == (name, notes["replay"])
        assert (f"branch {span.item.lane}" if span.item.lane else "build") == lane
        assert began == round((span.begin - profile.begin) * 1e9)
        assert ended == round((span.end - profile.begin) * 1e9)
        assert span.item.loc.short() == notes["line"]


def bars_of(packets: Any, names: dict[int, str]) -> list[Any]:
    """Name, track, begin, end and notes of each bar, by its begin: an END ends the last one."""
    bars: list[Any] = []
    open_: dict[int, list[Any]] = {}
    for packet in packets:
        event = packet.track_event
        if event.type == event.TYPE_SLICE_BEGIN:
            notes = {
                each.name: each.string_value or each.int_value for each in event.debug_annotations
            }
            bar = [event.name, names[event.track_uuid], packet.timestamp, None, notes]
            open_.setdefault(event.track_uuid, []).append(bar)
            bars.append(bar)
        else:
            open_[event.track_uuid].pop()[3] = packet.timestamp
    assert not any(open_.values())
    return bars


def test_a_trace_shows_the_copy_that_overlaps_the_step(device_library: Any, tmp_path: Path) -> None:
    xp = device_library

    @eagle.Graph.builder
    def build(a, b, h):
        g = eagle.Graph()
        with g.parallel() as p:
            with p.branch():
                eagle.copy(a, into=h)
            with p.branch():
                inc(b)
        return g

    xp.set_seed(3)
    build(xp.zeros(4), xp.zeros(4), eagle.pinned(4)).profile(20).to_perfetto(tmp_path / "run.json")
    trace = json.loads((tmp_path / "run.json").read_text())
    bars = [each for each in trace["traceEvents"] if each["ph"] == "X"]
    copies = [each for each in bars if each["name"] == "copy a"]
    steps = [each for each in bars if each["name"] == "inc"]
    assert 20 == len(copies) == len(steps)
    assert {each["tid"] for each in copies}.isdisjoint(each["tid"] for each in steps)
    inside = [
        copy["ts"] < step["ts"] and step["ts"] + step["dur"] < copy["ts"] + copy["dur"]
        for copy, step in zip(copies, steps, strict=True)
        if copy["args"]["replay"] == step["args"]["replay"]
    ]
    assert any(inside)
    for each in bars:  # what the format of traces asks of a complete event
        assert {"name", "cat", "ph", "pid", "tid", "ts", "dur", "args"} <= set(each)


def test_it_is_drawn_and_printed(graph: Any) -> None:
    from matplotlib import pyplot as plt

    profile = graph.profile(2)
    axes = profile.plot()
    assert ["build", "1", "2"] == [label.get_text() for label in axes.get_yticklabels()]
    plt.close("all")
    first, *rows = str(profile).splitlines()
    assert first.startswith("build: ")
    assert ["copy", "down", "inc", "down", "look"] == [row.split()[0] for row in rows]


def test_nothing_is_seen_of_no_replay(graph: Any) -> None:
    profile = graph.profile(0)
    assert () == profile.spans
    assert "build: 0.0 us" == str(profile)


def test_what_a_function_raises_is_raised() -> None:
    def boom() -> None:
        raise ZeroDivisionError

    @eagle.Graph.builder
    def build(x):
        g = eagle.Graph()
        eagle.opaque(boom, reads=x)
        inc(x)
        return g

    x = np.zeros(1)
    with pytest.raises(ZeroDivisionError):
        build(x).profile(2)
    assert 2.0 == x[0]


def test_a_graph_is_drawn_and_after_a_profile_when_its_nodes_ran(graph: Any) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    axes = graph.plot()
    texts = [text.get_text() for text in axes.texts]
    assert ["copy x\ncopy host to host", "down\nhost kernel", "while k > 0\nloop"] == [
        text for text in texts if text
    ][:3]
    assert ["build", "branch 1", "branch 2"] == [
        label.get_text() for label in axes.get_yticklabels()
    ]
    assert len(texts) == 4 + len(graph.plan.waits(graph.plan.body))
    profile = graph.profile()
    assert graph.plot(ax=axes) is axes
    assert len(axes.collections) == len({(s.item.name, s.item.lane) for s in profile.spans})
    plt.close("all")
