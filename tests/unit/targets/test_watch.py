"""A launch that goes back to Python before its end goes on to the same bits."""

from __future__ import annotations

import ctypes
import threading

import numpy as np
import pytest

import hawk
from hawk import Index, Mutable, Param, Scalar, Terminated
from hawk.ir.nodes import Role
from hawk.ir.types import DType
from hawk.passes.pipeline import optimise
from hawk.targets.base import HEADER, Compiled, Word, new_block, raw_word
from hawk.targets.cpu import entries
from hawk.targets.cpu.compile import compile_function
from hawk.targets.cpu.machine import host
from hawk.targets.cpu.width import variant
from tests.oracle.batch import left_room


@hawk.kernel(steps="auto")
def decay(
    rate: Scalar, dt: Param, end: Scalar, over: Terminated, x: Mutable[Scalar], t: Mutable[Scalar]
):
    x -= dt * rate * x
    t += dt
    over = t >= end


@hawk.kernel
def collatz(over: Terminated, k: Mutable[Index], steps_seen: Mutable[Index]):
    for _ in range(k % 7):
        steps_seen += k & 1
    k = k // 2 if k % 2 == 0 else 3 * k + 1
    over = k == 1


@hawk.kernel
def endless(seed: Scalar, x: Mutable[Scalar], rounds: Mutable[Index]):
    y = x
    for i in range(rounds):
        y = y * 0.5 + seed
    x = y


@hawk.kernel
def drift(rate: Scalar, x: Mutable[Scalar]):
    x += rate


@hawk.kernel
def curve(x: Scalar) -> Scalar:
    return x * x + 1.0


class Run:
    """A launch, call by call."""

    def __init__(self, compiled: Compiled, n: int, steps: int, planes: dict[str, object]) -> None:
        self.compiled, self.n = compiled, n
        self.block = new_block(len(compiled.planes))
        self.block[Word.END], self.block[Word.STEPS], self.block[Word.PIECE] = n, steps, 100
        self.arrays: dict[str, np.ndarray] = {}
        for word, slot in enumerate(compiled.planes, HEADER):
            if slot.role is Role.UNIFORM:
                self.block[word] = raw_word(planes[slot.name], slot.dtype)
                continue
            array = np.zeros(n, slot.dtype.numpy)
            array[:] = planes.get(slot.name, 0)
            self.arrays[slot.name] = array
            self.block[word] = array.ctypes.data

    def call(self, rows: list[int]) -> list[int]:
        """Run the entry once, after `rows`; the rows that are left."""
        count = len(rows) // 3
        before = (ctypes.c_int64 * max(1, len(rows)))(*rows)
        left = left_room(self.compiled)
        self.block[Word.ROWS], self.block[Word.ROW_COUNT] = ctypes.addressof(before), count
        self.block[Word.LEFT], self.block[Word.LEFT_COUNT] = ctypes.addressof(left), 0
        self.block[Word.NEXT_ROW] = 0
        self.compiled.entry(ctypes.addressof(self.block))
        taken = min(count, self.block[Word.NEXT_ROW])
        return [*left[: 3 * self.block[Word.LEFT_COUNT]], *rows[3 * taken :]]

    def to_the_end(self) -> int:
        """Call the entry until nothing is left; how often that was."""
        rows: list[int] = []
        for calls in range(1, 1_000_000):
            rows = self.call(rows)
            if not rows and self.block[Word.NEXT] >= self.n:
                return calls
        raise AssertionError("a launch that gets nowhere")


def planes_of(name: str, n: int) -> dict[str, object]:
    spread = np.random.default_rng(5).permutation(n)
    return {
        "decay": {"rate": np.linspace(0.1, 2.0, n), "dt": 1e-3, "end": spread * 1e-4, "x": 1.0},
        "collatz": {"k": spread + 2},
        "endless": {"seed": np.linspace(0.0, 1.0, n), "x": 1.0, "rounds": spread % 50},
        "drift": {"rate": np.linspace(0.0, 1.0, n)},
    }[name]


KERNELS = {each.name: each for each in (decay, collatz, endless, drift)}


@pytest.mark.parametrize("bits", [False, True], ids=["no mask registers", "mask registers"])
@pytest.mark.parametrize("name", KERNELS)
def test_interrupted_launches_go_on_to_the_same_bits(
    name: str, bits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dataclasses

    monkeypatch.setattr(entries, "WORK_BETWEEN_LOOKS", 500)
    machine = dataclasses.replace(host(), mask_registers=bits)
    fn = optimise(KERNELS[name].trace(DType.F64))
    compiled = compile_function(fn, machine, variant(fn, machine, 4, 3))
    whole, cut = (Run(compiled, 1003, 20_000, planes_of(name, 1003)) for _ in range(2))
    cut.block[Word.WINDOW] = 1

    assert 1 == whole.to_the_end()
    calls = cut.to_the_end()

    assert calls > 5
    for plane, array in whole.arrays.items():
        assert array.tobytes() == cut.arrays[plane].tobytes(), plane
    for word in (Word.FINISHED, Word.TAKEN):
        assert whole.block[word] == cut.block[word]


@pytest.mark.parametrize("kernel", [curve, drift], ids=lambda kernel: kernel.name)
def test_interrupted_launches_of_one_step_pass_each_sample_once(
    kernel: hawk.Kernel[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entries, "WORK_BETWEEN_LOOKS", 10)
    compiled = compile_function(optimise(kernel.trace(DType.F64)))
    planes = {"x": np.linspace(0.0, 1.0, 1003), "rate": np.linspace(0.0, 1.0, 1003)}
    whole, cut = (Run(compiled, 1003, 1, planes) for _ in range(2))
    cut.block[Word.WINDOW] = 1

    assert 1 == whole.to_the_end()
    calls = cut.to_the_end()

    assert calls > 5
    for plane, array in whole.arrays.items():
        assert array.tobytes() == cut.arrays[plane].tobytes(), plane


def test_the_stop_word_ends_a_step_in_the_middle_of_a_loop_and_the_sample_keeps_its_state() -> None:
    compiled = compile_function(optimise(endless.trace(DType.F64)))
    run = Run(compiled, 40, 3, {"seed": 1.0, "x": 5.0, "rounds": 2**60})
    timer = threading.Timer(0.05, lambda: run.block.__setitem__(Word.STOP, 1))
    timer.start()
    rows = run.call([])

    assert 5.0 == run.arrays["x"].min() == run.arrays["x"].max()
    assert [0, 40, 0] == rows
