"""Kernels and the cache: what makes a kernel another one, and what does not."""

from __future__ import annotations

import importlib.util
import itertools
import linecache
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import hawk
from hawk.cache.folder import Folder
from hawk.cache.journal import misses
from hawk.cache.lookup import HIT
from hawk.ir.types import DType
from hawk.targets.cpu import compile as cpu

pytestmark = pytest.mark.usefixtures("settled", "environment")

HELPER = """
def pull(x, k):
    return -k * x
"""
SPRING = """
import hawk
from hawk import Mutable, Param, Scalar
from {helper} import pull

@hawk.kernel
def spring(k: Param, dt: Param, x: Mutable[Scalar], v: Mutable[Scalar]):
    force = pull(x, k)
    speed = v + dt * force
    x += dt * speed
    v = speed
"""


class Code:
    """Modules of a user, written and imported; and how often code was generated."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.generated = 0
        self._serial = itertools.count()

    def module(self, text: str) -> ModuleType:
        name = f"users_{self.folder.name}_{next(self._serial)}".replace("-", "_")
        path = self.folder / f"{name}.py"
        path.write_text(text)
        linecache.checkcache(str(path))
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module

    def spring(self, text: str = SPRING, helper: str = HELPER) -> Any:
        return self.module(text.format(helper=self.module(helper).__name__)).spring

    def asked(self, kernel: Any, real: DType = DType.F64, uniform: tuple[str, ...] = ()) -> str:
        """Hit, or why it was compiled; checks that code was generated in that case only."""
        before = self.generated
        cached = kernel.compile(real, frozenset(uniform)).cached
        assert (cached == HIT) == (self.generated == before)
        return cached


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Code]:
    code = Code(tmp_path)
    assemble = cpu.assemble

    def counted(*args: Any, **options: Any) -> bytes:
        code.generated += 1
        return assemble(*args, **options)

    monkeypatch.setattr(cpu, "assemble", counted)
    yield code
    for name in [name for name in sys.modules if name.startswith("users_")]:
        del sys.modules[name]


def test_a_hit_generates_no_code(code: Code) -> None:
    assert "first time" == code.asked(code.spring())
    assert HIT == code.asked(code.spring())
    assert 1 == code.generated


def test_a_hit_computes_what_the_compiled_kernel_computes(code: Code) -> None:
    ends: list[list[bytes]] = []
    for _ in range(2):
        x, v = np.linspace(0.0, 1.0, 37), np.ones(37)
        for _ in range(5):
            code.spring()(0.5, 0.01, x, v)
        ends.append([x.tobytes(), v.tobytes()])

    assert 1 == code.generated
    assert ends[0] == ends[1]


def test_a_hit_says_of_itself_what_the_compiled_kernel_says(code: Code) -> None:
    made, found = (code.spring().compile(DType.F64) for _ in range(2))

    for name in ("planes", "bytes_per_sample", "steps_max", "lanes", "description"):
        assert getattr(made, name) == getattr(found, name)
    assert 0 < found.build_seconds < made.build_seconds


@pytest.mark.parametrize(
    "text",
    [
        SPRING.replace("    x += dt", "    # drift\n\n    x += dt"),
        SPRING.replace("x, k)", "x,\n        k,\n    )"),
        SPRING.replace("    force =", '    """A spring."""\n    force ='),
        SPRING.replace("speed", "s"),
        SPRING.replace("spring(", "swing(") + "spring = swing\n",
        SPRING.replace("@hawk.kernel", "@hawk.kernel(steps=16)"),
        SPRING.replace("v + dt * force", "v + (dt * force)"),
        "\n\n# A file of mine.\n" + SPRING,
    ],
    ids=["comment", "lines", "docstring", "local", "kernel", "steps", "parentheses", "place"],
)
def test_how_it_is_written_does_not_count(code: Code, text: str) -> None:
    code.asked(code.spring())

    assert HIT == code.asked(code.spring(text))


def test_how_a_helper_is_written_does_not_count(code: Code) -> None:
    code.asked(code.spring())

    assert HIT == code.asked(
        code.spring(helper=HELPER.replace("x, k", "a, b").replace("-k * x", "-b * a  # Hooke"))
    )


def test_what_a_helper_in_another_file_computes_counts(code: Code) -> None:
    code.asked(code.spring())

    assert HIT != code.asked(code.spring(helper=HELPER.replace("-k * x", "-k * x * x")))


@pytest.mark.parametrize(
    "text",
    [
        SPRING.replace("x += dt * speed", "x += dt * speed * 1.5"),
        SPRING.replace("k: Param", "k: Scalar"),
        SPRING.replace("k: Param, dt: Param", "dt: Param, k: Param"),
        SPRING.replace("@hawk.kernel", "@hawk.kernel(contract=False)"),
        SPRING.replace("speed = v + dt * force", "more = dt * force\n    speed = v + more"),
    ],
    ids=["number", "role", "order", "contract", "a product with a name"],
)
def test_what_it_computes_counts(code: Code, text: str) -> None:
    code.asked(code.spring())

    assert HIT != code.asked(code.spring(text))


def test_numbers_from_outside_count(code: Code) -> None:
    def powered(power: int) -> Any:
        @hawk.kernel
        def grow(x: hawk.Mutable[hawk.Scalar]):
            x = 1.0 + x**power

        return grow

    assert "first time" == code.asked(powered(3))
    assert "the program changed" == code.asked(powered(4))
    assert HIT == code.asked(powered(3))
    assert HIT == code.asked(powered(4))


def test_each_way_of_calling_it_is_compiled_once(code: Code) -> None:
    text = SPRING.replace("k: Param", "k: Scalar")
    spring = code.spring(text)
    ways = [(DType.F64, ()), (DType.F32, ()), (DType.F64, ("k",))]

    assert [
        "first time",
        "first time for float32",
        "first time for float64, one number for all samples: k",
    ] == [code.asked(spring, *way) for way in ways]
    assert [HIT] * 3 == [code.asked(code.spring(text), *way) for way in ways]


def test_every_miss_names_the_kernel_and_its_file(code: Code, folder: Folder) -> None:
    spring = code.spring()
    code.asked(spring)

    assert [(spring.name, spring.source.file)] == [
        (noted.kernel, noted.file) for noted in misses(folder.notes())
    ]


def test_threads_may_compile_at_once(code: Code) -> None:
    springs = [code.spring() for _ in range(8)]
    start = threading.Barrier(len(springs))
    entries: list[Any] = []

    def compile(kernel: Any) -> None:
        start.wait()
        entries.append(kernel.compile(DType.F64))

    threads = [threading.Thread(target=compile, args=(each,)) for each in springs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert 8 == len(entries)
    assert HIT == code.asked(code.spring())


def test_switched_off_it_compiles_each_time(
    code: Code, environment: Callable[..., None], folder: Folder
) -> None:
    environment(HAWK_CACHE="0", HAWK_CACHE_DIR=str(folder.path))

    assert ["off: HAWK_CACHE=0"] * 2 == [code.asked(code.spring()) for _ in range(2)]
    assert not folder.path.exists()


def test_a_damaged_entry_is_compiled_anew(code: Code, folder: Folder) -> None:
    code.asked(code.spring())
    (entry,) = folder.path.glob("*.hawk")
    raw = bytearray(entry.read_bytes())
    raw[-1000] ^= 4
    entry.write_bytes(raw)

    assert "its entry was damaged" == code.asked(code.spring())
    assert HIT == code.asked(code.spring())
