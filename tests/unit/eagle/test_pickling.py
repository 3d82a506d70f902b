"""Kernels, results and errors in another process: the same bits, the same words."""

from __future__ import annotations

import copy
import importlib.util
import linecache
import math
import pickle
import subprocess
import sys
import textwrap
import typing
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import cloudpickle
import numpy as np
import pytest

import eagle
import hawk
from hawk import HawkError, Index, Mutable, Param, Scalar, Terminated
from hawk.frontend import bundles

ROOT = Path(__file__).parents[3]

CHILD = """
import pickle, sys
sys.path[:0] = sys.argv[1:]
while True:
    try:
        call, arguments = pickle.load(sys.stdin.buffer)
    except EOFError:
        break
    try:
        answer = call(*arguments)
    except Exception as error:
        answer = error
    pickle.dump(answer, sys.stdout.buffer)
    sys.stdout.buffer.flush()
"""


class Elsewhere:
    """Another process, which imports of this one only what it finds by its name."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", CHILD, str(ROOT)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self, call: Any, *arguments: Any, dumps: Any = pickle.dumps) -> Any:
        """What `call` gives there, or the exception it raises."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(dumps((call, arguments)))
        self.process.stdin.flush()
        return pickle.load(self.process.stdout)


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Elsewhere]:
    child = Elsewhere()
    yield child
    child.process.communicate()


def same_bits(one: Any, two: Any) -> bool:
    return np.asarray(one).tobytes() == np.asarray(two).tobytes()


def run_cell(text: str, names: dict[str, Any], name: str = "<cell>") -> dict[str, Any]:
    """Run a cell of a notebook: its text is known to linecache only."""
    text = textwrap.dedent(text)
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec", dont_inherit=True), names)
    return names


