"""What CPU code is made for: its features, its vector registers, how it holds masks."""

from __future__ import annotations

import functools
import platform
from dataclasses import dataclass

import llvmlite
import llvmlite.binding as llvm

from hawk.errors import HawkError

X86_V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt")
"""The features of x86-64-v3 by their LLVM names, without which no kernel is compiled:
`fma` would become a call into libm, and integers wider than 128 bits would be cut."""

AVX512 = ("avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512cd")
"""What a server core with 512-bit registers has. All five, or none is used."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A kind of CPU. Two machines with equal fields run the same object code."""

    triple: str
    cpu: str
    """LLVM's name, for scheduling only: the order of instructions, not which ones there are."""
    features: tuple[str, ...]
    """LLVM feature flags with their sign, in a fixed order."""
    vector_bits: int
    mask_registers: bool
    """True where a vector of bools lives in a register of its own (AVX-512)."""
    registers: int
    """Vector registers."""

    @property
    def name(self) -> str:
        """Short name for people: `AVX2`, `AVX-512`, `NEON`."""
        return {512: "AVX-512", 256: "AVX2", 128: "NEON"}[self.vector_bits]

    @property
    def level(self) -> str:
        """LLVM's name of a core that has these features and no others."""
        return {512: "x86-64-v4", 256: "x86-64-v3", 128: "generic"}[self.vector_bits]

    @property
    def identity(self) -> str:
        """All that code for this machine relies on. It runs on every machine of that identity."""
        return ", ".join((self.triple, *self.features))

    @property
    def is_x86(self) -> bool:
        return self.triple.startswith("x86_64")


def avx2(triple: str, cpu: str = "x86-64-v3") -> Machine:
    """x86-64 with AVX2 and FMA, as every such core since 2013 (Intel) or 2017 (AMD)."""
    features = (*(f"+{flag}" for flag in X86_V3), *(f"-{flag}" for flag in AVX512))
    return Machine(triple, cpu, features, 256, mask_registers=False, registers=16)


def avx512(triple: str, cpu: str = "x86-64-v4") -> Machine:
    """x86-64 with AVX-512. LLVM prefers 256 bits on server cores; that is switched off."""
    features = (*(f"+{flag}" for flag in (*X86_V3, *AVX512)), "-prefer-256-bit")
    return Machine(triple, cpu, features, 512, mask_registers=True, registers=32)


def neon(triple: str, cpu: str = "generic") -> Machine:
    """AArch64; fused multiply-add and 128-bit vectors are part of the base architecture."""
    return Machine(triple, cpu, ("+neon",), 128, mask_registers=False, registers=32)


@functools.cache
def host() -> Machine:
    """The machine this process runs on.

    Raises HawkError (H501) on a CPU that cannot run hawk's code.
    """
    initialise()
    triple = llvm.get_process_triple()
    cpu = llvm.get_host_cpu_name()
    if platform.machine().lower() in ("aarch64", "arm64"):
        return neon(triple, cpu)
    has = {name for name, on in llvm.get_host_cpu_features().items() if on}
    missing = [flag for flag in X86_V3 if flag not in has]
    if missing:
        raise HawkError(
            "H501",
            f"this CPU ({cpu}) lacks {', '.join(missing)}; hawk compiles for x86-64-v3 and newer",
            fix="run on a CPU from 2015 or later; in a virtual machine pass the host's CPU through",
        )
    # A named CPU would switch on features of its own which the operating system may have masked,
    # so it only tunes: the feature list is ours.
    return avx512(triple, cpu) if has.issuperset(AVX512) else avx2(triple, cpu)


def versions() -> str:
    """The versions of what makes the code."""
    return f"llvmlite {llvmlite.__version__}, LLVM {'.'.join(map(str, llvm.llvm_version_info))}"


@functools.cache
def initialise() -> None:
    """Prepare LLVM once for code of this machine."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


@functools.cache
def target_machine(machine: Machine) -> llvm.TargetMachine:
    """LLVM's code generator for `machine`."""
    initialise()
    if machine.triple != llvm.get_process_triple():
        # 2 ms that a kernel from the cache need not wait for.
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(machine.triple)
    return target.create_target_machine(
        # Not `machine.cpu`: the name of a core adds all the features of that core.
        cpu=machine.level,
        features=",".join(machine.features),
        opt=3,
        reloc="pic",
        codemodel="small",
    )
