"""What to say of a value that is not the plane it was given for.

That is what was expected, what came, and what to write instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eagle.interop.base import NUMPY as NUMPY_SPELLING
from eagle.interop.base import Foreign, Spelling, foreign
from eagle.interop.cuda_array import is_described
from eagle.overlap import overlaps_itself
from eagle.params import is_number, shown
from eagle.planes import NUMPY, Shape, view_of
from hawk.annotations import GridForm, TableForm
from hawk.ir.nodes import CHANGED, Role
from hawk.ir.types import DType


def misfit(
    name: str, value: object, dtype: DType, shape: Shape, *, role: Role, like: str = ""
) -> str:
    """Why `value` is not the plane `name`, in one sentence.

    `like` says what the shape was taken from, such as " like 'x'".
    """
    array, other = view_of(value), foreign(value)
    expected = f"{dtype.numpy} {'(n,)' if shape is None else shape}"
    if array is not None:
        expected = " ".join((*_needed(array, role), expected)) + like * (array.shape != shape)
        got, fix = _of_array(name, value, array, dtype, shape, role, other or Foreign(None))
    elif other is None:
        got, fix = _of_no_array(name, value, dtype, shape, role)
    elif role is Role.OUTPUT:
        got, fix = other.got, _empty(dtype, shape, NUMPY_SPELLING)
    else:
        got, fix = other.got, other.fix.format(x=name, dtype=dtype.numpy)
    return f"expected {expected}, got {got}" + (f"; write {fix}" if fix else "")


def table_misfit(
    name: str,
    value: object,
    dtype: DType,
    form: TableForm,
    *,
    role: Role,
    lenient: bool,
    like: str = "",
) -> str:
    """Why `value` is not the table or the grid `name`, in one sentence; empty where it is one.

    `role`: TABLE, or SHARED for one that is written; of a grid INPUT, STATE or OUTPUT. `lenient`:
    will it be copied where it is strided? `like` says what the shape of a grid was taken from, such
    as " like 'p'".
    """
    array, other = view_of(value), foreign(value)
    extents, written, grid = form.extents, role in CHANGED, isinstance(form, GridForm)
    noun = f"a {form.kind.lower()}"
    expected = f"{noun}, {dtype.numpy} {extents_of(form)}"
    made = _empty_grid(dtype, form) if role is Role.OUTPUT else ""
    if array is None:
        got, fix = shown(value), ""
        if made:
            got, fix = got if other is None else other.got, made
        elif other is not None:
            got, fix = other.got, other.fix.format(x=name, dtype=dtype.numpy)
        elif is_number(value) and grid:
            fix = f"np.full({extents_of(form)}, {name})"
        elif is_number(value):
            fix = f"np.array([{name}])" if len(extents) == 1 else ""
        else:
            got, fix = _of_no_array(name, value, dtype, None, Role.STATE if written else Role.INPUT)
            fix = "rows of one length" if fix == "one number a sample" else fix
            if grid:
                fix = fix.replace("np.zeros(n", f"np.zeros({extents_of(form)}")
        return f"expected {expected}, got {got}" + (f"; write {fix}" if fix else "")
    contiguous = array.flags.c_contiguous or lenient
    fits = array.ndim == len(extents) and all(
        known in (None, extent) for known, extent in zip(extents, array.shape, strict=True)
    )
    usable = array.flags.aligned and contiguous
    if written:
        usable = usable and array.flags.writeable and not overlaps_itself(array)
    if fits and array.dtype == NUMPY[dtype] and usable:
        if array.size < 2**31 and (array.size or grid):
            return ""
        return f"expected {expected}, got {array.dtype} {array.shape}; " + (
            f"{noun} has at least one element" if not array.size else "the largest has 2**31-1"
        )
    if fits and not contiguous:
        expected = expected.replace(noun, noun.replace("a ", "a C-contiguous "))
    if written and not array.flags.writeable:
        expected = expected.replace("a ", "a writable ", 1)
    expected += like * (not fits)
    spelling = Foreign(None).spelling if other is None else other.spelling
    got = _described(array, written=written) + ("" if other is None else other.note)
    if fits and not contiguous and array.ndim > 1:
        got += " in another order of its elements"
    said = f"expected {expected}, got {got}"
    if made:
        return f"{said}; write {made}"
    fix = text = spelling.array.format(x=name)
    if not fits:
        fix = _reformed(fix, array, form)
        if not fix and grid and (like or array.ndim != len(extents)):
            return f"{said}; all planes of a grid have one shape"
        if not fix:
            axes = form.axes if array.ndim == len(extents) else ()
            declared = replace(form, extents=(None,) * array.ndim, axes=axes).name
            declared = f"Mutable[{declared}]" if written else declared
            return said + (f"; declare it `{name}: {declared}`" if array.ndim else "")
    if not _fits(array, dtype):
        return said + f"; some of its numbers do not fit {dtype.numpy}"
    turned = fix != text
    fix = _retyped(fix, array, dtype, Role.INPUT, spelling) if array.dtype != NUMPY[dtype] else fix
    if array.dtype == NUMPY[dtype] and not turned:
        copied = not array.flags.aligned or (written and not array.flags.writeable)
        fix = (spelling.copy if copied else spelling.contiguous).format(x=fix)
    return f"{said}; write {fix}" if fix else said


def _empty_grid(dtype: DType, form: TableForm) -> str:
    """A new array to return a grid into."""
    dtype_too = "" if dtype is DType.F64 else f", np.{dtype.numpy}"
    return f"np.empty({extents_of(form)}{dtype_too})"


def extents_of(form: TableForm) -> str:
    """The shape of a table, with the names of its axes, or letters, where they may be any."""
    letters = form.axes or tuple("mklpqrstuvw"[: len(form.extents)])
    parts = [
        letter if known is None else str(known)
        for letter, known in zip(letters, form.extents, strict=True)
    ]
    return f"({', '.join(parts)}{',' * (len(parts) == 1)})"


def _reformed(name: str, array: NDArray[Any], form: TableForm) -> str:
    """What to write for an array of the form's shape; nothing where that is not known."""
    extents = form.extents
    if array.ndim == len(extents) > 1 and all(
        known in (None, extent) for known, extent in zip(extents, array.shape[::-1], strict=True)
    ):
        return f"np.ascontiguousarray({name}.T)"
    unknown = extents.count(None)
    known = math.prod([extent for extent in extents if extent is not None])
    if array.ndim != len(extents) and array.size and unknown <= 1 and array.size % known == 0:
        if not unknown and array.size != known:
            return ""
        shape = ", ".join("-1" if extent is None else str(extent) for extent in extents)
        return f"{name}.reshape({shape})"
    return ""


