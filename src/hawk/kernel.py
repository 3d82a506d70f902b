"""`@hawk.kernel`: a Python function for one step of one sample becomes a `Kernel`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import replace
from types import BuiltinFunctionType, FunctionType
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Literal,
    NamedTuple,
    ParamSpec,
    TypeAlias,
    TypeVar,
    overload,
)

from hawk.code import native_code
from hawk.errors import HawkError
from hawk.frontend.bundles import Bundle
from hawk.frontend.signature import NO_DEFAULT, Nesting, Output, Parameter, Signature, read
from hawk.frontend.source import Source
from hawk.ir.nodes import Function, Role
from hawk.ir.types import DType
from hawk.locks import compiling
from hawk.targets.base import STEPS_MAX, Compiled, Phase

__all__ = ["NO_DEFAULT", "RESERVED", "Kernel", "Output", "Parameter", "kernel", "steps"]

if TYPE_CHECKING:
    from hawk.frontend.trace import Traced

P = ParamSpec("P")
R = TypeVar("R")

StepCount: TypeAlias = "int | Literal['auto']"
Mathematics: TypeAlias = Literal["portable", "fast"]

RESERVED = (
    *("self", "kernel", "n", "out", "buffer", "dtype", "layout", "steps", "max_steps", "threads"),
    *("every", "progress", "on_progress", "count_steps", "allocated", "done", "finished"),
    *("report", "status", "steps_taken"),
)
"""Names of options and results, which a plane may therefore not have."""

MATHEMATICS: tuple[Mathematics, ...] = ("portable", "fast")
WIDTHS = {"float64": DType.F64, "float32": DType.F32}


class Ready(NamedTuple):
    """A program that was compiled."""

    traced: Traced
    compiled: Compiled
    kept: dict[Any, Any]
    """What whoever runs it keeps with it, by a key of his own."""


_NONE_UNIFORM: frozenset[str] = frozenset()


class Program:
    """The step function of a kernel, traced and compiled once for each way it is called.

    A way is the float width and the inputs that are one number for all samples. Kernels that
    differ only in how many steps a launch takes share a program.
    """

    def __init__(
        self, function: FunctionType, *, contract: bool, checks: bool, math: Mathematics
    ) -> None:
        self.function = function
        self.contract, self.checks = contract, checks
        self.math: Mathematics = math
        self.source = Source.of(function)
        self.signature: Signature = read(function, self.source, RESERVED)
        self._traced: dict[tuple[DType, frozenset[str]], Traced] = {}
        self._compiled: dict[tuple[DType, frozenset[str], bool], Ready] = {}
        self._lone: dict[tuple[DType, frozenset[str], bool], Ready] = {}
        """The same as code that advances one sample at a time."""

    def trace(self, real: DType, uniform: frozenset[str]) -> Traced:
        """The program as the source says it, traced again when a global it read has changed."""
        traced = self._traced.get((real, uniform))
        if traced is not None and traced.is_current():
            return traced
        with compiling():
            # The walker is half of hawk; whoever only declares kernels need not wait for it.
            from hawk.frontend.trace import trace

            try:
                traced = trace(
                    self.source,
                    self.signature,
                    real=real,
                    uniform=uniform,
                    contract=self.contract,
                    checks=self.checks,
                    fast=self.math == "fast",
                )
            except HawkError as error:
                # The message has the place in the user's file; hawk's own frames would bury it.
                raise error.public from error.__cause__
            self._traced[real, uniform] = traced
            return traced

    def compile(
        self, real: DType, uniform: frozenset[str], *, count_steps: bool = False
    ) -> Compiled:
        traced = self.trace(real, uniform)
        way = (real, uniform, count_steps)
        known = self._compiled.get(way)
        if known is not None and known.traced is traced:
            return known.compiled
        with compiling():
            known = self._compiled.get(way)
            if known is None or known.traced is not traced:
                program = self._whole(traced, count_steps=count_steps)
                known = Ready(traced, _with_phases(self.function, program, uniform), {})
                self._compiled[way] = known
            return known.compiled

    def function_of(self, compiled: Compiled) -> Function | None:
        """The program that `compile` made `compiled` of; None where it is gone."""
        way = self._way_of(compiled)
        if way is None:
            return None
        ready = self._compiled[way]
        if not way[2] and not self.checks:
            return ready.traced.function
        with compiling():  # or two threads would have two of it, each with code of its own
            if Function not in ready.kept:
                ready.kept[Function] = self._whole(ready.traced, count_steps=way[2])
            return ready.kept[Function]

    def _whole(self, traced: Traced, *, count_steps: bool) -> Function:
        """What was traced, and what is counted and looked at besides."""
        program = _counting(traced.function) if count_steps else traced.function
        return _checking(program, traced) if self.checks else program

    def _way_of(self, compiled: Compiled) -> tuple[DType, frozenset[str], bool] | None:
        ways = (way for way, known in self._compiled.items() if known.compiled is compiled)
        return next(ways, None)

    def lone(self, compiled: Compiled) -> Compiled:
        """The code of the same program that advances one sample at a time, as a GPU's thread does.

        `compiled` is what `compile` gave.
        """
        way = self._way_of(compiled)
        if way is None:  # a global has changed since: what is compiled now is another program
            return compiled
        ready = self._compiled[way]
        with compiling():
            known = self._lone.get(way)
            if known is None or known.traced is not ready.traced:
                _, uniform, count_steps = way
                program = self._whole(ready.traced, count_steps=count_steps)
                compiled = _with_phases(self.function, program, uniform, lone=True)
                known = self._lone[way] = Ready(ready.traced, compiled, {})
            return known.compiled

    def ready(self, real: DType) -> Ready | None:
        """What is compiled already for float width `real` and arrays for all inputs.

        None where nothing is, or where a global has changed since.
        """
        known = self._compiled.get((real, _NONE_UNIFORM, False))
        return known if known is not None and known.traced.is_current() else None


def _counting(fn: Function) -> Function:
    from hawk.passes.count_steps import count_steps

    return count_steps(fn)


def _checking(fn: Function, traced: Traced) -> Function:
    from hawk.frontend.events import with_planes

    return with_planes(fn, traced.events)


def _with_phases(
    function: FunctionType, fn: Function, uniform: frozenset[str], *, lone: bool = False
) -> Compiled:
    """Native code of the traced program `fn`, and of what each sample gives to its reductions."""
    if not fn.reductions and not fn.scatters:
        return _code(function, fn, uniform, lone=lone)
    from hawk.passes.phases import given_to, plane_given_to, step_of  # few kernels need it

    phases = tuple(
        Phase(
            plane_given_to(fn, each) or _code(function, given_to(fn, each), uniform, lone=lone),
            each.value.dtype,
            each.kind,
            each.plane,
            each.lines,
        )
        for each in fn.reductions
    )
    step = _code(function, step_of(fn), uniform, lone=lone)
    return replace(step, phases=phases, scatters=fn.scatters)


def _code(
    function: FunctionType, fn: Function, uniform: frozenset[str], *, lone: bool = False
) -> Compiled:
    numbers = f", one number for all samples: {', '.join(sorted(uniform))}" if uniform else ""
    name, file = function.__qualname__, function.__code__.co_filename
    return native_code(fn, name=name, file=file, way=f"{fn.real.hawk}{numbers}", lone=lone)


class Kernel(Generic[P, R]):
    """One step of one sample, ready to be run over a batch.

    Made by `@hawk.kernel`. Keeps the function's name, documentation and signature; the function
    itself is `__wrapped__`. Calling a kernel launches it once on the arrays given, see
    `eagle.deploy`.
    """

    def __init__(self, program: Program, *, steps: StepCount, dtype: str | None) -> None:
        self.program = program
        self.steps = steps
        self.dtype = dtype
        functools.update_wrapper(self, program.function)
        self.__signature__ = inspect.signature(program.function)

    @property
    def name(self) -> str:
        return self.program.function.__name__

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The planes that are passed, in the order of the signature."""
        return self.program.signature.parameters

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The planes that `return` fills: `out`, or `out0`, `out1` ..."""
        return self.program.signature.outputs

    @property
    def nesting(self) -> Nesting:
        """How `return` is nested: None (nothing), `"one"` or `"tuple"`."""
        return self.program.signature.nesting

    @property
    def steps_max(self) -> int:
        """The most steps one launch takes with `steps="auto"`."""
        return STEPS_MAX

    @property
    def step(self) -> Kernel[P, R]:
        """The same kernel with one step a launch."""
        return steps(self, 1)

    def trace(self, real: DType, uniform: frozenset[str] = frozenset()) -> Function:
        """The program for float width `real`, before any pass.

        `uniform` names the inputs that are one number for all samples. Raises HawkError.
        """
        return self.program.trace(real, uniform).function

    def compile(
        self, real: DType, uniform: frozenset[str] = frozenset(), *, count_steps: bool = False
    ) -> Compiled:
        """The native code for float width `real`, made at the first use and kept.

        `count_steps`: with one more state plane, `steps_taken`, that counts a sample's own steps.
        Raises HawkError.
        """
        return self.program.compile(real, uniform, count_steps=count_steps)

    def ready(self, real: DType) -> Ready | None:
        """What is compiled already; see `Program.ready`."""
        return self.program.ready(real)

    @property
    def contract(self) -> bool:
        """Does `a * b + c` inside one expression mean one fused multiply-add?"""
        return self.program.contract

    @property
    def checks(self) -> bool:
        """Are assertions, prints, NaN and lost numbers reported? See `hawk.checks`."""
        return self.program.checks

    @property
    def math(self) -> Mathematics:
        """`"portable"`, or `"fast"`: functions may be off by 4 units in the last place."""
        return self.program.math

    @property
    def source(self) -> Source:
        """The function as it is written."""
        return self.program.source

    @property
    def signature(self) -> Signature:
        """The planes, as the annotations declare them."""
        return self.program.signature

    @property
    def ir(self) -> str:
        """The program after the passes, as text.

        It shows what is done once a launch, once a sample, and in each step.
        """
        from hawk.ir.printer import to_text  # loaded by who looks

        return to_text(self._optimised())

    def explain(self, *, dtype: str | None = None) -> None:
        """Print what the kernel is, what becomes of it, how much work it is, and what limits it.

        `dtype` says for which float width: `"float64"` or `"float32"`. Compiles it for this
        machine. Raises ValueError for a width that the kernel cannot have.
        """
        from hawk.explain import explanation  # loaded by who looks

        print(explanation(self, dtype=dtype), end="")

    def llvm(self) -> str:
        """The LLVM text made for this machine."""
        from hawk.targets.cpu.compile import llvm_text  # loads llvmlite

        return llvm_text(self._optimised())

    def asm(self) -> str:
        """The assembly made for this machine."""
        from hawk.targets.cpu.compile import asm_text  # loads llvmlite

        return asm_text(self._optimised())

    def ptx(self, arch: str = "sm_75", *, dtype: str | None = None) -> str:
        """The PTX made for one of NVIDIA's GPUs; no GPU and no compiler is needed.

        `arch` is its compute capability, `"sm_75"` or newer. `dtype` says for which float width.
        Each thread takes samples, one after the other; `hawk/targets/thread.py` says which
        parameters it has. Of a kernel that reduces or scatters there is one for each part of its
        step, see `hawk/targets/ptx/collective.py`. Raises HawkError for a chip that is not known,
        ValueError for a width that the kernel cannot have.
        """
        from hawk.passes.pipeline import optimise  # loaded by who looks
        from hawk.targets.ptx.collective import collective
        from hawk.targets.ptx.compile import ptx_text

        traced = self.trace(self.width(dtype))
        if traced.reductions or traced.scatters:
            return collective(traced, arch).ptx
        return ptx_text(optimise(traced), arch)

    def width(self, dtype: str | None) -> DType:
        """The float width of that name; None is the kernel's own, else float64.

        Raises ValueError for one that is not there or not the kernel's own.
        """
        if dtype is not None and dtype not in WIDTHS:
            raise ValueError(f'dtype must be "float64" or "float32", got {dtype!r}')
        if dtype is not None and self.dtype not in (None, dtype):
            raise ValueError(f"{self.name} is made for dtype={self.dtype!r}, not {dtype!r}")
        return WIDTHS[dtype or self.dtype or "float64"]

    def _optimised(self) -> Function:
        from hawk.passes.phases import step_of  # loaded by who looks
        from hawk.passes.pipeline import optimise

        real = WIDTHS[self.dtype or "float64"]
        return optimise(step_of(self.trace(real)))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Launch once: `steps=K` takes K steps, 1 and `"auto"` take one. See `eagle.deploy`."""
        # The one place where hawk knows eagle: who calls a kernel has arrays to run it over.
        from eagle.deploy import deploy

        return deploy(self)(*args, **kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        from hawk.pickling import reduce  # for the few who pickle

        return reduce(self)

    def __copy__(self) -> Kernel[P, R]:
        return self

    def __deepcopy__(self, memo: object) -> Kernel[P, R]:
        return self

    def __get__(self, instance: object, owner: type | None = None) -> Kernel[P, R]:
        # A kernel in a class body is a constant of the class, not a method: it has no `self`.
        return self

    def __repr__(self) -> str:
        signature = self.program.signature
        planes = ", ".join(f"{each.name}: {_describe(each)}" for each in signature.declared)
        gives = "".join(f" -> {each.type_name}" for each in signature.returned[:1])
        more = ", ..." if len(signature.returned) > 1 else ""
        fast = ', math="fast"' if self.math == "fast" else ""
        return f"<hawk.kernel {self.name}({planes}){gives}{more}, steps={self.steps!r}{fast}>"


def _describe(parameter: Parameter | Bundle) -> str:
    element = parameter.type_name
    match parameter.role:
        case Role.STATE:
            return f"Mutable[{element}]"
        case Role.UNIFORM:
            return "Param" if element == "Scalar" else f"Param[{element}]"
        case Role.MASK:
            return "Terminated"
        case Role.TABLE:
            return element
        case Role.SHARED:
            return f"Mutable[{element}]"
        case Role.INPUT | Role.OUTPUT | Role.INDEX:
            return element


@overload
def kernel(function: Callable[P, R], /) -> Kernel[P, R]: ...
@overload
def kernel(
    *,
    steps: StepCount = 1,
    dtype: str | None = None,
    contract: bool = True,
    checks: bool = False,
    math: Mathematics = "portable",
) -> Callable[[Callable[P, R]], Kernel[P, R]]: ...
def kernel(
    function: Callable[P, R] | None = None,
    /,
    *,
    steps: StepCount = 1,
    dtype: str | None = None,
    contract: bool = True,
    checks: bool = False,
    math: Mathematics = "portable",
) -> Kernel[P, R] | Callable[[Callable[P, R]], Kernel[P, R]]:
    """Make a kernel of a function that computes one step of one sample.

    `steps`: how many steps a launch takes at most: 1, a number K (needs a `Mutable` parameter), or
    `"auto"` (needs a `Terminated` parameter; eagle chooses, up to `steps_max`).
    `dtype`: `"float64"` or `"float32"` fixes the float width; else the arrays of each call do.
    `contract`: whether `a * b + c` inside one expression means one fused multiply-add.
    `checks`: whether `assert`, `print` and `hawk.debug` are heeded, and numbers that become NaN or
    do not fit an integer are reported, after a run; without it they cost nothing.
    `math`: `"portable"` computes elementary functions to 1 unit in the last place, `"fast"` to 4
    and in less time; of kernels called in this one, too. Special values are the same, divisions
    and roots are exact in both, and both give the same bits on every machine.

    The source is read now, so whatever the text alone can tell is told now; names are looked up at
    the first use. Raises HawkError, and TypeError or ValueError for a wrong option.
    """

    def decorate(function: Callable[P, R]) -> Kernel[P, R]:
        if isinstance(function, Kernel):
            raise TypeError(f"{function.name} is a kernel already; decorate it once")
        if not isinstance(function, FunctionType):
            raise _no_function(function)
        return _made(Program(function, contract=contract, checks=checks, math=math), steps, dtype)

    for name, given in (("contract", contract), ("checks", checks)):
        if not isinstance(given, bool):
            raise TypeError(f"{name} must be True or False, got {given!r}")
    if dtype is not None and dtype not in WIDTHS:
        meant = f'; write dtype="{_name(dtype)}"' if _name(dtype) in WIDTHS else ""
        raise ValueError(f'dtype must be "float64", "float32" or None, got {dtype!r}{meant}')
    if math not in MATHEMATICS:
        raise ValueError(f'math must be "portable" or "fast", got {math!r}')
    if function is not None and not callable(function):
        name = "steps" if function == "auto" or isinstance(function, int) else "..."
        raise TypeError(f"options have names; write @hawk.kernel({name}={function!r})")
    return decorate if function is None else decorate(function)


def _name(value: object) -> str:
    return getattr(value, "__name__", "")


def _no_function(given: object) -> TypeError:
    """The error of a kernel made of something that is no plain function."""
    kind, fix = f"a {type(given).__name__}", "write a `def` that calls it, and decorate that"
    if isinstance(given, type):
        kind, fix = f"the class {given.__name__}", "decorate a `def`"
    elif isinstance(given, (staticmethod, classmethod)):
        fix = f"leave @{type(given).__name__} out: a kernel in a class gets no self"
    elif isinstance(given, BuiltinFunctionType):
        kind = f"{given.__name__}, which is not written in Python"
    return TypeError(f"@hawk.kernel decorates a function, got {kind}; {fix}")


def steps(kernel: Kernel[P, R], count: StepCount) -> Kernel[P, R]:
    """The same kernel with `count` steps a launch: a number from 1, or `"auto"`.

    Raises ValueError for anything else, HawkError when the kernel cannot take that many.
    """
    if not isinstance(kernel, Kernel):
        given = _name(kernel) or repr(kernel)
        raise TypeError(f"hawk.steps changes a kernel made by @hawk.kernel, got {given}")
    return _made(kernel.program, count, kernel.dtype)


def _made(program: Program, count: Any, dtype: str | None) -> Kernel[Any, Any]:
    roles = {parameter.role for parameter in program.signature.parameters}
    head = program.source.head()
    if count == "auto":
        if Role.MASK not in roles:
            raise HawkError(
                "H111",
                'steps="auto" runs until each sample is done, and nothing says when',
                head,
                "add the parameter `terminated: Terminated`, and `terminated = ...` to the body",
            )
    elif isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ValueError(f'steps must be a number from 1 or "auto", got {count!r}')
    elif count > 1 and not roles & {Role.STATE, Role.SHARED}:
        raise HawkError(
            "H111",
            f"steps={count} repeats a step that changes nothing: there is no Mutable parameter",
            head,
            "steps=1, or make what changes from step to step a Mutable[...]",
        )
    return Kernel(program, steps=count, dtype=dtype)
