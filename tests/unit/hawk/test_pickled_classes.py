"""Dataclasses that cannot be imported go with the kernels that read them."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np

import hawk

PROGRAM = """
import pickle, sys
from dataclasses import dataclass, field
import numpy as np
import hawk
from hawk import Mutable, Scalar, Vector

def half(x):
    return 0.5 * x

@dataclass
class Inner:
    p: Scalar = 2.0

@dataclass(frozen=True, order=True)
class Body:
    mass: Scalar
    v: Vector[2] = (1.0, 2.0)
    inner: Inner = field(default_factory=Inner)
    SCALE = 3

    def energy(self):
        return half(self.mass) + self.inner.p

    @property
    def twice(self):
        return self.mass * 2

    @staticmethod
    def light():
        return Body(0.5)

@dataclass(frozen=True)
class Heavy(Body):
    extra: Scalar = 1.0

@hawk.kernel
def kernel(b: Heavy) -> Body:
    return Body(b.energy() + b.twice * b.SCALE + Body.light().mass + b.extra, b.v, b.inner)

sys.stdout.buffer.write(pickle.dumps(kernel))
"""


def test_a_kernel_of_a_program_takes_its_dataclasses_along() -> None:
    made = subprocess.run(
        [sys.executable, "-"], input=PROGRAM.encode(), capture_output=True, check=False
    )
    assert b"cannot be found" in made.stderr  # a program from standard input has no text


def test_kernels_that_cannot_be_imported_take_their_dataclasses_along(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    made = subprocess.run([sys.executable, file], capture_output=True, check=True)
    kernel = pickle.loads(made.stdout)
    planes = {"b_mass": np.ones(3), "b_v": np.ones((2, 3)), "b_inner_p": np.ones(3)}
    assert kernel.signature.bundles[0].cls.__name__ == "Heavy"
    assert hawk.interpret(kernel, **planes)["out_mass"].tolist() == [9.0, 9.0, 9.0]
    again = pickle.loads(pickle.dumps(kernel))
    assert hawk.run_python(again, **planes)["out_mass"].tolist() == [9.0, 9.0, 9.0]
