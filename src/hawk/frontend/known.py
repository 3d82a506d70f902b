"""What Python itself computes while a kernel is traced; its errors are told at the user's line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hawk.errors import HawkError, Loc


def by_python(compute: Callable[[], Any], where: Loc, code: str = "H210", doing: str = "") -> Any:
    """The result of `compute`, which runs objects of the user. Raises HawkError where it fails."""
    try:
        return compute()
    except HawkError:
        raise
    except Exception as error:  # noqa: BLE001  the objects are the user's: anything may come
        what = f"{type(error).__name__} while the kernel is traced{doing}: {error}"
        fix = ("math.inf", "math.nan") if isinstance(error, ZeroDivisionError) else ""
        raise HawkError(code, what, where, fix) from None


def no_text(where: Loc) -> HawkError:
    """The error of a text that should hold a number of the program."""
    what = "text cannot hold a number that is known only at run time"
    fix = "print(...) of it, which is shown with @hawk.kernel(checks=True)"
    return HawkError("H212", what, where, fix)
