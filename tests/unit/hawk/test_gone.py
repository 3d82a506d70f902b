"""What is made of a kernel goes with it: in a notebook the same kernel is made many times."""

import gc
import typing
import weakref
from types import FunctionType

import numpy as np
import pytest

import eagle
from hawk.targets.cpu import link
from hawk.targets.cpu.machine import host
from tests.oracle.harness import forget, load

HEAD = """
from __future__ import annotations
from dataclasses import dataclass
import hawk
from hawk import Mutable, Param, Scalar, Terminated, Vector

"""

KERNELS = {
    "plain": """
@hawk.kernel
def kernel(dt: Param, x: Mutable[Scalar], over: Terminated):
    x += dt
    over = x > 3.0
""",
    "loops": """
@hawk.kernel
def kernel(dt: Param, x: Mutable[Scalar], over: Terminated):
    P = [[0.0, 1.0], [2.0, 3.0]]
    for i in range(2):
        for j in range(2):
            P[i][j] = P[i][j] + dt
    for _ in range(3):
        P[0][0] = P[0][0] + 1.0
    x += P[0][0]
    over = x > 3.0
""",
    "helper": """
def grown(x, by):
    return x + abs(by)

@hawk.kernel
def kernel(dt: Param, x: Mutable[Scalar], over: Terminated):
    x = grown(x, dt)
    over = x > 3.0
""",
    "dataclass": """
@dataclass
class Spin:
    w: Scalar

    @property
    def twice(self):
        return 2.0 * self.w

@dataclass
class Body:
    x: Scalar
    spin: Spin

    def moved(self, dt):
        return Body(self.x + dt * self.spin.twice, self.spin)

@hawk.kernel
def kernel(dt: Param, body: Mutable[Body], over: Terminated):
    body.x = body.moved(dt).x
    over = body.x > 3.0
""",
    "sum of the batch": """
@hawk.kernel
def kernel(dt: Param, x: Mutable[Scalar], over: Terminated):
    x += dt * hawk.sum(x) + 1.0
    over = x > 3.0
""",
}


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_that_is_thrown_away_is_gone(name: str) -> None:
    kernel = load(HEAD + KERNELS[name])
    names = ("body_x", "body_spin_w") if name == "dataclass" else ("x",)
    planes = {each: np.linspace(0.1, 1.0, 9) for each in names}
    over = np.zeros(9, bool)
    eagle.simulate(kernel, dt=1.0, over=over, max_steps=99, **planes)
    assert over.all()
    left = [weakref.ref(each) for each in (kernel, kernel.__wrapped__, kernel.program)]
    left += [weakref.ref(each) for each in vars_of(kernel) if isinstance(each, type)]
    assert len(left) == (5 if name == "dataclass" else 3)
    del kernel
    forget()
    gc.collect()
    assert [each() for each in left] == [None] * len(left)


def test_what_links_them_goes_with_the_last_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """It keeps some of each, so that one for the process would grow with every kernel."""
    monkeypatch.setattr(link, "LIBRARIES", 4)
    linkers: list[weakref.ref[typing.Any]] = []
    held: list[link.Linked] = []
    text = f"define void @{link.ENTRY}(ptr %block) {{\n  store i64 7, ptr %block\n  ret void\n}}"
    code = link.assemble(text, host())
    for _ in range(12):
        held.append(link.link(code))
        linkers.append(weakref.ref(held[-1].library.linker))
    assert len({each() for each in linkers}) in (3, 4)
    kept = held[5]
    del held
    gc.collect()
    left = {each() for each in linkers if each() is not None}
    assert len(left) <= 2  # the one of the library that is kept, and the last
    block = np.zeros(1, np.int64)
    kept(block.ctypes.data)
    assert block[0] == 7


def vars_of(kernel: typing.Any) -> list[object]:
    """What the kernel's module makes."""
    made: FunctionType = kernel.__wrapped__
    return [
        each
        for each in made.__globals__.values()
        if getattr(each, "__module__", None) == made.__module__
    ]
