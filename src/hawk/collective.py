"""What a kernel may ask of all samples of a batch, `hawk.sum(x)` and its like, and give to all.

    @hawk.kernel
    def centred(x: Mutable[Scalar]):
        x = x - hawk.mean(x)

Every sample computes its `x`; then all of them are reduced to one number, which each may go on
with. Samples that are done are left out, and so are those for which `where=` is False. On a grid
`hawk.sum(u, over="c")` reduces along the dimension "c" alone: each sample reads the number of its
own line. The order in which numbers are added is fixed (`hawk.ir.reduce` says which), so the
result has the same bits for any number of threads, at any vector width and on every machine. A
reduction stands where every sample comes by: not in a branch, a loop or after an early return. Of a
small array each element is reduced.

    @hawk.kernel
    def histogram(x: Scalar, counts: Mutable[Table[Index]]):
        hawk.scatter(counts)[hawk.index(x)] += 1

What samples give to the elements of a table comes after the step, sample by sample in the order of
the batch (`hawk.ir.scatter`). Outside of a kernel all of these raise TypeError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias


def _only_in_kernels(name: str) -> NoReturn:
    raise TypeError(
        f"hawk.{name} reduces the samples of a batch, so it has a meaning only in a kernel; "
        f"for an array write np.{name}(...)"
    )


Over: TypeAlias = "str | tuple[str, ...] | None"
"""Dimensions of the grid to reduce along, by name; all of them where nothing is said."""


def sum(  # noqa: A001 - its name in the field
    value: float, *, where: bool = True, over: Over = None
) -> float:
    """The sum over the batch, of `value`'s own type; of bools, how many are True, an Index.

    Nothing at all adds up to 0.
    """
    _only_in_kernels("sum")


def mean(value: float, *, where: bool = True, over: Over = None) -> float:
    """The sum over the batch divided by the number of samples, in the kernel's float.

    NaN where there are none.
    """
    _only_in_kernels("mean")


def min(value: float, *, where: bool = True, over: Over = None) -> float:  # noqa: A001
    """The least value of the batch; NaN where one is NaN, and -0.0 is less than 0.0.

    Of no samples it is inf, or the largest integer.
    """
    _only_in_kernels("min")


def max(value: float, *, where: bool = True, over: Over = None) -> float:  # noqa: A001
    """The greatest value of the batch; NaN where one is NaN, and 0.0 is greater than -0.0.

    Of no samples it is -inf, or the smallest integer.
    """
    _only_in_kernels("max")


def any(  # noqa: A001
    value: bool,  # noqa: FBT001
    *,
    where: bool = True,
    over: Over = None,
) -> bool:
    """Whether it is True for some sample; False where there are none."""
    _only_in_kernels("any")


def all(  # noqa: A001
    value: bool,  # noqa: FBT001
    *,
    where: bool = True,
    over: Over = None,
) -> bool:
    """Whether it is True for every sample; True where there are none."""
    _only_in_kernels("all")


def argmin(value: float, *, where: bool = True, over: Over = None) -> int:
    """The index of the first sample with what `min` gives, or of the first NaN; -1 of none.

    With `over="c"` it is the index along that dimension; with several of them the place among the
    samples that are reduced together, in their order.
    """
    _only_in_kernels("argmin")


def argmax(value: float, *, where: bool = True, over: Over = None) -> int:
    """The index of the first sample with what `max` gives, or of the first NaN; -1 of none.

    With `over` as `argmin`.
    """
    _only_in_kernels("argmax")


def scatter(table: Any, *, where: bool = True) -> Any:
    """The elements of a `Mutable[Table[...]]`, to give something to one of them.

    `hawk.scatter(t)[i] += v`, also `-=`; of integers and bools `|=` and `&=`; and
    `hawk.scatter(t)[i].min(v)` and `.max(v)`. An index outside of the table gives nothing to
    anybody, and neither does a sample for which `where` is False.
    """
    raise TypeError(
        "hawk.scatter gives to a table that the samples of a batch share, so it has a meaning only "
        "in a kernel; for arrays write np.add.at(...)"
    )


REDUCTIONS: dict[Callable[..., object], str] = {
    each: each.__name__ for each in (sum, mean, min, max, any, all, argmin, argmax)
}
"""Each function a kernel may call, with the kind of reduction it is."""
