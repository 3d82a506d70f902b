"""The simulated device: arrays that nobody reads, graphs that run elsewhere, what is refused."""

import functools
import itertools
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from eagle.devices.simulated.stream import STREAM
from hawk import Grid, Int32, Mutable, Param, Scalar, Terminated
from tests.unit.cuda.gpus import device_for, made_driver_only, parametrize, simulated_only

xp: Any = None
WHERE = ""
on_device = device_for(globals())
pytest_generate_tests = parametrize


@hawk.kernel
def inc(x: Mutable[Scalar], dt: Param = 1.0):
    x += dt


@hawk.kernel
def twice(x: Scalar) -> Scalar:
    return x + x


@hawk.kernel
def added(x: Scalar, y: Scalar) -> Scalar:
    return x + y


@hawk.kernel
def down(k: Mutable[Int32]):
    k -= 1


@hawk.kernel
def ends(x: Mutable[Scalar], over: Terminated) -> Scalar:
    x += 1.0
    over = True
    return x


@hawk.kernel
def centred(x: Mutable[Scalar]):
    x -= hawk.mean(x)


def there(*numbers: float, dtype: Any = np.float64) -> Any:
    return xp.asarray(np.array(numbers, dtype))


def built(text_of: Callable[..., Any], *args: Any) -> Any:
    return eagle.Graph.builder(text_of)(*args)


def refused(text_of: Callable[..., Any], *args: Any) -> str:
    with pytest.raises(eagle.GraphError) as error:
        built(text_of, *args)
    return str(error.value)


# -- arrays ----------------------------------------------------------------------------------------


READS: dict[str, Callable[[Any], object]] = {
    "np.asarray": np.asarray,
    "np.sum": np.sum,
    "np.add": lambda x: np.add(np.ones(3), x),
    "+": lambda x: x + 1.0,
    "NumPy +": lambda x: np.ones(3) + x,
    "<": lambda x: x < 1.0,
    "==": lambda x: x == 1.0,
    "-": lambda x: -x,
    "+=": lambda x: x.__iadd__(1.0),
    "float": lambda x: float(x[0]),
    "int": lambda x: int(x[0]),
    "index": lambda x: range(3)[x[0]],
    "bool": bool,
    "iter": list,
    "in": lambda x: 1.0 in x,
    "memoryview": memoryview,
    "item": lambda x: x.item(),
    "tolist": lambda x: x.tolist(),
    "by an array": lambda x: x[np.array([0, 1])],
    "a host array": lambda x: x.__setitem__(0, np.ones(3)),
}


@pytest.mark.parametrize("how", READS)
def test_the_host_cannot_read_an_array_of_the_device(how: str) -> None:
    with pytest.raises(TypeError) as error:
        READS[how](xp.zeros(3))
    if how != "memoryview" or "bytes-like" not in str(error.value):  # Python 3.11 asks nobody
        assert f"is on {WHERE}, which the host cannot read" in str(error.value)
        assert "  write: " in str(error.value)


def test_the_copy_to_write_is_the_one_for_the_array() -> None:
    with pytest.raises(TypeError, match=r"h = eagle\.pinned\(\(2, 3\), np\.float32\)") as error:
        np.asarray(xp.zeros((2, 3), np.float32))
    assert "eagle.copy(x, into=h), and h here" in str(error.value)


def test_its_library_makes_what_numpy_makes() -> None:
    made = [
        (xp.zeros((2, 3)), np.zeros((2, 3))),
        (xp.ones(2, np.int32), np.ones(2, np.int32)),
        (xp.full(2, 7), np.full(2, 7)),
        (xp.arange(1, 9, 2), np.arange(1, 9, 2)),
        (xp.linspace(0.0, 1.0, 5), np.linspace(0.0, 1.0, 5)),
        (xp.array([[1.0, 2.0]]), np.array([[1.0, 2.0]])),
        (xp.zeros_like(np.ones(3, np.float32)), np.zeros(3, np.float32)),
        (xp.ones_like(xp.zeros(3)), np.ones(3)),
        (xp.full_like(xp.zeros(2), 0.5), np.full(2, 0.5)),
    ]
    for mine, numpys in made:
        assert numpys.dtype == mine.dtype == xp.empty_like(mine).dtype
        assert (numpys.shape, numpys.strides, numpys.nbytes) == (
            mine.shape,
            mine.strides,
            mine.nbytes,
        )
        assert numpys.tobytes() == xp.asnumpy(mine).tobytes()
    assert np.isnan(xp.asnumpy(xp.empty(2))).all(), "nobody wrote it"
    x = xp.zeros(2)
    assert xp.asarray(x) is x
    assert xp.asarray(x, np.float32).dtype == np.float32
    with pytest.raises(AttributeError, match="a @hawk.kernel that computes it"):
        xp.sin
    with pytest.raises(TypeError, match="expected numbers"):
        xp.array("text")