def misfit_of_whole(
    name: str,
    value: object,
    dtype: DType,
    inner: tuple[int, ...],
    shape: Shape,
    *,
    first: bool,
    role: Role,
    like: str = "",
) -> str:
    """Why `value` is not the plane `name` of small arrays of shape `inner`, in one sentence.

    `first`: its samples are the first axis. `like` says what the number of samples is taken from.
    """
    array, other = view_of(value), foreign(value)
    tail: tuple[Any, ...] = ("n",) if shape is None else shape
    sizes = (*tail, *inner) if first and tail else (*inner, *tail)
    whole = f"({', '.join(map(str, sizes))}{',' * (len(sizes) == 1)})"
    spelling = NUMPY_SPELLING if other is None else other.spelling
    made = ""
    if role is Role.OUTPUT and shape is not None:
        dtype_too = "" if dtype is DType.F64 else f", np.{dtype.numpy}"
        made = spelling.empty.format(shape=whole, dtype=dtype.numpy, dtype_too=dtype_too)
    if array is None:
        got = shown(value) if other is None else other.got
        if isinstance(value, (list, tuple)):
            got, fix = _of_list(name, value, dtype)
            if fix.startswith("one number"):
                return f"expected {dtype.numpy} {whole}, got {got}"
        fix = made or _whole_of_no_array(name, value, dtype, whole if shape else "", role)
        return f"expected {dtype.numpy} {whole}, got {got}" + (f"; write {fix}" if fix else "")
    axis = 0 if first else array.ndim - 1
    samples = array.shape[axis] if array.ndim else 0
    components = (array.shape[:axis] + array.shape[axis + 1 :]) if array.ndim else ()
    holds = components in (inner, (math.prod(inner),))
    fits = shape is None or (holds and (samples,) == shape) or array.shape == sizes
    strided = holds and fits and samples > 1 and array.strides[axis] != array.itemsize
    needed = [each for each in _needed(array, role) if each != "contiguous"]
    needed += ["contiguous"] * strided
    got = _described(array, written=role is not Role.INPUT)
    if strided:
        got += f" with a stride of {array.strides[axis]} bytes between samples"
    got += "" if other is None else other.note
    text = f"expected {' '.join((*needed, dtype.numpy, whole))}{like * (not fits)}, got {got}"
    fix, text_of = made, spelling.array.format(x=name)
    count = math.prod(shape or ())
    if fix:
        pass
    elif not fits and array.shape in (inner, (math.prod(inner),)):
        index = ", ".join([":"] * array.ndim)
        fix = f"np.repeat({text_of}[{index}, None], {count}, axis=-1)"
    elif not fits and not (holds and samples > count > 1):
        numbers = f"{math.prod(inner)} number{'s' * (math.prod(inner) > 1)}"
        return f"{text}; each sample has {numbers}"
    else:
        if not fits:
            text_of = f"{text_of}[:{count}]" if first else f"{text_of}[..., :{count}]"
        fix = _retyped(text_of, array, dtype, role, spelling)
        if strided and fix == text_of:
            turned = f"{text_of}.T" if first and array.ndim == 2 else text_of
            fix = spelling.contiguous.format(x=turned)
    return f"{text}; write {fix}" if fix else text


