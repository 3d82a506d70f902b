"""The rules of operators, tried on kinds alone."""

import itertools

import pytest

from hawk.frontend.operators import Literal, Misfit, Plan, binary, choice, fits, meet, named, unary
from hawk.ir.types import DType

BOOL, I32, U32, I64, F32, F64 = DType
INT, FLOAT, TRUE = Literal.INT, Literal.FLOAT, Literal.BOOL
KINDS = [*DType, *Literal]


@pytest.mark.parametrize(
    ("left", "right", "real", "expected"),
    [
        (I64, I64, F64, I64),
        (I32, INT, F64, I32),
        (BOOL, BOOL, F64, I64),
        (BOOL, U32, F64, U32),
        (TRUE, I32, F64, I32),
        (INT, INT, F64, INT),
        (TRUE, INT, F64, INT),
        (I64, FLOAT, F32, F32),
        (I64, F32, F32, F32),
        (I64, F32, F64, F64),
        (I64, F64, F32, F64),
        (F32, F64, F32, F64),
        (F32, FLOAT, F64, F32),
        (FLOAT, BOOL, F32, F32),
    ],
)
def test_two_numbers_meet_in_one_type(left, right, real, expected) -> None:
    assert expected == meet("+", left, right, real)
    assert expected == meet("+", right, left, real)


@pytest.mark.parametrize("pair", [(I32, U32), (I32, I64), (U32, I64)])
def test_integers_of_different_types_do_not_mix(pair) -> None:
    for left, right in (pair, pair[::-1]):
        with pytest.raises(Misfit) as misfit:
            binary("+", left, right, F64)
        assert misfit.value.code == "H204"
        assert "hawk." in str(misfit.value.fixes[0])


def test_meeting_is_symmetric_and_keeps_the_wider() -> None:
    for left, right, real in itertools.product(KINDS, KINDS, (F32, F64)):
        results = []
        for pair in ((left, right), (right, left)):
            try:
                results.append(meet("+", *pair, real))
            except Misfit as misfit:
                results.append(misfit.code)
        assert results[0] == results[1]


def test_floor_and_remainder_are_of_floats_too() -> None:
    assert Plan("floordiv", F32) == binary("//", F32, INT, F64)
    assert Plan("mod", F64) == binary("%", I64, FLOAT, F64)


def test_division_of_integers_is_real() -> None:
    assert Plan("div", F32) == binary("/", I64, INT, F32)
    assert Plan("div", F64) == binary("/", F64, INT, F32)


def test_what_no_type_has_is_refused() -> None:
    for symbol, left, right in [
        ("&", F64, I64),
        ("<<", F64, INT),
        (">>", INT, F32),
        ("@", I64, I64),
    ]:
        with pytest.raises(Misfit):
            binary(symbol, left, right, F64)
    for kind in (BOOL, F64):
        with pytest.raises(Misfit):
            unary("~", kind)


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ((I64, INT), I64),
        ((F32, INT), F32),
        ((F64, FLOAT), F64),
        ((INT, FLOAT), F32),
        ((INT, INT), INT),
        ((TRUE, TRUE), BOOL),
        ((BOOL, TRUE), BOOL),
        ((BOOL, INT), None),
        ((I64, FLOAT), None),
        ((I64, F64), None),
        ((I32, I64), None),
        ((TRUE, INT), None),
    ],
)
def test_paths_join_in_one_type_or_none(kinds, expected) -> None:
    assert expected == choice(kinds, F32)
    assert expected == choice(kinds[::-1], F32)


def test_what_fits_a_plane() -> None:
    assert fits(I32, F64)
    assert fits(F32, F64)
    assert fits(INT, I32)
    assert not fits(F64, F32)
    assert not fits(F64, I64)
    assert not fits(I32, I64)
    assert not fits(BOOL, I64)
    assert not fits(INT, BOOL)


def test_kinds_have_articles() -> None:
    assert [named(kind) for kind in (I64, U32, F64, BOOL, INT)] == [
        "an Index", "a UInt32", "a float64", "a Bool", "an int",
    ]  # fmt: skip
