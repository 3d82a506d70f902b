"""PTX as text to instructions: what LLVM writes for kernels, and no more of the language.

What is not known raises `Unknown`, which names the line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TypeAlias


class Unknown(Exception):
    """Something of PTX that is not understood here, and where it stands."""

    def __init__(self, line: int, text: str, what: str) -> None:
        super().__init__(f"line {line}: {what}: {text}")
        self.line, self.text, self.what = line, text, what


@dataclass(frozen=True, slots=True)
class Register:
    name: str


@dataclass(frozen=True, slots=True)
class Number:
    """An integer, or a float by its bits (`0d3FF0000000000000`)."""

    text: str


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable, a parameter or a label."""

    name: str


@dataclass(frozen=True, slots=True)
class Address:
    """`[base + offset]`."""

    base: Register | Symbol | Number
    offset: int


@dataclass(frozen=True, slots=True)
class Several:
    """`{a, b}`."""

    items: tuple[Operand, ...]


Operand: TypeAlias = Register | Number | Symbol | Address | Several


@dataclass(frozen=True, slots=True)
class Instruction:
    line: int
    text: str
    name: str
    """The first word of it: `setp`."""
    modifiers: tuple[str, ...]
    """The others: `("lt", "f64")`."""
    operands: tuple[Operand, ...]
    guard: str = ""
    """The register of the predicate before it, if there is one."""
    unless: bool = False
    """Is it executed where the predicate is False?"""

    def unknown(self, what: str) -> Unknown:
        return Unknown(self.line, self.text, what)


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    kind: str
    """`u64`, `f32`, ..."""
    address: bool
    """Is it the address of an array?"""


@dataclass(frozen=True, slots=True)
class Variable:
    """Memory with a name: `global` and `const` of the module, `shared` of a block, `local` of a
    thread."""

    name: str
    space: str
    align: int
    content: bytes


@dataclass(slots=True)
class Kernel:
    name: str
    parameters: tuple[Parameter, ...]
    least: int = 1
    most: int = 1024
    """How many threads a block may have."""
    registers: dict[str, str] = field(default_factory=dict[str, str])
    """The kind of each family of registers: `%rd` is `b64`."""
    counts: dict[str, int] = field(default_factory=dict[str, int])
    """How many each family has."""
    variables: list[Variable] = field(default_factory=list[Variable])
    body: list[Instruction] = field(default_factory=list[Instruction])
    labels: dict[str, int] = field(default_factory=dict[str, int])
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict[str, "tuple[str, ...]"])
    """The labels of each branch table."""

    def kind_of(self, register: str) -> str:
        """The kind of a register. Raises KeyError for one that is not declared."""
        found = re.fullmatch(r"(%[A-Za-z_]+)(\d+)", register)
        if found and int(found[2]) < self.counts.get(found[1], 0):
            return self.registers[found[1]]
        return self.registers[register]


@dataclass(frozen=True, slots=True)
class Module:
    version: str
    target: str
    variables: tuple[Variable, ...]
    kernels: dict[str, Kernel]


SIZES = {"8": 1, "16": 2, "32": 4, "64": 8}


def size_of(kind: str) -> int:
    """Bytes of a number of a kind such as `f64`."""
    return SIZES[kind[1:]]


def parse(text: str) -> Module:
    """The module of a text. Raises Unknown."""
    return _Parser(text).module()


_WORD = r"[A-Za-z_$%][\w$]*"
_LABEL = re.compile(rf"({_WORD}):")
_KERNEL = re.compile(rf"(?:\.visible\s+)?\.entry\s+({_WORD})\s*\(([^)]*)\)")
_PARAMETER = re.compile(
    rf"\.param\s+\.(\w+)(\s+\.ptr(?:\s+\.\w+)?)?(?:\s+\.align\s+\d+)?\s+({_WORD})"
)
_VARIABLE = re.compile(
    r"(?:\.(?:visible|extern|weak)\s+)?\.(global|const|shared|local)\s+(?:\.align\s+(\d+)\s+)?"
    rf"\.(\w+)\s+({_WORD})(?:\[(\d+)\])?(?:\s*=\s*(.*))?"
)
_INSTRUCTION = re.compile(rf"(?:@(!?)({_WORD})\s+)?([a-z]\w*)((?:[.:][\w:]+)*)(?:\s+(.*))?")
_NUMBER = re.compile(r"-?\d\w*")
_IGNORED = ("minnctapersm", "maxnreg", "pragma", "noreturn", "loc", "file")


