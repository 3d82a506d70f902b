"""Kernels as pickles: by name where they can be imported, else as the text they are made of.

A kernel of a notebook, of the program itself (`__main__`) or inside a function cannot be imported.
Its pickle holds the text of its file, its options, and what it reads from outside: globals, the
closure, and, in the same way, functions and dataclasses that cannot be imported either.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import functools
import hashlib
import importlib
import inspect
import linecache
import operator
import pickle
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from importlib.machinery import ModuleSpec
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

from hawk import pickled_classes as classes
from hawk.errors import HawkError
from hawk.frontend.bundles import is_bundle
from hawk.frontend.source import Source, _find, _functions, read_names
from hawk.kernel import Kernel, Program
from hawk.kernel import _made as with_options
from hawk.pickled_texts import (
    PROGRAM_ITSELF,
    Alias,
    ClassText,
    Container,
    FileText,
    FunctionText,
    KernelText,
    ModuleName,
    ObjectText,
    alike,
)

_FUTURE = functools.reduce(
    operator.or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)
"""The flags of code objects that a `from __future__` has set."""

_OPTIONS = tuple(
    each.name
    for each in inspect.signature(Program).parameters.values()
    if each.kind is each.KEYWORD_ONLY
)

# -- to a pickle -----------------------------------------------------------------------------------


def reduce(kernel: Kernel[..., Any]) -> tuple[Any, ...]:
    """What `Kernel.__reduce__` gives."""
    if _is_imported(kernel):
        function = kernel.program.function
        return by_name, (function.__module__, function.__qualname__, kernel.steps, kernel.dtype)
    return by_text, (_Writer().kernel(kernel),)


def _is_imported(thing: Kernel[..., Any] | FunctionType | type) -> bool:
    """Can another process import `thing` by its name?"""
    function = thing.program.function if isinstance(thing, Kernel) else thing
    module, path = function.__module__, function.__qualname__
    if module in PROGRAM_ITSELF or not _can_be_imported(sys.modules.get(module)):
        return False
    found = _named(module, path)
    if isinstance(thing, Kernel):  # any number of steps will do, it is pickled too
        return isinstance(found, Kernel) and found.program is thing.program
    return found is thing


def _can_be_imported(module: ModuleType | None) -> bool:
    """Does an import find the very file that `module` came from?"""
    spec: ModuleSpec | None = getattr(module, "__spec__", None)
    if spec is None:
        return False
    parent, _, _ = spec.name.rpartition(".")
    path = getattr(sys.modules.get(parent), "__path__", None) if parent else None
    if parent and path is None:
        return False
    for finder in sys.meta_path:
        found = finder.find_spec(spec.name, path)
        if found is not None:
            return found.origin == spec.origin
    return False


class _Writer:
    """Makes texts of one kernel and all it reads, each thing once."""

    def __init__(self) -> None:
        self._made: dict[int, Any] = {}
        self._files: dict[tuple[str, ...], FileText] = {}
        self._kept: list[object] = []
        """Keeps the things alive whose `id` is known."""

    def kernel(self, kernel: Kernel[..., Any]) -> KernelText:
        known = self._made.get(id(kernel))
        if known is None:
            program = kernel.program
            options = {name: getattr(program, name) for name in _OPTIONS}
            # It may read itself, so it is known before what it reads is.
            known = self._known(kernel, KernelText(kernel.steps, kernel.dtype, options))
            known.function = self.function(program.function, program.source)
        return known

    def _known(self, thing: object, text: Any) -> Any:
        self._kept.append(thing)
        self._made[id(thing)] = text
        return text

    def function(self, function: FunctionType, source: Source) -> FunctionText:
        known = self._made.get(id(function))
        if known is not None:
            return known
        file = self._files.setdefault(source.lines, FileText(source.file, source.lines))
        names = (
            *("__name__", "__qualname__", "__module__", "__doc__"),
            *("__defaults__", "__kwdefaults__", "__annotations__"),
        )
        place = (source.node.lineno, source.node.col_offset)
        flags = function.__code__.co_flags & _FUTURE
        text = self._known(function, FunctionText(file, place, flags))
        text.names = {name: self.value(getattr(function, name)) for name in names}
        text.globals = {
            name: self.value(function.__globals__[name])
            for name in sorted(_names_outside(function, source))
            if name in function.__globals__
        }
        text.cells = tuple(self._cell(cell) for cell in function.__closure__ or ())
        return text

    def _cell(self, cell: CellType) -> tuple[Any, ...]:
        try:
            contents = cell.cell_contents
        except ValueError:  # not assigned yet
            return ()
        return (self.value(contents),)

    def value(self, value: Any) -> Any:
        """What stands for `value` in the pickle: mostly itself."""
        if isinstance(value, ModuleType):
            return ModuleName(value.__name__)
        if isinstance(value, Kernel):
            return value if _is_imported(value) else self.kernel(value)
        if isinstance(value, FunctionType) and not _is_imported(value):
            with suppress(HawkError):  # it has no text, so perhaps pickle can do something with it
                return self.function(value, Source.of(value))
        if type(value) in (list, tuple, dict):
            return self._container(value)
        if isinstance(value, type) and is_bundle(value):
            return value if _is_imported(value) else self._class(value)
        if is_bundle(type(value)) and not _is_imported(type(value)):
            return classes.object_text(value, self.value)
        return classes.annotation(value, self.value)

    def _class(self, cls: type) -> ClassText:
        known = self._made.get(id(cls))
        if known is None:
            known = self._known(cls, classes.begun(cls))
            classes.finish(known, cls, self.value)
        return known

    def _container(self, value: Any) -> Any:
        known = self._made.get(id(value))
        if known is not None:
            return known
        self._known(value, value)  # for one that contains itself
        before = list(value.values() if isinstance(value, dict) else value)
        after = [self.value(each) for each in before]
        if all(a is b for a, b in zip(after, before, strict=True)):
            return value
        pairs = list(zip(value, after, strict=True)) if isinstance(value, dict) else after
        return self._known(value, Container(type(value), pairs))


def _names_outside(function: FunctionType, source: Source) -> set[str]:
    """Names that the function, its inner functions and its annotations read from outside."""
    args = source.node.args
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    annotations = [arg.annotation for arg in every if arg is not None]
    annotations.append(getattr(source.node, "returns", None))
    needed = {
        each.id for node in annotations if node is not None for each in _names_of_annotation(node)
    }
    read = {each.id for statement in source.body for each in read_names(statement)}
    codes = list(_codes(function.__code__))
    return needed | {name for code in codes for name in code.co_names if name in read}


def _names_of_annotation(node: ast.expr) -> Iterator[ast.Name]:
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            with suppress(SyntaxError):  # not a forward reference
                yield from read_names(ast.parse(each.value, mode="eval"))
    yield from read_names(node)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A code object and all inside it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)


# -- from a pickle ---------------------------------------------------------------------------------


def by_name(module: str, path: str, steps: Any, dtype: str | None) -> Kernel[..., Any]:
    """The kernel of that name, with these options."""
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, Kernel):
        raise pickle.UnpicklingError(
            f"{module}.{path} was a kernel where this pickle was made, and is none here; "
            "use the same version of that module in both processes"
        )
    if (found.steps, found.dtype) == (steps, dtype):
        return found
    return with_options(found.program, steps, dtype)


def by_text(text: KernelText) -> Kernel[..., Any]:
    """The kernel made of that text."""
    return _Reader().kernel(text)


class _Reader:
    """Makes what texts describe, each thing once."""

    def __init__(self) -> None:
        self._made: dict[int, Any] = {}

    def kernel(self, text: KernelText) -> Kernel[..., Any]:
        if id(text) not in self._made:
            assert text.function is not None
            function = self.function(text.function)
            if id(text) not in self._made:  # the function does not read the kernel itself
                program = Program(function, **text.options)
                self._made[id(text)] = with_options(program, text.steps, text.dtype)
        return self._made[id(text)]

    def function(self, text: FunctionText) -> FunctionType:
        if id(text) in self._made:
            return self._made[id(text)]
        code = _code(text)
        cells = tuple(CellType() for _ in code.co_freevars)
        names = {"__name__": text.names["__module__"], "__builtins__": builtins}
        function = FunctionType(code, names, closure=cells)
        self._made[id(text)] = function
        for name, value in text.names.items():
            setattr(function, name, self.value(value))
        # Kernels last: to make one, the annotations of its function must be known.
        for name, value in sorted(text.globals.items(), key=lambda item: _is_kernel(item[1])):
            names[name] = self.value(value)
        filled = [pair for pair in zip(cells, text.cells, strict=True) if pair[1]]
        for cell, (value,) in sorted(filled, key=lambda pair: _is_kernel(pair[1][0])):
            cell.cell_contents = self.value(value)
        return function

    def value(self, value: Any) -> Any:
        match value:
            case ModuleName(name):
                return importlib.import_module(name)
            case KernelText():
                return self.kernel(value)
            case FunctionText():
                return self.function(value)
            case ClassText():
                return self._class(value)
            case ObjectText():
                return classes.object_of(value, self.value)
            case Alias():
                return classes.alias(value, self.value)
            case Container(kind, values) if kind is dict:
                return {key: self.value(each) for key, each in values}
            case Container(kind, values):
                return kind([self.value(each) for each in values])
            case _:
                return value

    def _class(self, text: ClassText) -> type:
        if id(text) in self._made:
            return self._made[id(text)]
        here = _named(text.names["__module__"], text.names["__qualname__"])
        if isinstance(here, type) and is_bundle(here) and alike(text, _Writer().value(here)):
            # What a kernel gives back can then be pickled, and is of the class that is known here.
            self._made[id(text)] = here
            return here

        def known(made: type) -> None:
            self._made[id(text)] = made

        return classes.make(text, self.value, known)


def _named(module: str, path: str) -> Any:
    """What has that name in a module that was imported; None for nothing."""
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


def _is_kernel(value: object) -> bool:
    return isinstance(value, KernelText)


def _code(text: FunctionText) -> CodeType:
    """The compiled function, without running the file it stands in."""
    whole, file = "".join(text.file.lines), _registered(text.file)
    flags = text.future | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT  # a cell of a notebook may have it
    with warnings.catch_warnings(action="ignore"):  # they were given where it was first compiled
        module = compile(whole, file, "exec", flags=flags, dont_inherit=True)
    functions = _functions(whole, file)
    for code in _codes(module):
        node = _find(functions, code)
        if node is not None and (node.lineno, node.col_offset) == text.place:
            return code
    raise pickle.UnpicklingError(f"no function begins at {text.file.name}:{text.place[0]}")


def _registered(file: FileText) -> str:
    """The name under which `linecache` has the text, for kernels to be read from and for carets."""
    linecache.checkcache(file.name)
    here = linecache.getlines(file.name)
    if tuple(here) == file.lines:
        return file.name
    whole, name = "".join(file.lines), file.name
    if here:  # another text of that name
        name = f"<{file.name}, pickled, {hashlib.sha256(whole.encode()).hexdigest()[:8]}>"
    linecache.cache[name] = (len(whole), None, list(file.lines), name)
    return name
