"""Kernels of a GPU's as native code of this machine, so that a driver made for tests can run them.

Each takes what a driver is given for a launch: the address of an array of pointers to its
parameters. A kernel of hawk's is the same LLVM module with one thread on this machine. A small one
of eagle's is its PTX text itself, instruction by instruction. Routines, whose threads work
together, are in `blocks`.
"""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Callable

from hawk.ir.nodes import Function
from hawk.passes.pipeline import optimise
from hawk.targets.cpu.link import assemble, link_symbols
from hawk.targets.cpu.machine import host
from hawk.targets.module import Kernel, module_of
from hawk.targets.ptx.entry import NVIDIA
from hawk.targets.ways import Way

_SREGS = "llvm.nvvm.read.ptx.sreg"
_kept: list[object] = []

SIZES = {"i8": 1, "i32": 4, "float": 4, "i64": 8, "double": 8, "ptr": 8}


def of_program(fn: Function, way: Way = Way.PLAIN) -> tuple[int, tuple[int, ...]]:
    """Where the native code of a traced program is, and the sizes of its parameters."""
    return of_kernel(optimise(fn), way=way)


def of_kernel(
    fn: Function, held: frozenset[str] = frozenset(), way: Way = Way.PLAIN
) -> tuple[int, tuple[int, ...]]:
    """The same of what has been through the passes; `held`: see `hawk.targets.module`."""
    text = module_of([Kernel("kernel", fn, (way,), held)], NVIDIA)
    text = text.replace(f"@kernel{way.value}(", "@kernel(").replace('syncscope("device") ', "")
    text = re.sub(r"^target triple.*\n", "", text)
    text = text.replace("ptx_kernel ", "").replace(" addrspace(1)", "")
    text = re.sub(r"addrspacecast ptr (\S+) to ptr", r"bitcast ptr \1 to ptr", text)
    text = re.sub(rf"^declare i32 @{re.escape(_SREGS)}.*\n", "", text, flags=re.MULTILINE)
    text = text.replace(_SREGS, "sreg")
    for name, number in (("tid", 0), ("ntid", 1), ("ctaid", 0), ("nctaid", 1)):
        text += f"\ndefine internal i32 @sreg.{name}.x() {{ ret i32 {number} }}\n"
    head = re.search(r"define void @kernel\((.*?)\) ", text)
    assert head is not None
    kinds = [each.split()[0] for each in head[1].split(", ")]
    loads = [
        f"  %at{k} = getelementptr ptr, ptr %given, i64 {k}\n"
        f"  %from{k} = load ptr, ptr %at{k}\n  %v{k} = load {kind}, ptr %from{k}\n"
        for k, kind in enumerate(kinds)
    ]
    passed = ", ".join(f"{kind} %v{k}" for k, kind in enumerate(kinds))
    text += f"\ndefine void @body(ptr %given) {{\n{''.join(loads)}"
    text += f"  call void @kernel({passed})\n  ret void\n}}\n"
    return _linked(text), tuple(SIZES[kind] for kind in kinds)


def _linked(text: str) -> int:
    library = link_symbols(assemble(f'target triple = "{host().triple}"\n{text}', host()), "body")
    _kept.append(library)
    return library["body"]


# -- small kernels ---------------------------------------------------------------------------------