def test_views_are_cut_and_written_on_the_device() -> None:
    x = xp.zeros((2, 3))
    x[0], x[1, :2] = xp.arange(3.0), 5.0
    kept = x.copy()
    x.T[2].fill(9.0)
    assert [[0.0, 1.0, 9.0], [5.0, 5.0, 9.0]] == xp.asnumpy(x).tolist()
    assert [[0.0, 1.0, 2.0], [5.0, 5.0, 0.0]] == xp.asnumpy(kept).tolist()
    first, second = x
    assert ((3,), 3, 1) == (second.shape, len(second), second.ndim)
    assert [0.0, 1.0, 9.0] == xp.asnumpy(first).tolist()
    assert (3, 2) == x.reshape((3, 2)).shape
    assert f"<array on {WHERE}: float64 ()>" == repr(x[0, 0])
    with pytest.raises((ValueError, AttributeError)):
        x.T.reshape(-1)


@simulated_only
def test_a_direct_call_says_that_it_needs_a_graph() -> None:
    with pytest.raises(eagle.BindError, match=f"on {WHERE}") as error:
        inc(xp.zeros(3))
    assert "a graph" in str(error.value)
    with pytest.raises(eagle.BindError, match=f"on {WHERE}"):
        eagle.run_until_done(ends, max_steps=3, x=xp.zeros(3))


# -- replays ---------------------------------------------------------------------------------------


def test_a_node_runs_where_its_planes_live() -> None:
    def build(x, k, h, out):
        g = eagle.Graph()
        y = twice(x)
        while k > 0:
            y = twice(y)
            ends(x)
            down(k)
        eagle.copy(y, into=h)
        twice(h, buffer=out)
        eagle.opaque(lambda h: seen.append(h.tolist()), reads=h)
        eagle.copy(out, into=x)
        g.result = x
        return g

    seen: list[Any] = []
    x, k, h, out = there(1.0, 2.0), there(2, dtype=np.int32), eagle.pinned(2), eagle.pinned(2)
    graph = built(build, x, k, h, out)
    assert f"on {WHERE}" in str(graph)
    assert "copy device to host" in str(graph)
    graph.launch(1)
    assert [8.0, 16.0] == h.tolist()
    assert [[8.0, 16.0]] == seen
    assert graph.result is x
    assert [16.0, 32.0] == xp.asnumpy(x).tolist()
    other = there(5.0, 5.0)
    graph.bind(x=other)
    graph.launch()
    assert [20.0, 20.0] == xp.asnumpy(other).tolist()


@simulated_only
def test_kernels_are_code_for_one_sample_at_a_time_with_the_same_bits() -> None:
    @hawk.kernel
    def relax(p: Grid["r", "c"], k: Mutable[Grid["r", "c"]]) -> Grid["r", "c"]:
        k += 1.0
        return 0.25 * (p.neighbor(r=-1) + p.neighbor(c=-1) + k)

    def build(x, p, k, q):
        g = eagle.Graph()
        centred(x)
        relax(p, k, buffer=q)
        return g

    x, p = np.random.default_rng(1).normal(size=50), np.arange(12.0).reshape(3, 4)
    arrays = [x, p, np.zeros((3, 4)), np.zeros((3, 4))]
    planes = [xp.asarray(each) for each in arrays]
    graph = built(build, *planes)
    assert [1, 1] == [item.compiled.lanes for item in graph.nodes]
    graph.launch(3)
    built(build, *arrays).launch(3)
    assert [each.tobytes() for each in arrays] == [xp.asnumpy(each).tobytes() for each in planes]