def _whole_of_no_array(name: str, value: object, dtype: DType, whole: str, role: Role) -> str:
    """What to write for what is no array, where small arrays are needed."""
    other = foreign(value)
    if other is not None:
        return other.fix.format(x=name, dtype=dtype.numpy)
    if is_number(value):
        return f"np.full({whole}, {name})" if whole else ""
    make = "asarray" if role is Role.INPUT or isinstance(value, (list, tuple)) else "array"
    if isinstance(value, (list, tuple)) or can_be_array(value):
        return f"np.{make}({name}, dtype=np.{dtype.numpy})"
    dtype_too = "" if dtype is DType.F64 else f", np.{dtype.numpy}"
    return f"an array, such as np.zeros({whole}{dtype_too})" if whole else ""


def copy_of(name: str, value: object) -> str:
    """What to write for a copy of an array."""
    other = foreign(value)
    spelling = NUMPY_SPELLING if other is None else other.spelling
    return spelling.copy.format(x=spelling.array.format(x=name))


# -- arrays ----------------------------------------------------------------------------------------


def _of_array(
    name: str,
    value: object,
    array: NDArray[Any],
    dtype: DType,
    shape: Shape,
    role: Role,
    other: Foreign,
) -> tuple[str, str]:
    """What came and what to write, for an array."""
    spelling = other.spelling
    got = _described(array, written=role is not Role.INPUT) + other.note
    name = spelling.array.format(x=name)
    if isinstance(value, np.matrix):
        got = f"a matrix {array.shape}, which always has two dimensions"
        name = f"np.asarray({name})"
    if role is Role.OUTPUT:
        return got, _empty(dtype, shape, spelling)
    if array.dtype.names:
        name = f"{name}[{array.dtype.names[0]!r}]"
        array = array[array.dtype.names[0]]
    fix, problem = _reshaped(name, array, shape, spelling)
    if not problem and not _fits(array, dtype):
        problem = f"some of its numbers do not fit {dtype.numpy}"
    if problem:
        return f"{got}; {problem}", ""
    fix = _retyped(fix, array, dtype, role, spelling)
    if isinstance(value, np.memmap) and fix.endswith(".copy()"):
        fix += ', or open the file with mode="r+"'
    return got, fix


def _described(array: NDArray[Any], *, written: bool) -> str:
    """Type, shape, and all else that keeps an array from being a plane."""
    if array.dtype.names:
        return f"a structured array of {', '.join(array.dtype.names)} {array.shape}"
    read_only = "read-only " if written and not array.flags.writeable else ""
    notes: list[str] = []
    if not array.dtype.isnative:
        notes.append(f"in the other byte order ({array.dtype.str})")
    if array.ndim == 1 and not array.flags.c_contiguous:
        notes.append(f"with a stride of {array.strides[0]} bytes")
    if not array.flags.aligned:
        notes.append("at an address that is not a multiple of its size")
    if written and not read_only and overlaps_itself(array):
        notes.append("whose elements share memory")
    kind = f"{read_only}{array.dtype.newbyteorder('=')} {array.shape}"
    return " ".join((kind, ", ".join(notes))) if notes else kind


def _needed(array: NDArray[Any], role: Role) -> list[str]:
    """What a plane has to be and this array is not, besides its type and shape."""
    needed: list[str] = []
    if role is not Role.INPUT and not array.flags.writeable:
        needed.append("writable")
    if array.ndim == 1 and not array.flags.c_contiguous:
        needed.append("contiguous")
    if not array.flags.aligned:
        needed.append("aligned")
    return needed


def _reshaped(name: str, array: NDArray[Any], shape: Shape, spelling: Spelling) -> tuple[str, str]:
    """What to write for an array of the right shape; what is wrong where nothing would do."""
    if shape is None or array.shape == shape:
        return name, ""
    n = math.prod(shape)
    if array.ndim == 0:
        return spelling.full.format(x=name, n=n), ""
    if array.size == n:
        return (spelling.flat.format(x=name) if shape else f"{name}[0]"), ""
    if array.ndim > 1:
        return "", f"a plane has one element a sample, {n} in all"
    if array.size == 1:
        return spelling.repeat.format(x=name, n=n), ""
    if array.size > n > 1:
        return f"{name}[:{n}]", ""
    return "", "give every plane one element a sample"