_WIDTHS = {"u8": "i8", "s32": "i32", "u32": "i32", "s64": "i64", "u64": "i64"}
_RULES: list[tuple[str, Callable[..., str]]] = [
    (r"ld\.param\.u64 %(d\d+), \[p(\d+)\]", lambda d, k: f"store i64 %param{k}, ptr %{d}"),
    (r"mov\.b64 %(d\d+), (-?\d+)", lambda d, n: f"store i64 {n}, ptr %{d}"),
    (
        r"mov\.u64 %(d\d+), %globaltimer",
        lambda d: f"%V = call i64 inttoptr (i64 CLOCK to ptr)()\nstore i64 %V, ptr %{d}",
    ),
    (
        r"ld\.global\.(\w+) %(d\d+), \[%(d\d+)\]",
        lambda kind, d, at: (
            f"%A = load i64, ptr %{at}\n%B = inttoptr i64 %A to ptr\n"
            f"%C = load {_WIDTHS[kind]}, ptr %B\n" + _widened(kind) + f"store i64 %D, ptr %{d}"
        ),
    ),
    (
        r"st\.global\.(\w+) \[%(d\d+)(?:\+(\d+))?\], %(d\d+)",
        lambda kind, at, more, d: (
            f"%A = load i64, ptr %{at}\n%E = add i64 %A, {more or 0}\n"
            f"%B = inttoptr i64 %E to ptr\n%C = load i64, ptr %{d}\n"
            + (
                "store i64 %C, ptr %B"
                if _WIDTHS[kind] == "i64"
                else f"%D = trunc i64 %C to {_WIDTHS[kind]}\nstore {_WIDTHS[kind]} %D, ptr %B"
            )
        ),
    ),
    (
        r"setp\.(\w+)\.([su])64 %(p\d+), (\S+), (\S+)",
        lambda relation, sign, p, a, b: (
            f"{_load('A', a)}\n{_load('B', b)}\n%C = icmp {_relation(relation, sign)} i64 %A, %B\n"
            f"store i1 %C, ptr %{p}"
        ),
    ),
    (
        r"not\.pred %(p\d+), %(p\d+)",
        lambda p, a: f"%A = load i1, ptr %{a}\n%B = xor i1 %A, true\nstore i1 %B, ptr %{p}",
    ),
    (
        r"and\.pred %(p\d+), %(p\d+), %(p\d+)",
        lambda p, a, b: (
            f"%A = load i1, ptr %{a}\n%B = load i1, ptr %{b}\n%C = and i1 %A, %B\n"
            f"store i1 %C, ptr %{p}"
        ),
    ),
    (
        r"selp\.u32 %(r\d+), 1, 0, %(p\d+)",
        lambda r, p: f"%A = load i1, ptr %{p}\n%B = zext i1 %A to i32\nstore i32 %B, ptr %{r}",
    ),
    (
        r"selp\.[su]64 %(d\d+), (\S+), (\S+), %(p\d+)",
        lambda d, a, b, p: (
            f"%P = load i1, ptr %{p}\n{_load('A', a)}\n{_load('B', b)}\n"
            f"%C = select i1 %P, i64 %A, i64 %B\nstore i64 %C, ptr %{d}"
        ),
    ),
    (r"(sub|add)\.s64 %(d\d+), (\S+), (\S+)", lambda op, d, a, b: _wide(op, d, a, b)),
    (
        r"min\.u64 %(d\d+), (\S+), (\S+)",
        lambda d, a, b: (
            f"{_load('A', a)}\n{_load('B', b)}\n%P = icmp ult i64 %A, %B\n"
            f"%C = select i1 %P, i64 %A, i64 %B\nstore i64 %C, ptr %{d}"
        ),
    ),
    (
        r"mad\.lo\.u64 %(d\d+), (\S+), (\S+), (\S+)",
        lambda d, a, b, c: (
            f"{_load('A', a)}\n{_load('B', b)}\n{_load('C', c)}\n%D = mul i64 %A, %B\n"
            f"%E = add i64 %D, %C\nstore i64 %E, ptr %{d}"
        ),
    ),
    (
        r"atom\.global\.add\.u64 %(d\d+), \[%(d\d+)\], 1",
        lambda d, at: (
            f"%A = load i64, ptr %{at}\n%B = inttoptr i64 %A to ptr\n"
            f"%C = atomicrmw add ptr %B, i64 1 seq_cst\nstore i64 %C, ptr %{d}"
        ),
    ),
    (r"st\.param\.b64 \[handle\], %(d\d+)", lambda d: f"%HANDLE = load i64, ptr %{d}"),
    (r"st\.param\.b32 \[value\], %(r\d+)", lambda r: f"%VALUE = load i32, ptr %{r}"),
    (
        r"call\.uni cudaGraphSetConditional, \(handle, value\)",
        lambda: "call void inttoptr (i64 SETTER to ptr)(i64 %HANDLE, i32 %VALUE)",
    ),
    (r"ret", lambda: "ret void"),
]