def test_a_replay_does_not_block_who_enqueued_it() -> None:
    leave, where = threading.Event(), list[int]()

    def wait() -> None:
        where.append(threading.get_ident())
        assert leave.wait(30)

    def build(x, h):
        g = eagle.Graph()
        eagle.copy(x, into=h)
        eagle.opaque(wait, reads=h)
        inc(h, 1.0)
        return g

    h = eagle.pinned(1)
    graph = built(build, there(4.0), h)
    graph.enqueue(2)
    graph.enqueue(1)
    leave.set()
    graph.synchronize()
    assert 5.0 == h[0]
    assert 3 == len(where)
    assert threading.get_ident() not in where, "it runs on a thread of the device"


@simulated_only
def test_what_was_enqueued_is_done_when_the_process_ends(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\nimport eagle\n\n"
        "xp = eagle.xp_for('simulated')\n\n\n"
        "@eagle.Graph.builder\ndef build(x, h):\n    g = eagle.Graph()\n"
        "    eagle.copy(x, into=h)\n"
        "    eagle.opaque(lambda h: print(h.sum(), flush=True), reads=h)\n    return g\n\n\n"
        "build(xp.ones(3), np.zeros(3)).enqueue(500)\n"
    )
    run = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    assert ("3.0\n" * 500, "") == (run.stdout, run.stderr)


def test_what_uses_the_device_comes_after_what_was_enqueued() -> None:
    leave = threading.Event()

    def build(x, h):
        g = eagle.Graph()
        eagle.opaque(lambda: leave.wait(30), reads=h)
        eagle.copy(h, into=x)
        inc(x, 1.0)
        return g

    x, h, out = there(0.0), eagle.pinned(1), np.zeros(1)
    graph = built(build, x, h)
    graph.enqueue(1)
    threading.Timer(0.01, leave.set).start()
    eagle.copy(x, into=out)
    assert 1.0 == out[0]
    graph.enqueue(1)
    graph.bind(x=there(8.0))
    graph.launch(1)
    assert 1.0 == xp.asnumpy(x)[0]


@simulated_only
def test_the_same_seed_gives_the_same_order_and_another_one_another() -> None:
    def orders(seed: int) -> list[list[int]]:
        order: list[int] = []
        xp.set_seed(seed)

        def build(*hosts):
            g = eagle.Graph()
            inc(x)
            for number, h in enumerate(hosts):
                eagle.opaque(functools.partial(order.append, number), reads=h)
            return g

        x = there(1.0)
        built(build, *[np.zeros(1) for _ in range(5)]).launch(20)
        return [order[k : k + 5] for k in range(0, 100, 5)]

    first = orders(1)
    assert [0, 1, 2, 3, 4] == sorted(first[0])
    assert len({tuple(each) for each in first}) > 10
    assert first == orders(1)
    assert first != orders(2)
    with pytest.raises(TypeError, match="expected a whole number, got 'x'"):
        xp.set_seed("x")


@simulated_only
def test_planes_that_nobody_wrote_in_this_replay_hold_nan() -> None:
    def build(x):
        g = eagle.Graph()
        g.result = twice(x)
        return g

    graph = built(build, there(1.0))
    assert np.isnan(xp.asnumpy(graph.result)).all()
    assert [2.0] == xp.asnumpy(graph(1)).tolist()
    graph.plan.body.clear()
    graph.recorder.version += 1
    graph.launch()
    assert np.isnan(xp.asnumpy(graph.result)).all(), "those of the replay before are gone"


@simulated_only
def test_an_interrupt_ends_what_is_on_its_way_and_the_graph_works_afterwards() -> None:
    def build(x, k):
        g = eagle.Graph()
        while k:
            inc(x)
        return g

    x, k = there(0.0), there(1, dtype=np.int32)
    graph = built(build, x, k)
    graph.enqueue(1)
    while "inc" != graph._captured._runner._at:
        time.sleep(0.001)
    original = STREAM._idle.wait

    def interrupted(timeout: float) -> bool:
        if not STREAM.stopping:
            raise KeyboardInterrupt
        return original(timeout)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(STREAM._idle, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt) as raised:
            graph.synchronize()
    assert ["within replay 1 of 1, at the node `inc`"] == [
        note.partition(":")[0] for note in raised.value.__notes__
    ]
    k[0] = 0
    graph.launch(2)


@simulated_only
def test_an_interrupt_of_a_function_that_uses_the_device_says_where_it_was() -> None:
    count = itertools.count(1)

    def look() -> None:
        if next(count) == 2:
            raise KeyboardInterrupt

    def build(x):
        g = eagle.Graph()
        inc(x)
        eagle.opaque(look, reads=x, eager=True)
        return g

    graph = built(build, there(0.0))
    with pytest.raises(KeyboardInterrupt) as raised:
        graph.launch(3)
    assert "within replay 2 of 3, at the node `look`: " in raised.value.__notes__[0]


