"""What a case of the soak runs: a random kernel of any family, and a batch for it to start from."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hawk.frontend.bundles import instance
from hawk.ir.hidden import (
    N_SAMPLES,
    SAMPLE_INDEX,
    STEP_INDEX,
    dimension_name,
    is_hidden,
    whole_name,
)
from hawk.ir.nodes import Number, Role
from hawk.kernel import Output, Parameter
from tests.oracle.batch import as_array, steps_of
from tests.oracle.harness import case_of, load, whole
from tests.oracle.numbers import column
from tests.oracle.programs import Program, write
from tests.oracle.test_collective import reducing
from tests.oracle.test_scatter import scattering
from tests.unit.frontend.every_way import by_component

Arrays = Mapping[str, NDArray[Any]]

FAMILIES: dict[str, Callable[[int], Program | None]] = {
    "plain": write,
    "arrays": lambda seed: write(seed, arrays=True),
    "objects": lambda seed: write(seed, bundles=True),
    "tables": lambda seed: write(seed, placed=True),
    "grids": lambda seed: write(seed, grids=True),
    "reductions": lambda seed: reducing(write(seed)),
    "along dimensions": lambda seed: reducing(write(seed, grids=True)),
    "scatters": lambda seed: scattering(write(seed)),
}
"""What programs are about; None where the program of a seed does not lend itself to it."""
WEIGHTS = (8, *[2] * (len(FAMILIES) - 1))
DRAWN = 500
"""Different samples in a batch; the others repeat them."""


def program_of(seed: int, random: Random) -> tuple[str, Program]:
    """The program of a seed, and its family."""
    family = random.choices(list(FAMILIES), WEIGHTS)[0]
    program = FAMILIES[family](seed)
    return (family, program) if program else ("plain", write(seed))


class Drawn:
    """A kernel and the batch it starts from, by the names of its parameters and outputs."""

    def __init__(self, seed: int, random: Random, largest: int) -> None:
        self.random = random
        self.family, program = program_of(seed, random)
        case = case_of(program)
        self.real, self.steps, self._tables = case.real, case.steps, case.tables
        self._numbers = case.numbers
        self.kernel = load(case.text)
        self.fn = self.kernel.trace(self.real)
        self.together = bool(self.fn.reductions or self.fn.scatters)
        """Do samples take their steps together?"""
        self.mask = next((each.name for each in self.fn.planes if each.role is Role.MASK), None)
        self.state = any(each.role is Role.STATE for each in self.kernel.parameters)
        self.shape = self._shape(largest)
        self.n = math.prod(self.shape)
        planes = (*self.kernel.parameters, *self.kernel.outputs)
        self.numbers: dict[str, Any] = whole(self.kernel, self._of_all())
        """What is the same for all samples."""
        self.start = {
            each.name: self._drawn(each) for each in planes if each.name not in self.numbers
        }
        self.outputs = {each.name for each in self.kernel.outputs}
        self.reads = {each.name for each in planes if each.role in (Role.INPUT, Role.TABLE)}

    def _shape(self, largest: int) -> tuple[int, ...]:
        """How many samples: none, one, a few, about a multiple of the lanes, or any number."""
        lanes = self.kernel.compile(self.real).lanes
        about = lanes * self.random.randint(1, 20) + self.random.randint(-1, 1)
        any_size = round(largest ** self.random.random())
        n = min(self.random.choice((0, 1, 7, about, about, any_size, any_size)), largest)
        grid = self.kernel.signature.grid
        extents: list[int] = []
        for _ in () if grid is None else grid.axes[1:]:
            extents.append(min(n, round(max(1, n) ** self.random.random())))
            n //= max(1, extents[-1])
        return (*extents, n)

    def _of_all(self) -> dict[str, Any]:
        held = {each.name: each.element for each in self.kernel.signature.scalars[0]}
        return {
            name: as_array(number, held[name].at(self.real))[()]
            for name, number in self._numbers.items()
            if not is_hidden(name)
        }

    def _drawn(self, each: Parameter | Output) -> NDArray[Any]:
        dtype, shape = each.element.at(self.real), (*each.element.shape, self.n)
        if each.name in self._tables:
            return as_array(self._tables[each.name], dtype)
        if each.grid is not None:
            shape = self.shape
        if each.role is Role.OUTPUT:
            return np.zeros(shape, dtype.numpy)
        rng = np.random.default_rng(self.random.getrandbits(64))
        if each.role is Role.MASK:
            return rng.random(self.n) < self.random.choice((0.0, 0.0, 0.1))
        few = as_array(column(self.random, dtype, DRAWN, each.name), dtype)
        return few[rng.integers(DRAWN, size=shape)]

    def given(self, planes: Arrays) -> dict[str, Any]:
        """The batch as a user passes it; some objects plane by plane."""
        kernel = self.kernel
        given: dict[str, Any] = {**self.numbers, **planes}
        outputs = tuple(given.pop(output.name) for output in kernel.outputs)
        for bundle in kernel.signature.bundles:
            if self.random.random() < 0.7:
                given[bundle.name] = bundle.build(lambda each: given.pop(each.name), instance)
        if outputs:
            given["out"] = outputs if kernel.nesting == "tuple" else outputs[0]
        if any(each.role not in (Role.UNIFORM, Role.OUTPUT) for each in self._shaped()):
            given["layout"] = "samples_last"  # a small batch reads both ways
        return given | {"n": self.n}

    def _shaped(self) -> list[Parameter | Output]:
        planes = (*self.kernel.parameters, *self.kernel.outputs)
        return [each for each in planes if each.element.shape]

    # -- one sample ------------------------------------------------------------------------------

    def stored(self, planes: Arrays, sample: int) -> dict[str, NDArray[Any]]:
        """What the sample holds in each plane that a step stores."""
        rows = by_component(self.kernel, {name: planes[name] for name in planes})
        names = [name for name, _ in self.fn.stores if not is_hidden(name)]
        return {name: rows[name].reshape(-1)[sample : sample + 1] for name in names}

    def one(self, sample: int, steps: int) -> dict[str, NDArray[Any]]:
        """The same after so many interpreted steps from the start."""
        rows = by_component(self.kernel, self.start)
        values: dict[str, Any] = {
            name: row.ravel().tolist() if name in self._tables else row.reshape(-1)[sample].item()
            for name, row in rows.items()
        }
        values |= {**self._numbers, SAMPLE_INDEX: sample, N_SAMPLES: self.n, STEP_INDEX: 0}
        if self.kernel.signature.grid is not None:
            axes = map(dimension_name, self.kernel.signature.grid.axes)
            values.update(zip(axes, self.shape, strict=True))
            grids = [each.name for each in self.kernel.parameters if each.grid is not None]
            values |= {whole_name(name): self.start[name].ravel().tolist() for name in grids}
        left: dict[str, Number] = steps_of(self.fn, values, steps)
        return {
            name: as_array([left[name]], self.fn.plane(name).dtype)
            for name in self.stored(self.start, sample)
        }