def imported(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of the user that stands in `folder`, which is not where Python looks."""
    name = f"users_{folder.name.replace('-', '_')}"
    path = folder / f"{name}.py"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


@hawk.kernel
def fall(g: Param, dt: Param, z: Mutable[Scalar], v: Mutable[Scalar], landed: Terminated):
    v -= g * dt
    z += v * dt
    landed = z <= 0.0


class Shelf:
    @hawk.kernel
    def double(x: Scalar) -> Scalar:  # pyright: ignore[reportGeneralTypeIssues]  # it has no self
        return x + x


# -- by name ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [fall, Shelf.double], ids=["module", "class"])
def test_a_kernel_of_a_module_is_pickled_by_name(kernel: Any) -> None:
    raw = pickle.dumps(kernel)

    assert kernel is pickle.loads(raw)
    assert len(raw) < 200


def test_so_is_one_with_other_steps() -> None:
    several = pickle.loads(pickle.dumps(hawk.steps(fall, 5)))

    assert 5 == several.steps
    assert fall.program is several.program


def test_a_kernel_of_a_module_runs_elsewhere(elsewhere: Elsewhere) -> None:
    z, v = np.array([1.0, 2.0]), np.zeros(2)

    there = elsewhere(fall, 9.81, 0.1, z, v)

    here = fall(9.81, 0.1, z, v)
    assert all(same_bits(a, b) for a, b in zip(here, there, strict=True))


def test_a_name_that_is_no_kernel_elsewhere_is_explained(tmp_path: Path) -> None:
    raw = pickle.dumps(fall).replace(b"\x04fall", b"\x04ROOT")

    with pytest.raises(pickle.UnpicklingError, match=r"test_pickling.ROOT was a kernel where"):
        pickle.loads(raw)


# -- by text ---------------------------------------------------------------------------------------

STRENGTH = 2.5


def pull(x: Any, k: Any) -> Any:
    return -k * x * STRENGTH


def spring_of(gain: float) -> Any:
    """A kernel that reads its closure, helpers, a lambda, a module and globals."""
    half = lambda x: 0.5 * x  # noqa: E731

    def inner(x: Any) -> Any:
        return gain * half(x)

    @hawk.kernel(steps=3, dtype="float64", contract=False)
    def spring(k: Param, x: Mutable[Scalar], v: Mutable[Scalar], dt: Param = 0.01):
        v += dt * (pull(x, k) + inner(x)) * math.pi
        x += dt * v

    return spring


def test_a_local_kernel_is_pickled_with_what_it_reads() -> None:
    spring = spring_of(3.0)

    again = pickle.loads(pickle.dumps(spring))

    assert again is not spring
    assert (3, "float64", False) == (again.steps, again.dtype, again.contract)
    assert str(spring.__signature__) == str(again.__signature__)
    assert spring.__doc__ == again.__doc__


def test_an_annotation_that_python_made_anew_means_the_same() -> None:
    """Python keeps the last `Annotated[...]` made; later, one that is equal is another object."""
    raw = pickle.dumps(spring_of(3.0))
    for clear in typing._cleanups:  # type: ignore[attr-defined]
        clear()

    again = pickle.loads(raw)

    assert str(spring_of(3.0).__signature__) == str(again.__signature__)


def test_a_local_kernel_gives_the_same_bits_elsewhere(elsewhere: Elsewhere) -> None:
    x, v = np.linspace(0.0, 1.0, 37), np.ones(37)
    spring = spring_of(0.1)

    there = elsewhere(spring, 1.5, x, v)

    here = spring(1.5, x, v)
    assert all(same_bits(a, b) for a, b in zip(here, there, strict=True))


def test_a_module_that_python_would_not_find_is_pickled_by_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, elsewhere: Elsewhere
) -> None:
    text = """\
        from __future__ import annotations
        import hawk
        from hawk import Scalar

        def twice(x: float) -> float:
            return x + x

        @hawk.kernel
        def quadruple(x: Scalar) -> Scalar:
            return twice(twice(x))
        """
    module = imported(tmp_path, text, monkeypatch)

    assert [4.0] == elsewhere(module.quadruple, [1.0]).tolist()


def test_a_name_that_means_another_kernel_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    @hawk.kernel
    def other(x: Scalar) -> Scalar:
        return x

    before = fall
    monkeypatch.setattr(sys.modules[__name__], "fall", other)

    again = pickle.loads(pickle.dumps(before))

    assert "fall" == again.name
    assert again.parameters == before.parameters


def test_cells_of_a_notebook_are_pickled(tmp_path: Path, elsewhere: Elsewhere) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    run_cell("import hawk\nfrom hawk import *\nG = 9.81\n", names, "<cell 1>")
    run_cell(
        """
        def down(v, dt):
            return v - G * dt
        TOOLS = {"down": down, "unused": [down, 1]}
        """,
        names,
        "<cell 2>",
    )
    run_cell(
        """
        @hawk.kernel
        def drop(dt: "Param", v: Mutable[Scalar]):
            v = TOOLS["down"](v, dt)
        """,
        names,
        "<cell 3>",
    )
    v = np.ones(3)

    there = elsewhere(names["drop"], 0.5, v)

    assert same_bits(names["drop"](0.5, v), there)


def test_a_program_sends_its_kernels_to_processes_that_it_spawns(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """
            import concurrent.futures, dataclasses, multiprocessing
            import eagle, hawk, numpy as np
            from hawk import *

            def cube(x):
                return x * x * x

            @hawk.kernel
            def power(x: Scalar) -> Scalar:
                return cube(x) * x

            @dataclasses.dataclass
            class Ball:
                z: Scalar
                bounces: Index

                def up(self):
                    self.z += cube(2.0)

            @hawk.kernel
            def throw(ball: Mutable[Ball], over: Terminated) -> Ball:
                ball.up()
                over = ball.z > 20.0
                return dataclasses.replace(ball, bounces=1)

            def thrown(kernel, ball):
                return eagle.simulate(kernel, max_steps=9, ball=ball)

            if __name__ == "__main__":
                context = multiprocessing.get_context("spawn")
                with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
                    print(pool.submit(power, np.arange(4.0)).result())
                    ball = Ball(np.arange(2.0), np.zeros(2, np.int64))
                    result = pool.submit(thrown, throw, ball).result()
                    print(result.ball, type(result.out) is Ball, ball.z)
            """
        ),
        encoding="utf-8",
    )

    run = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)

    power, throw = run.stdout.splitlines()
    assert "[ 0.  1. 16. 81.]" == power
    assert "Ball(z=array([24., 25.]), bounces=array([0, 0])) True [0. 1.]" == throw


BALL = """
from dataclasses import dataclass
import hawk
from hawk import *

@dataclass
class Ball:
    z: Scalar

    def up(self):
        self.z += HEIGHT

@hawk.kernel
def throw(ball: Mutable[Ball]):
    ball.up()
"""


def test_a_class_of_the_same_text_is_the_one_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = imported(tmp_path, f"HEIGHT = 1.0\n{BALL}", monkeypatch)
    raw = pickle.dumps(module.throw)
    ball = pickle.loads(raw)(SimpleNamespace(z=np.zeros(2)))
    assert type(ball) is module.Ball
    module.HEIGHT = 2.0  # what its method reads
    other = pickle.loads(raw)(SimpleNamespace(z=np.zeros(2)))
    assert type(other) is not module.Ball
    assert [1.0, 1.0] == other.z.tolist()


def test_kernels_and_helpers_may_read_each_other(tmp_path: Path) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    run_cell(
        """
        import hawk
        from hawk import Scalar

        def odd(n, x):
            return x if n == 0 else even(n - 1, x + 1.0)

        def even(n, x):
            return x if n == 0 else odd(n - 1, x * 2.0)

        @hawk.kernel
        def step(x: Scalar) -> Scalar:
            return odd(4, x)

        @hawk.kernel
        def both(x: Scalar) -> Scalar:
            return step(x) if both is not step else x
        """,
        names,
    )

    for name in ("step", "both"):
        again = pickle.loads(pickle.dumps(names[name]))
        assert names[name]([1.0]).tolist() == again([1.0]).tolist() == [10.0]


def test_what_is_shared_stays_shared() -> None:
    one, two = (
        pickle.loads(pickle.dumps((fall, spring_of(1.0)))),
        pickle.loads(pickle.dumps([fall])),
    )

    assert one[0] is two[0] is fall


def test_two_lambdas_of_one_line_are_told_apart() -> None:
    up, down = lambda x: x + 1.0, lambda x: x - 1.0  # noqa: E731

    @hawk.kernel
    def move(x: Scalar) -> tuple[Scalar, Scalar]:
        return up(x), down(x)

    again = pickle.loads(pickle.dumps(move))

    assert ([2.0], [0.0]) == tuple(each.tolist() for each in again([1.0]))


def test_errors_elsewhere_show_the_line(elsewhere: Elsewhere) -> None:
    @hawk.kernel
    def wrong(x: Scalar, i: Index) -> Scalar:
        return x if i else xyz  # noqa: F821

    with pytest.raises(HawkError) as caught:
        wrong([1.0], [1])

    there = elsewhere(wrong, [1.0], [1])

    assert isinstance(there, HawkError)
    assert str(caught.value) == str(there)
    assert "return x if i else xyz" in str(there)
    assert "    ^^^" in str(there)


def test_errors_elsewhere_show_the_line_of_a_text_that_is_nowhere_on_disk(
    elsewhere: Elsewhere,
) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    text = """
        import hawk
        from hawk import Scalar

        @hawk.kernel
        def wrong(x: Scalar) -> Scalar:
            return x + missing
        """
    run_cell(text, names, "<cell of errors>")

    there = elsewhere(names["wrong"], [1.0])

    assert str(there).startswith("<cell of errors>:7: `missing` is not defined")
    assert "return x + missing\n               ^^^^^^^" in str(there)


def test_two_texts_of_one_name_are_both_known() -> None:
    text = """
        import hawk
        from hawk import Scalar

        @hawk.kernel
        def add(x: Scalar) -> Scalar:
            return x + {number}
        """
    first = run_cell(text.format(number=1), {"__name__": "__main__"}, "<cell 9>")["add"]
    raw = pickle.dumps(first)
    second = run_cell(text.format(number=2), {"__name__": "__main__"}, "<cell 9>")["add"]

    again = pickle.loads(raw)

    assert ([2.0], [3.0]) == (again([1.0]).tolist(), second([1.0]).tolist())
    assert again.source.file.startswith("<<cell 9>, pickled, ")
    assert "    return x + 1\n" in linecache.getlines(again.source.file)
    assert again.source.file == pickle.loads(raw).source.file


def test_cloudpickle_takes_what_pickle_cannot(elsewhere: Elsewhere) -> None:
    names = run_cell(
        """
        import hawk
        from hawk import Scalar

        class Constants:
            g = 9.81

        @hawk.kernel
        def weigh(mass: Scalar) -> Scalar:
            return mass * Constants.g
        """,
        {"__name__": "__main__"},
    )

    there = elsewhere(names["weigh"], [2.0], dumps=cloudpickle.dumps)

    assert [19.62] == there.tolist()


def test_what_is_kept_of_a_dataclass_stays_behind(elsewhere: Elsewhere) -> None:
    names = run_cell(
        """
        from dataclasses import dataclass
        from hawk import Mutable, Scalar

        @dataclass
        class Ball:
            z: Scalar
            v: Scalar

        def told(cls):
            from hawk.frontend.bundles import KEPT, fields_of
            before = KEPT in vars(cls) and vars(cls)[KEPT].fields
            return before, [each.name for each in fields_of(cls)]
        """,
        {"__name__": "__main__"},
    )
    here = [each.name for each in bundles.fields_of(names["Ball"])]

    there = elsewhere(names["told"], names["Ball"], dumps=cloudpickle.dumps)

    assert (None, here) == there


def test_a_copy_of_a_kernel_is_the_kernel() -> None:
    spring = spring_of(1.0)

    assert spring is copy.copy(spring) is copy.deepcopy(spring)
    assert spring is copy.deepcopy({"kernel": spring})["kernel"]


# -- everything else -------------------------------------------------------------------------------


def test_a_deployed_kernel_pickles() -> None:
    deployed = eagle.deploy(fall)

    assert deployed == pickle.loads(pickle.dumps(deployed))


def test_a_bound_one_does_not() -> None:
    bound = eagle.deploy(Shelf.double).bind(x=np.ones(2))

    with pytest.raises(TypeError, match="cannot be pickled; send double and the arrays, and bind"):
        pickle.dumps(bound)


def simulated(kernel: Any, n: int) -> eagle.SimResult:
    state = {"z": np.linspace(1.0, 2.0, n), "v": np.zeros(n)}
    return eagle.simulate(kernel, max_steps=40, g=9.81, dt=0.01, **state)


def test_a_result_and_its_report_come_back(elsewhere: Elsewhere) -> None:
    here, there = simulated(fall, 5), elsewhere(simulated, fall, 5)

    assert all(same_bits(here[name], there[name]) for name in ("z", "v"))
    assert same_bits(here.finished, there.finished)
    assert here.report == there.report
    assert (here.status, here.allocated) == (there.status, there.allocated)


def test_a_refusal_comes_back(elsewhere: Elsewhere) -> None:
    there = elsewhere(fall, 9.81, 0.1, np.zeros(2, np.float32), np.zeros(3))

    with pytest.raises(eagle.BindError) as caught:
        fall(9.81, 0.1, np.zeros(2, np.float32), np.zeros(3))
    assert type(there) is eagle.BindError
    assert str(caught.value) == str(there)
    assert caught.value.problems == there.problems