@simulated_only
def test_a_kernel_with_checks_is_looked_at() -> None:
    @hawk.kernel(checks=True)
    def watched(x: Mutable[Scalar]):
        assert x < 2.0, "too large"
        x += 1.0

    def build(x):
        g = eagle.Graph()
        watched(x)
        return g

    graph = built(build, there(0.0))
    graph.launch(2)
    with pytest.raises(hawk.CheckError, match="too large"):
        graph.launch(1)


def test_a_profile_shows_when_each_node_ran() -> None:
    def build(x, h):
        g = eagle.Graph()
        inc(x)
        eagle.copy(x, into=h)
        return g

    spans = built(build, there(0.0, 1.0), eagle.pinned(2)).profile(2).spans
    assert ["inc", "copy x"] * 2 == [span.item.name for span in spans]
    assert [1, 1, 2, 2] == [span.replay for span in spans]


def test_a_launch_changes_its_numbers() -> None:
    def build(x, dt):
        g = eagle.Graph()
        inc(x, dt)
        return g

    x = there(0.0)
    graph = built(build, x, 1.0)
    graph.launch(2)
    graph.params(dt=0.5)
    graph.launch(1)
    assert 2.5 == xp.asnumpy(x)[0]


# -- what is refused -------------------------------------------------------------------------------


def test_a_host_kernel_needs_its_buffer() -> None:
    def build(x, h):
        g = eagle.Graph()
        twice(h)
        inc(x)
        return g

    said = refused(build, there(1.0), np.zeros((3,), np.float32))
    assert "[G202]" in said
    assert "write: buffer=eagle.pinned(3, np.float32), made before" in said


BODIES: dict[str, tuple[Callable[..., Any], str, str]] = {}


def in_a_body(what: str, write: str) -> Callable[[Any], Any]:
    def keep(build: Callable[..., Any]) -> Callable[..., Any]:
        BODIES[build.__name__] = build, what, write
        return build

    return keep


@in_a_body("`look` is a host function inside `if k`", "it before or after `if k`")
def a_host_function(x, k, h, pageable, hk):
    g = eagle.Graph()
    if k:
        eagle.opaque(lambda: None, reads=h, name="look")
    return g


@in_a_body("`inc` is a host kernel inside `while k`", "its planes on WHERE")
def a_host_kernel(x, k, h, pageable, hk):
    g = eagle.Graph()
    while k:
        inc(h)
    return g


@in_a_body("`sum of h` is a reduction on the host inside `if k`", "it before or after `if k`")
def a_host_reduction(x, k, h, pageable, hk):
    g = eagle.Graph()
    if k:
        inc(x)
    else:
        eagle.reduce(h, "sum", into=pageable)
    return g


@in_a_body("`pageable` is pageable, and copied inside `for i", "pageable = eagle.pinned(1)")
def a_pageable_copy(x, k, h, pageable, hk):
    g = eagle.Graph()
    for i in range(k):
        eagle.copy(x, into=pageable)
    return g


@in_a_body("the cell `hk` is on the host", "eagle.copy(hk, into=<a cell on WHERE>)")
def a_host_cell(x, k, h, pageable, hk):
    g = eagle.Graph()
    if hk:
        inc(x)
    return g


@in_a_body("the cell `hk` is on the host", "that cell here")
def a_host_limit(x, k, h, pageable, hk):
    g = eagle.Graph()
    for i in range(hk):
        inc(x)
    return g


@in_a_body("the cell `hk` is on the host", "that cell here")
def a_host_cell_in_a_truth(x, k, h, pageable, hk):
    g = eagle.Graph()
    t = hk > 3
    if t:
        inc(x)
    return g


@in_a_body("`y` is one host array or another, as `if k` decides", "eagle.copy(...) of both")
def a_choice_of_host_arrays(x, k, h, pageable, hk):
    g = eagle.Graph()
    y = h
    if k:
        y = pageable
    eagle.copy(y, into=x)
    return g


@in_a_body("an array on WHERE is made inside `while k`", "it before `while k`")
def an_array_of_the_device(x, k, h, pageable, hk):
    g = eagle.Graph()
    while k:
        y = xp.zeros(1)
        eagle.copy(y, into=x)
    return g


