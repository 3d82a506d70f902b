"""Published numbers at which correct rounding in double precision is hardest.

Numbers found by V. Lefèvre and J.-M. Muller (Worst Cases for Correct Rounding of the Elementary
Functions in Double Precision, 15th IEEE Symposium on Computer Arithmetic, 2001), as a test of
OpenJDK lists them, WorstCaseTests.java; not compared with the paper. Values there lie next to a
float, or halfway between two, to 50 places more than a float has. The huge angle, 6381956970095103
* 2**797, is the double nearest to a multiple of pi / 2 (J.-M. Muller, Elementary Functions).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_TEXTS = {
    "exp": """
        -0x1.2a9cad9998262p0 -0x1.cc37ef7de7501p0 -0x1.22e24fa3d5cf9p-1 -0x1.dc2b5df1f7d3dp-1
        -0x1.290ea09e36479p-3 -0x1.a2fefefd580dfp-13 -0x1.ed318efb627eap-27 -0x1.4bd46601ae1efp-31
        -0x1.1000000000242p-42 -0x1.0000000000001p-51 0x1.fffffffffffffp-53 0x1.7ffe7ffee0024p-32
        0x1.9e9cbbfd6080bp-31 0x1.d7a7d893609e5p-26 0x1.ba07d73250de7p-14 0x1.d77fd13d27fffp-11
        0x1.6a4d1af9cc989p-8 0x1.accfbe46b4ef0p-1 0x1.aca7ae8da5a7bp0 0x1.d6336a88077aap0
        0x2.85dc78fb8928cp0 0x1.76e7e5d7b6eacp3 0x1.a8ead058bc6b8p3 0x1.1d5c2daebe367p4
        0x1.c44ce0d716a1ap4
    """,
    "log": """
        0x1.0000000000001p0 0x2.0012ecb039c9cp0 0x6.46a37fd503fdcp0 0x7.78dfecc7f57fp0
        0x9.588ccf24bb9c8p0 0xa.af87550d97e4p0 0xc.76f2496cb039p0 0x11.1867637cbd03p0
        0x13.d9d7d597a9ddp0 0x17.f3825778aaafp0 0x1ac.50b409c8aeep0 0x1.de7cd6751029ap16
    """,
    "sin": """
        0x1.e0000000001c2p-20 0x1.598bae9e632f6p-7 0x1.9283586503fep-5 0x1.d7bdcd778049fp-5
        0x1.a202b3fb84788p-4 0x1.d037cb27ee6dfp-3 0x1.d5064e6fe82c5p-3 0x1.fe767739d0f6dp-2
        0x1.d98c4c612718dp-1 0x1.921fb54442d18p-0 0x1.6756745770a51p+1 0x1.6ac5b262ca1ffp+849
    """,
    "cos": """
        0x1.8000000000009p-23 0x1.8000000000024p-22 0x1.2000000000f30p-18 0x1.06b505550e6b2p-9
        0x1.97ccd3d2c438fp-6 0x1.549ec0c0c5afap-5 0x1.16e534ee36580p-4 0x1.efeef61d39ac2p-3
        0x1.feb1f7920e248p-2 0x1.7cb7648526f99p-1 0x1.c65a170474549p-1 0x1.6b8a6273d7c21p+0
        0x1.6ac5b262ca1ffp+849
    """,
    "tan": """
        0x1.dffffffffff1fp-22 0x1.67fffffffa114p-18 0x1.50486b2f87014p-5 0x1.52c39ef070cadp-4
        0x1.a33f32ac5ceb5p-3 0x1.d696bfa988db9p-2 0x1.46ac372243536p-1 0x0.a3561b9121a9bp+0
        0x1.6ac5b262ca1ffp+849
    """,
    "asin": """
        0x1.dfffffffff02ep-20 0x1.dffffffffc0b8p-19 0x1.9259e3708bd3ap-5 0x1.d77b117f230d6p-5
        0x1.a1490c8c06ba7p-4 0x1.9697cb602c582p-3 0x1.d0ef799001ba9p-3 0x1.e9950730c4696p-2
        0x1.1ed06d50f7e88p-1 0x1.d5b05a89d3e77p-1 0x1.e264357ea0e29p-1
    """,
    "acos": """
        0x1.fd737be914578p-11 0x1.4182199998587p-1 0x1.e45a1c93651ecp-1 0x1.f10fc61e2c78fp-1
    """,
    "atan": """
        0x1.e000000000546p-21 0x1.22e8d75e2bc7fp-11 0x1.0fc9f1fabe658p-5 0x1.1bbe9c255698dp-5
        0x1.8ddd25ab90ca1p-5 0x1.5389e6df41979p-4 0x1.a933fe176b375p-3 0x1.0f6e5d9960397p-2
        0x1.7ba49f739829fp-1 0x0.bdd24fb9cc14f8p+0
    """,
    "exp2": """
        0x1.16a76ec41b516p-1 0x1.3e34fa6ab969ep-1 0x1.4a63ff1d53f53p-1 0x1.b32a6c92d1185p-1
        0x1.25dd9eedac79ap+0
    """,
    "sinh": """
        0x1.dfffffffffe3ep-20 0x1.dffffffffe3e0p-18 0x1.135e31fdd05d3p-5 0x1.0dc68d5e8f959p-3
        0x1.616cc75d49226p-2 0x1.3ffc12b81cbc2p+0 0x2.fe008c44baca2p+0 0x1.c089fcf166171p+4
        0x1.e07e71bfcf06fp+5 0x1.54cd1fea7663ap+7 0x1.d6479eba7c971p+8
    """,
    "cosh": """
        0x1.17d8a9f206217p-6 0x1.bf0305e2c6c37p-3 0x1.03923f2b47c07p-1 0x1.a6031cd5f93bap-1
        0x1.104b648f113a1p+0 0x1.ea5f2f2e4b0c5p+1
    """,
    "asinh": """
        0x1.e000000000fd2p-20 0x1.e00000000fd1fp-18 0x1.136b78b25cc57p-5 0x1.0e8e73dc4fee3p-3
        0x1.687bd068c1c1ep-2 0x1.9a0ff413a1af3p+0 0x1.5c452e0e37569p+39 0x1.91ec4412c344fp+85
        0x1.c90810d354618p+244 0x1.62a88613629b5p+677
    """,
}

HARD: Mapping[str, Sequence[float]] = {
    name: tuple(float.fromhex(each) for each in text.split()) for name, text in _TEXTS.items()
}