class _Parser:
    def __init__(self, text: str) -> None:
        blank = re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), text, flags=re.DOTALL)
        self.text = re.sub(r"//[^\n]*", "", blank)
        self.at, self._seen, self._line = 0, 0, 1
        self.header: dict[str, str] = {}
        self.variables: list[Variable] = []
        self.kernels: dict[str, Kernel] = {}

    @property
    def line(self) -> int:
        self._line += self.text.count("\n", self._seen, self.at)
        self._seen = self.at
        return self._line

    def skip(self) -> bool:
        """Go to the next thing; False at the end."""
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        return self.at < len(self.text)

    def until(self, end: str) -> str:
        start = self.at
        found = self.text.find(end, start)
        if found < 0:
            raise Unknown(self.line, self.text[start : start + 60], f"no {end!r} follows")
        self.at = found + len(end)
        return " ".join(self.text[start:found].split())

    def module(self) -> Module:
        while self.skip():
            head = re.compile(r"\.(version|target|address_size)\s+([^\n]*)").match(
                self.text, self.at
            )
            kernel = _KERNEL.match(self.text, self.at)
            if head:
                self.header[head[1]] = head[2].strip()
                self.at = head.end()
            elif kernel:
                self.at = kernel.end()
                self.kernel(kernel[1], kernel[2])
            else:
                line, text = self.line, self.until(";")
                self.variables.append(self.variable(line, text))
        return Module(
            self.header["version"], self.header["target"], tuple(self.variables), self.kernels
        )

    def variable(self, line: int, text: str) -> Variable:
        found = _VARIABLE.fullmatch(text)
        if found is None:
            raise Unknown(line, text, "not a variable")
        space, align, kind, name, count, values = found.groups()
        size, numbers = size_of(kind), (values or "").strip("{} ").split(",")
        numbers = [each.strip() for each in numbers if each.strip()]
        if not all(_NUMBER.fullmatch(each) for each in numbers):
            raise Unknown(line, text, "an initial value that is no number")
        content = b"".join(
            (bits_of(each, kind) % 256**size).to_bytes(size, "little") for each in numbers
        )
        whole = size * int(count or 1)
        return Variable(name, space, int(align or size), content.ljust(whole, b"\0"))

    def kernel(self, name: str, parameters: str) -> None:
        found = [_PARAMETER.fullmatch(each.strip()) for each in parameters.split(",")]
        if not all(found) and parameters.strip():
            raise Unknown(self.line, parameters, "a parameter that is not understood")
        made = Kernel(name, tuple(Parameter(m[3], m[1], bool(m[2])) for m in found if m))
        self.kernels[name] = made
        self.directives(made)
        depth = 1
        while depth:
            if not self.skip():
                raise Unknown(self.line, name, "the kernel does not end")
            label = _LABEL.match(self.text, self.at)
            if self.text[self.at] in "{}":
                depth += 1 if self.text[self.at] == "{" else -1
                self.at += 1
            elif label:
                self.at = label.end()
                self.labelled(made, label[1])
            else:
                line, text = self.line, self.until(";")
                self.statement(made, line, text)

    def directives(self, made: Kernel) -> None:
        """What stands between the parameters and the body."""
        line, text = self.line, self.until("{")
        for each, number in re.findall(r"\.(\w+)(?:\s+(\d+))?", text):
            if each in ("maxntid", "reqntid"):
                made.most = int(number)
                made.least = made.most if each == "reqntid" else 1
            elif each not in _IGNORED:
                raise Unknown(line, text, f"the directive .{each}")

    def labelled(self, made: Kernel, label: str) -> None:
        self.skip()
        if self.text.startswith(".branchtargets", self.at):
            targets = self.until(";").removeprefix(".branchtargets")
            made.tables[label] = tuple(each.strip() for each in targets.split(","))
        else:
            made.labels[label] = len(made.body)

    def statement(self, made: Kernel, line: int, text: str) -> None:
        if text.startswith(".reg"):
            self.registers(made, line, text)
        elif text.startswith("."):
            if text[1:].split(maxsplit=1)[0] not in _IGNORED:
                made.variables.append(self.variable(line, text))
        else:
            made.body.append(instruction(line, text))

    def registers(self, made: Kernel, line: int, text: str) -> None:
        found = re.fullmatch(r"\.reg\s+\.(\w+)\s+(.*)", text)
        if found is None:
            raise Unknown(line, text, "a register that is not understood")
        for each in found[2].split(","):
            name, _, count = each.strip().partition("<")
            made.registers[name] = found[1]
            made.counts[name] = int(count.rstrip("> ") or 0)


def instruction(line: int, text: str) -> Instruction:
    """One instruction, without what ends it."""
    found = _INSTRUCTION.fullmatch(text)
    if found is None:
        raise Unknown(line, text, "not an instruction")
    unless, guard, name, modifiers, rest = found.groups()
    operands = tuple(operand(line, text, each) for each in _split(rest or ""))
    words = tuple(word for word in modifiers.split(".") if word)
    return Instruction(line, text, name, words, operands, guard or "", bool(unless))


def _split(text: str) -> list[str]:
    """Operands between commas, those in braces and brackets together."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "{[") - (letter in "}]")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def operand(line: int, text: str, part: str) -> Operand:
    if part.startswith("{"):
        inside = _split(part[1:-1])
        return Several(tuple(operand(line, text, each) for each in inside))
    if part.startswith("["):
        found = re.fullmatch(rf"\[\s*({_WORD}|\d+)\s*(?:\+\s*(-?\d+))?\s*\]", part)
        if found is None:
            raise Unknown(line, text, "an address that is not understood")
        base = operand(line, text, found[1])
        assert isinstance(base, Register | Symbol | Number)
        return Address(base, int(found[2] or 0))
    if part.startswith("%"):
        return Register(part)
    if _NUMBER.fullmatch(part):
        return Number(part)
    if re.fullmatch(rf"{_WORD}(\|{_WORD})?", part):
        return Symbol(part)
    raise Unknown(line, text, f"the operand {part}")


def bits_of(text: str, kind: str) -> int:
    """The bits of a number as it is written: an integer for any kind, a float for its own."""
    if text[:2] in ("0f", "0d"):
        wide = text[1] == "d"
        if kind not in (("f64", "b64") if wide else ("f32", "b32")):
            raise ValueError(f"{text} is no {kind}")
        return int(text[2:], 16)
    return int(text.rstrip("U"), 0)