@in_a_body("a pinned array is made inside `if k`", "it before `if k`")
def a_pinned_array(x, k, h, pageable, hk):
    g = eagle.Graph()
    if k:
        eagle.copy(x, into=eagle.pinned(1))
    return g


@in_a_body("is eager, so the graph is cut there, and it cannot be cut inside `if k`", "it before")
def an_eager_function(x, k, h, pageable, hk):
    g = eagle.Graph()
    if k:
        eagle.opaque(lambda: None, reads=x, eager=True)
    return g


@in_a_body("is eager, so the graph is cut there, and branches cannot be cut", "the fork")
def an_eager_function_in_a_branch(x, k, h, pageable, hk):
    g = eagle.Graph()
    with g.parallel() as p:
        with p.branch():
            eagle.opaque(lambda: None, reads=x, eager=True)
    return g


@pytest.mark.parametrize("case", BODIES)
def test_the_device_refuses(case: str) -> None:
    build, what, write = BODIES[case]
    hk = np.zeros(1, np.int32)
    said = refused(build, there(1.0), there(2, dtype=np.int32), eagle.pinned(1), np.zeros(1), hk)
    assert what.replace("WHERE", WHERE) in said
    assert write.replace("WHERE", WHERE) in said.partition("write: ")[2]
    assert "[G401]" in said


def test_a_copy_of_what_is_not_contiguous_on_the_device_is_refused() -> None:
    def build(x, h):
        g = eagle.Graph()
        eagle.copy(x[::2], into=h)
        return g

    def strided_on_the_host(x, h):
        g = eagle.Graph()
        eagle.copy(h[::2], into=x)
        return g

    y = xp.zeros(2)
    built(strided_on_the_host, y, np.arange(4.0)).launch()
    assert [0.0, 2.0] == xp.asnumpy(y).tolist()

    said = refused(build, there(1.0, 2.0, 3.0), eagle.pinned(2))
    assert "`x[::2]` is not contiguous" in said


def test_a_pinned_array_is_exchanged_for_a_pinned_one() -> None:
    def build(x, k, h, free):
        g = eagle.Graph()
        if k:
            eagle.copy(x, into=h)
        eagle.copy(x, into=free)
        return g

    k, other, free = there(1, dtype=np.int32), eagle.pinned(2), np.zeros(2)
    graph = built(build, there(1.0, 2.0), k, eagle.pinned(2), np.zeros(2))
    with pytest.raises(ValueError, match=r"'h': expected a pinned array, .* eagle\.pinned\(2\)"):
        graph.bind(h=np.zeros(2))
    graph.bind(h=other, free=free)
    graph.launch()
    assert [1.0, 2.0] == other.tolist() == free.tolist()


def test_a_graph_is_no_node_of_another() -> None:
    def build(x):
        g = eagle.Graph()
        g.add(inner)
        return g

    def small(x):
        g = eagle.Graph()
        inc(x)
        return g

    inner = built(small, there(1.0))
    said = refused(build, there(1.0))
    assert "a graph is no node of another" in said
    assert "def small(g: eagle.Graph, ...)" in said


# -- cuts ------------------------------------------------------------------------------------------


def staged(h: Any) -> tuple[Any, Any]:
    counter = itertools.count(1)

    def fill(h: np.ndarray) -> None:
        h[...] = next(counter)

    def build(x, h):
        g = eagle.Graph()
        inc(x)
        eagle.opaque(fill, writes=h)
        eagle.copy(h, into=x)
        return g

    x = there(0.0, 0.0)
    return built(build, x, h), x


def test_a_pageable_array_that_a_host_node_writes_cuts_the_graph() -> None:
    graph, x = staged(np.zeros(2))
    assert "-- the graph is cut here: `h` is pageable, and `fill` writes it before" in str(graph)
    graph.launch(3)
    assert [3.0, 3.0] == xp.asnumpy(x).tolist()
    assert "cut" not in str(staged(eagle.pinned(2))[0])


@made_driver_only
def test_without_the_cut_the_device_would_copy_what_was_there_before() -> None:
    graph, x = staged(np.zeros(2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eagle.devices.rules.cuts", lambda plan: [])
        graph.launch(3)
    assert [2.0, 2.0] == xp.asnumpy(x).tolist()
