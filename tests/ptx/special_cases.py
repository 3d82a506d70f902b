"""What instructions give where it is not what arithmetic says, by section of the PTX ISA.

The facts are those of "Parallel Thread Execution ISA", version 9.0, in our words; sections are its
own. `nan` as a result is any NaN. Comparisons with the CPU take a NaN for any NaN as well: neither
its sign nor its payload is promised, and no operation of hawk shows them.
"""

from __future__ import annotations

from math import inf, nan
from typing import NamedTuple

LEAST_32, MOST_32, ONES_32 = -(2**31), 2**31 - 1, 2**32 - 1
LEAST_64, MOST_64, ONES_64 = -(2**63), 2**63 - 1, 2**64 - 1


class Case(NamedTuple):
    instruction: str
    operands: tuple[float, ...]
    result: float


class Section(NamedTuple):
    name: str
    fact: str
    cases: tuple[Case, ...]


def _cases(*rows: tuple[str, tuple[float, ...], float]) -> tuple[Case, ...]:
    return tuple(Case(*row) for row in rows)


TABLE = (
    Section(
        "9.7.1 Integer Arithmetic Instructions: add, sub, mul, neg, abs",
        "Integers wrap; the least one stays as it is. `hi` is the upper half of the product, "
        "`wide` all of it.",
        _cases(
            ("add.s32", (MOST_32, 1), LEAST_32),
            ("sub.s64", (LEAST_64, 1), MOST_64),
            ("neg.s32", (LEAST_32,), LEAST_32),
            ("abs.s64", (LEAST_64,), LEAST_64),
            ("mul.lo.s32", (65536, 65537), 65536),
            ("mul.hi.u32", (ONES_32, ONES_32), ONES_32 - 1),
            ("mul.hi.s32", (LEAST_32, LEAST_32), 2**30),
            ("mul.hi.u64", (ONES_64, ONES_64), ONES_64 - 1),
            ("mul.hi.s64", (-1, 1), -1),
            ("mul.hi.s64", (LEAST_64, LEAST_64), 2**62),
            ("mul.hi.s64", (LEAST_64, MOST_64), -(2**62)),
            ("mul.wide.s32", (LEAST_32, LEAST_32), 2**62),
            ("mul.wide.u16", (65535, 65535), 65535**2),
            ("mad.lo.s32", (MOST_32, 2, 3), 1),
            ("mad.hi.u32", (ONES_32, 2, ONES_32), 0),
            ("mad.wide.s32", (-1, 5, 3), -2),
        ),
    ),
    Section(
        "9.7.1 Integer Arithmetic Instructions: div, rem",
        "The quotient is cut towards 0, the rest has the sign of the dividend. By 0 both are not "
        "specified, so here they are garbage.",
        _cases(
            ("div.s32", (-7, 2), -3),
            ("div.s64", (7, -2), -3),
            ("div.s32", (LEAST_32, -1), LEAST_32),
            ("div.u32", (ONES_32, 2), MOST_32),
            ("rem.s32", (-7, 2), -1),
            ("rem.s64", (7, -2), 1),
            ("rem.s64", (LEAST_64, -1), 0),
        ),
    ),
    Section(
        "9.7.1 Integer Arithmetic Instructions: popc, clz, brev, bfe, bfi",
        "A count is an u32. Of a field that goes beyond the number, what is missing is the sign "
        "(bfe) or is not inserted (bfi); of length 0 it is 0, or nothing. Start and length count "
        "by their lowest 8 bits.",
        _cases(
            ("popc.b64", (ONES_64,), 64),
            ("clz.b32", (0,), 32),
            ("clz.b64", (1,), 63),
            ("brev.b32", (1,), 2**31),
            ("brev.b64", (2,), 2**62),
            ("bfe.u32", (0x1234_5678, 8, 8), 0x56),
            ("bfe.s32", (0x8000_0000 - 2**32, 28, 8), -8),
            ("bfe.s32", (0x0000_0080, 4, 4), -8),
            ("bfe.u32", (ONES_32, 28, 8), 15),
            ("bfe.s32", (-1, 40, 4), -1),
            ("bfe.s32", (-1, 4, 0), 0),
            ("bfe.u64", (ONES_64, 60, 255), 15),
            ("bfe.u32", (ONES_32, 256 + 30, 4), 3),
            ("bfi.b32", (0xFF, 0, 28, 8), 0xF000_0000),
            ("bfi.b32", (0xFF, 1, 4, 0), 1),
            ("bfi.b64", (5, 0, 62, 2), 2**62),
        ),
    ),
    Section(
        "9.7.3 Floating Point Instructions: add, sub, mul, fma",
        "Rounded once, to nearest even, as IEEE 754 says; subnormal numbers count. `sat` cuts to "
        "0 to 1, and of NaN makes 0. Results that are NaN are the canonical one in f32.",
        _cases(
            ("add.rn.f64", (inf, -inf), nan),
            ("add.rn.f64", (-0.0, 0.0), 0.0),
            ("add.rn.f64", (-0.0, -0.0), -0.0),
            ("sub.rn.f32", (1.401298464324817e-45, 1.401298464324817e-45), 0.0),
            ("mul.rn.f64", (inf, 0.0), nan),
            ("mul.rn.f64", (5e-324, 0.5), 0.0),
            ("mul.rn.f64", (1e200, 1e200), inf),
            ("fma.rn.f64", (inf, 0.0, nan), nan),
            ("fma.rn.f64", (1e308, 10.0, -inf), -inf),
            ("fma.rn.f64", (0.1, 10.0, -1.0), 5.551115123125783e-17),
            ("fma.rn.f32", (16777216.0, 16777216.0, 1.0), 281474976710656.0),
            ("fma.rn.f64", (-0.0, 1.0, 0.0), 0.0),
            ("add.rn.sat.f32", (0.75, 0.5), 1.0),
            ("add.rn.sat.f32", (-0.75, 0.5), 0.0),
            ("add.rn.sat.f32", (nan, 0.5), 0.0),
            ("add.rn.sat.f32", (-0.0, -0.0), 0.0),
        ),
    ),
    Section(
        "9.7.3 Floating Point Instructions: div, rcp, sqrt",
        "`.rn`: rounded once. By 0 an infinity with the product of the signs, of 0 by 0 NaN. The "
        "root of what is less than 0 is NaN, of -0 it is -0.",
        _cases(
            ("div.rn.f64", (1.0, -0.0), -inf),
            ("div.rn.f64", (0.0, 0.0), nan),
            ("div.rn.f32", (-1.0, 0.0), -inf),
            ("div.rn.f64", (inf, inf), nan),
            ("div.rn.f64", (5e-324, 2.0), 0.0),
            ("rcp.rn.f64", (-0.0,), -inf),
            ("rcp.rn.f32", (inf,), 0.0),
            ("sqrt.rn.f64", (-1.0,), nan),
            ("sqrt.rn.f64", (-0.0,), -0.0),
            ("sqrt.rn.f32", (inf,), inf),
            ("sqrt.rn.f64", (5e-324,), 2.2227587494850775e-162),
        ),
    ),
    Section(
        "9.7.3 Floating Point Instructions: min, max",
        "A NaN is left out, unless `.NaN` says that it counts; of two NaN the result is one. -0 "
        "is less than 0, where Python's `<` says that they are the same.",
        _cases(
            ("min.f64", (-0.0, 0.0), -0.0),
            ("min.f64", (0.0, -0.0), -0.0),
            ("max.f64", (-0.0, 0.0), 0.0),
            ("max.f32", (0.0, -0.0), 0.0),
            ("min.f64", (nan, 1.0), 1.0),
            ("max.f32", (1.0, nan), 1.0),
            ("min.f32", (nan, nan), nan),
            ("min.NaN.f32", (nan, 1.0), nan),
            ("max.NaN.f32", (1.0, 2.0), 2.0),
            ("min.f64", (-inf, 1.0), -inf),
        ),
    ),
    Section(
        "9.7.3 Floating Point Instructions: abs, neg, copysign, testp",
        "The sign of a NaN that abs and neg give is not specified. copysign takes the sign of its "
        "first operand. To testp 0 is normal.",
        _cases(
            ("abs.f64", (-0.0,), 0.0),
            ("abs.f32", (nan,), nan),
            ("neg.f64", (0.0,), -0.0),
            ("neg.f32", (nan,), nan),
            ("copysign.f64", (-0.0, 3.0), -3.0),
            ("copysign.f32", (1.0, -inf), inf),
            ("testp.normal.f64", (0.0,), 1),
            ("testp.subnormal.f32", (1.401298464324817e-45,), 1),
            ("testp.finite.f64", (nan,), 0),
            ("testp.infinite.f64", (-inf,), 1),
            ("testp.notanumber.f32", (nan,), 1),
            ("testp.number.f32", (inf,), 1),
        ),
    ),
    Section(
        "9.7.6 Comparison and Selection Instructions: setp, selp",
        "A comparison with NaN does not hold, `ne` included; those that end in `u` then do. `lo`, "
        "`ls`, `hi` and `hs` are for unsigned integers.",
        _cases(
            ("setp.ne.f64", (nan, 1.0), 0),
            ("setp.neu.f64", (nan, 1.0), 1),
            ("setp.eq.f64", (nan, nan), 0),
            ("setp.equ.f32", (nan, nan), 1),
            ("setp.ltu.f64", (1.0, nan), 1),
            ("setp.geu.f64", (1.0, 2.0), 0),
            ("setp.lt.f64", (-0.0, 0.0), 0),
            ("setp.nan.f32", (1.0, nan), 1),
            ("setp.num.f32", (1.0, 2.0), 1),
            ("setp.lt.s32", (-1, 0), 1),
            ("setp.lt.u32", (ONES_32, 0), 0),
            ("setp.hi.u64", (ONES_64, 0), 1),
            ("setp.lt.and.s32", (-1, 0, 0), 0),
            ("setp.eq.or.f64", (nan, nan, 1), 1),
            ("selp.f64", (-0.0, 1.0, 1), -0.0),
            ("selp.b32", (5, 6, 0), 6),
        ),
    ),
    Section(
        "9.7.8 Logic and Shift Instructions: shl, shr, shf, lop3",
        "The amount is an u32, whatever is shifted, and more than all bits is all bits: 0, or the "
        "sign of what is signed. `shf.wrap` takes it by its lowest 5 bits.",
        _cases(
            ("shl.b32", (1, 31), 2**31),
            ("shl.b32", (1, 32), 0),
            ("shl.b64", (1, 64), 0),
            ("shl.b64", (1, ONES_32), 0),
            ("shr.u32", (ONES_32, 32), 0),
            ("shr.s32", (LEAST_32, 32), -1),
            ("shr.s64", (LEAST_64, 64 + 1), -1),
            ("shr.s64", (MOST_64, 70), 0),
            ("shf.l.wrap.b32", (0x8000_0000, 1, 33), 3),
            ("shf.r.wrap.b32", (2, 1, 1), 2**31 + 1),
            ("shf.l.clamp.b32", (7, 1, 40), 7),
            ("lop3.b32", (0b1100, 0b1010, 0b0110, 0xE8), 0b1110),
            ("cnot.b32", (0,), 1),
        ),
    ),
    Section(
        "9.7.9 Data Movement and Conversion Instructions: prmt",
        "Each four bits choose a byte of eight; with the fourth bit set, eight times its sign.",
        _cases(
            ("prmt.b32", (0x3322_1100, 0x7766_5544, 0x7650), 0x7766_5500),
            ("prmt.b32", (0x0000_0080, 0, 0x8888), ONES_32),
            ("prmt.b32", (0x0000_007F, 0, 0x8880), 0x0000_007F),
        ),
    ),
    Section(
        "9.7.9 Data Movement and Conversion Instructions: cvt, to integers",
        "A float is rounded as asked, then cut to the range, with or without `.sat`. NaN becomes "
        "0; we do not rely on it, and it can be the sign bit alone here where the float or the "
        "integer has 64 bits. Integers lose their upper bits, or with `.sat` are cut to the range.",
        _cases(
            ("cvt.rzi.s32.f64", (2.0**31,), MOST_32),
            ("cvt.rzi.s32.f64", (-inf,), LEAST_32),
            ("cvt.rzi.u32.f64", (-0.9,), 0),
            ("cvt.rzi.u32.f32", (-5.0,), 0),
            ("cvt.rzi.s64.f64", (1e300,), MOST_64),
            ("cvt.rzi.s64.f32", (-inf,), LEAST_64),
            ("cvt.rzi.u64.f64", (inf,), ONES_64),
            ("cvt.rni.s32.f32", (2.5,), 2),
            ("cvt.rmi.s32.f64", (-0.5,), -1),
            ("cvt.rpi.s32.f64", (0.25,), 1),
            ("cvt.rzi.s32.f32", (nan,), 0),
            ("cvt.s64.s32", (-1,), -1),
            ("cvt.u64.u32", (ONES_32,), ONES_32),
            ("cvt.u32.u64", (2**40 + 7,), 7),
            ("cvt.s32.s8", (200,), -56),
            ("cvt.u32.u8", (456,), 200),
            ("cvt.sat.s32.s64", (2**40,), MOST_32),
            ("cvt.sat.u32.s64", (-5,), 0),
        ),
    ),
    Section(
        "9.7.9 Data Movement and Conversion Instructions: cvt, to floats",
        "Rounded once, as asked: to nearest even, to 0, down, up. To an integral float with the "
        "sign kept. From f32 to f64 nothing is lost.",
        _cases(
            ("cvt.rn.f32.f64", (1.0 + 2.0**-24,), 1.0),
            ("cvt.rn.f32.f64", (1e300,), inf),
            ("cvt.rz.f32.f64", (1e300,), 3.4028234663852886e38),
            ("cvt.rp.f32.f64", (1.0 + 2.0**-40,), 1.0000001192092896),
            ("cvt.rm.f32.f64", (-1.0 - 2.0**-40,), -1.0000001192092896),
            ("cvt.rn.f64.s64", (2**53 + 1,), 2.0**53),
            ("cvt.rn.f32.s64", (2**24 + 1,), 2.0**24),
            ("cvt.rn.f32.u64", (2**40 + 2**16 + 1,), 1099511758848.0),
            ("cvt.rp.f64.s64", (2**53 + 1,), 2.0**53 + 2),
            ("cvt.rz.f64.u64", (ONES_64,), 2.0**64 - 2048),
            ("cvt.f64.f32", (1.401298464324817e-45,), 1.401298464324817e-45),
            ("cvt.f64.f32", (nan,), nan),
            ("cvt.rni.f64.f64", (-0.5,), -0.0),
            ("cvt.rni.f64.f64", (2.5,), 2.0),
            ("cvt.rzi.f32.f32", (-0.9,), -0.0),
            ("cvt.rmi.f64.f64", (-0.0,), -0.0),
            ("cvt.rpi.f64.f64", (inf,), inf),
        ),
    ),
)
