"""Every refusal says where, what and what to write instead: the whole messages are kept as text.

Run this file to write `tests/golden/errors.txt` anew, and read the difference.
"""

import inspect
import re
from pathlib import Path

import pytest

import hawk
from hawk import HawkError
from hawk.frontend.codes import CODES
from hawk.ir.types import DType
from tests.unit.frontend import bad_kernels

GOLDEN = Path(__file__).parents[2] / "golden" / "errors.txt"
HELPERS = {"helper", "outer_helper", "inner_helper", "one_path_helper", "countdown"}


def cases() -> list[str]:
    found = inspect.getmembers(bad_kernels, inspect.isfunction)
    own = [
        (f.__code__.co_firstlineno, name)
        for name, f in found
        if f.__module__ == bad_kernels.__name__
    ]
    return [name for _, name in sorted(own) if name not in HELPERS]


def message(name: str) -> str:
    with pytest.raises(HawkError) as error:
        hawk.kernel(getattr(bad_kernels, name)).trace(DType.F64)
    assert error.value.code in CODES
    return str(error.value).replace(bad_kernels.__file__, "bad_kernels.py")


def expected() -> dict[str, str]:
    parts = GOLDEN.read_text().split("\n=== ")[1:]
    return dict(
        (head.strip(), body.strip("\n")) for head, body in (p.split("\n", 1) for p in parts)
    )


@pytest.mark.parametrize("name", cases())
def test_the_message_is_the_one_on_file(name: str) -> None:
    assert expected()[name] == message(name)


def test_the_registry_holds_the_codes_that_are_used() -> None:
    folder = Path(hawk.__file__).parent
    files = [*folder.glob("frontend/*.py"), folder / "kernel.py"]
    text = "".join(file.read_text() for file in files if file.name != "codes.py")
    assert set(re.findall(r'"(H[1-4]\d\d)"', text)) == set(CODES)


def test_nothing_on_file_is_left_over() -> None:
    assert set(expected()) == set(cases())


if __name__ == "__main__":
    body = "\n".join(f"=== {name}\n{message(name)}\n" for name in cases())
    GOLDEN.write_text(
        "What hawk says of each kernel of tests/unit/frontend/bad_kernels.py.\n\n" + body
    )