def _load(name: str, operand: str) -> str:
    if operand.startswith("%"):
        return f"%{name} = load i64, ptr {operand}"
    return f"%{name} = add i64 0, {operand}"


def _wide(op: str, d: str, a: str, b: str) -> str:
    return f"{_load('A', a)}\n{_load('B', b)}\n%C = {op} i64 %A, %B\nstore i64 %C, ptr %{d}"


def _widened(kind: str) -> str:
    if _WIDTHS[kind] == "i64":
        return "%D = add i64 %C, 0\n"
    return f"%D = {'sext' if kind[0] == 's' else 'zext'} {_WIDTHS[kind]} %C to i64\n"


def _relation(name: str, sign: str) -> str:
    return name if name in ("eq", "ne") else f"{sign}{name}"


def of_small(text: str, setter: int, clock: int) -> tuple[int, tuple[int, ...]]:
    """Where the native code of a small kernel's PTX is, and the sizes of its parameters.

    `setter` and `clock` are addresses of C functions: `void (handle, value)` and `time ()`.
    """
    text = re.sub(r"//.*", "", text)
    text = text.replace(
        ".extern .func cudaGraphSetConditional (.param .b64 handle, .param .b32 value);\n", ""
    )
    head, _, body = text.partition("{")
    assert re.search(r"^\.version 8\.0\n\.target sm_75\n\.address_size 64\n", head.strip()), head
    count = len(re.findall(r"\.param \.u64 p\d+", head))
    return _small(body.rstrip().removesuffix("}"), count, setter, clock), (8,) * count


@functools.cache
def _small(body: str, count: int, setter: int, clock: int) -> int:
    lines = ["define void @body(ptr %given) {"]
    for k in range(count):
        lines += [
            f"%at{k} = getelementptr ptr, ptr %given, i64 {k}",
            f"%from{k} = load ptr, ptr %at{k}",
            f"%param{k} = load i64, ptr %from{k}",
        ]
    number = sets = 0
    for kind, name, many in re.findall(r"\.reg \.(\w+) %(\w)<(\d+)>;", body):
        llvm = {"pred": "i1", "b32": "i32", "b64": "i64"}[kind]
        lines += [f"%{name}{k} = alloca {llvm}" for k in range(int(many))]
    for line in filter(None, map(str.strip, body.splitlines())):
        if line in ("{", "}") or line.startswith((".reg", ".param")):
            continue
        text = line.removesuffix(";")
        found = ((re.fullmatch(pattern, text), write) for pattern, write in _RULES)
        match, write = next((each for each in found if each[0]), (None, None))
        assert match is not None, f"no meaning for: {text}"
        assert write is not None
        number += 1
        written = re.sub(r"%([A-EPV])\b", rf"%\g<1>{number}", write(*match.groups()))
        lines.append(re.sub(r"%(HANDLE|VALUE)", rf"%\g<1>{sets}", written))
        sets += "SETTER" in written
    module = "\n".join([*lines, "}"])
    return _linked(module.replace("SETTER", str(setter)).replace("CLOCK", str(clock)))


def call(address: int, words: list[int]) -> None:
    """Run native code on parameters."""
    values = (ctypes.c_uint64 * max(1, len(words)))(*[word & (2**64 - 1) for word in words])
    start = ctypes.addressof(values)
    pointers = (ctypes.c_void_p * max(1, len(words)))(*[start + 8 * k for k in range(len(words))])
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)(ctypes.addressof(pointers))
