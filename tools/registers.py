"""Writes into docs/gpu.md how many registers the benchmarks' kernels take on each GPU.

`python tools/registers.py` writes it. It needs `ptxas`, NVIDIA's assembler, of the CUDA toolkit or
the package nvidia-cuda-nvcc.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.kernels import ROWS, relax
from hawk.kernel import WIDTHS, Kernel

PAGE = Path(__file__).parents[1] / "docs" / "gpu.md"
BEGIN, END = "<!-- made by tools/registers.py -->\n", "<!-- until here -->\n"
PACKAGES = Path(sysconfig.get_path("purelib"), "nvidia").glob("*/bin/ptxas")
ASSEMBLER = shutil.which("ptxas") or next(map(str, PACKAGES), None)
CHIPS = {
    "sm_75": "Turing",
    "sm_80": "Ampere, A100",
    "sm_86": "Ampere",
    "sm_90": "Hopper",
    "sm_100": "Blackwell, B200",
    "sm_120": "Blackwell",
}


class Use(NamedTuple):
    """What a kernel takes on a chip, for each thread."""

    registers: int
    spilled: int
    """Bytes that are stored to memory for want of registers."""


def kernels() -> dict[str, Kernel[..., Any]]:
    """The benchmarks' kernels by the names of their functions."""
    return {each.__name__: each for each in (*(row.kernel for row in ROWS.values()), relax)}


def joined(texts: Mapping[str, str]) -> str:
    """Modules of one kernel each as one module, in which the kernels have the names given."""
    mark, whole = ".address_size 64\n", ""
    for name, text in texts.items():
        head, _, body = text.partition(mark)
        kernel = re.findall(r"\.entry (\w+)", body)[0]
        body = re.sub(rf"\b{kernel}(?=\(|_param_)", name, body).replace("$L__", f"${name}_L__")
        whole = (whole or head + mark) + body
    return whole


def assembled(text: str, chip: str) -> dict[str, Use]:
    """What each kernel of a module takes on a chip. Raises ValueError where the text is wrong."""
    command = [ASSEMBLER or "ptxas", f"-arch={chip}", "-v", "-o", "/dev/null", "-"]
    done = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
    if done.returncode:
        raise ValueError(done.stderr)
    names = re.findall(r"Compiling entry function '(\w+)'", done.stderr)
    spilled = re.findall(r"(\d+) bytes spill stores", done.stderr)
    registers = re.findall(r"Used (\d+) registers", done.stderr)
    rows = zip(names, registers, spilled, strict=True)
    return {name: Use(int(used), int(spill)) for name, used, spill in rows}


def benchmarks_on(chip: str) -> dict[str, Use]:
    """What the benchmarks' kernels take on a chip: names end with the float width."""
    texts = {
        f"{name}_{width}": kernel.ptx(chip, dtype=width)
        for name, kernel in kernels().items()
        for width in WIDTHS
    }
    return assembled(joined(texts), chip)


def version() -> str:
    """Which ptxas this is: `13.0`."""
    said = subprocess.run([ASSEMBLER or "ptxas", "--version"], capture_output=True, check=True)
    return re.findall(r"release ([\d.]+)", said.stdout.decode())[0]


def table(found: Mapping[str, Mapping[str, Use]]) -> Iterator[str]:
    """The lines of the table: for each chip what its kernels take."""
    yield f"| ptxas {version()} | " + " | ".join(found) + " |\n"
    yield "| --- |" + " ---: |" * len(found) + "\n"
    for name in kernels():
        cells = [
            " / ".join(_cell(uses[f"{name}_{width}"]) for width in WIDTHS)
            for uses in found.values()
        ]
        yield f"| {name} | " + " | ".join(cells) + " |\n"


def _cell(use: Use) -> str:
    return f"{use.registers}" + (f" ({use.spilled} bytes spilled)" if use.spilled else "")


def with_table(page: str, lines: Iterable[str]) -> str:
    """The page with the table as it should be now."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + "".join(lines) + END + after


if __name__ == "__main__":
    rows = table({chip: benchmarks_on(chip) for chip in CHIPS})
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")