def _fits(array: NDArray[Any], dtype: DType) -> bool:
    """Can each number be one of type `dtype`, as far as integers go?"""
    if array.dtype.kind not in "iu" or not dtype.is_int or not array.size:
        return True
    if is_described(array):
        return True  # nobody here can read them
    bounds = np.iinfo(NUMPY[dtype])
    return bounds.min <= int(array.min()) and int(array.max()) <= bounds.max


def _retyped(name: str, array: NDArray[Any], dtype: DType, role: Role, spelling: Spelling) -> str:
    """What to write for an array of the right type and layout; nothing where nothing would do."""
    kind, written = array.dtype.kind, role is not Role.INPUT
    if array.dtype != NUMPY[dtype]:
        if kind == "c":
            return f"{name}.real.astype(np.{dtype.numpy}), and .imag for another plane"
        if kind in "mM":
            since = f"({name} - {name}[0])" if kind == "M" else name
            return f'{since} / np.timedelta64(1, "s")'
        if array.dtype.type is np.void:
            return ""
        if kind in "SUOT":
            return f"{name}.astype(np.{dtype.numpy}), if these are numbers"
        return spelling.cast.format(x=name, dtype=dtype.numpy)
    if not array.flags.aligned or (written and not array.flags.writeable):
        return spelling.copy.format(x=name)
    if not array.flags.c_contiguous and array.ndim == 1:
        return spelling.contiguous.format(x=name)
    return name


def _empty(dtype: DType, shape: Shape, spelling: Spelling) -> str:
    """A new array to return into."""
    size = "n" if shape is None else str(shape[0]) if shape else "()"
    dtype_too = "" if dtype is DType.F64 else f", np.{dtype.numpy}"
    return spelling.empty.format(shape=size, dtype=dtype.numpy, dtype_too=dtype_too)


# -- other things ----------------------------------------------------------------------------------


def _of_no_array(
    name: str, value: object, dtype: DType, shape: Shape, role: Role
) -> tuple[str, str]:
    """What came and what to write, for what is no array."""
    if isinstance(value, np.ma.MaskedArray):
        return _of_masked(name, value)
    if role is Role.OUTPUT:
        return shown(value), _empty(dtype, shape, NUMPY_SPELLING)
    if is_number(value):
        return shown(value), _filled(name, value, dtype, shape)
    if isinstance(value, (list, tuple, range)):
        return _of_list(name, value, dtype)
    if can_be_array(value):
        # What a table gives may be read-only or a copy already: state is better off with its own.
        make = "asarray" if role is Role.INPUT else "array"
        return shown(value), f"np.{make}({name}, dtype=np.{dtype.numpy})"
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, dict)):
        return shown(value), f"np.fromiter({name}, np.{dtype.numpy})"
    size = "n" if shape is None else shape[0] if shape else "()"
    dtype_too = "" if dtype is DType.F64 else f", np.{dtype.numpy}"
    return shown(value), f"an array, such as np.zeros({size}{dtype_too})"


def _of_list(name: str, value: Any, dtype: DType) -> tuple[str, str]:
    try:
        np.asarray(value)
    except ValueError:
        return f"{shown(value)} of rows that differ in length", "one number a sample"
    return shown(value), f"np.asarray({name}, dtype=np.{dtype.numpy})"


def can_be_array(value: object) -> bool:
    """Can NumPy make an array of `value` that holds its numbers: a column of a table, a buffer?"""
    if value is None or isinstance(value, (str, bytes, type)):
        return False
    if hasattr(type(value), "__array__") or hasattr(type(value), "__array_interface__"):
        return True
    try:
        memoryview(value).release()  # pyright: ignore[reportArgumentType]
    except TypeError:
        return False
    return True


def _of_masked(name: str, value: np.ma.MaskedArray[Any, Any]) -> tuple[str, str]:
    got = f"a masked array, {value.dtype} {value.shape}"
    if not np.ma.is_masked(value):
        return f"{got}, of which nothing is masked", f"{name}.data"
    fill = "np.nan" if value.dtype.kind in "fc" else "0"
    return f"{got}, and kernels know no masks", f"{name}.filled({fill})"


def _filled(name: str, value: Any, dtype: DType, shape: Shape) -> str:
    """A new array of one number."""
    dtype_too = "" if np.asarray(value).dtype == NUMPY[dtype] else f", np.{dtype.numpy}"
    if shape == ():
        return f"np.array({name}{dtype_too})"
    return f"np.full({'n' if shape is None else shape[0]}, {name}{dtype_too})"
