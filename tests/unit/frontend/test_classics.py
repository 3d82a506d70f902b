"""Programs everybody has written once: compiled and run by eagle, they give what Python gives.

Python runs the same function, undecorated, on plain ints and floats; where an integer wraps in a
kernel, the function says so itself (`& MASK`), and a test says what it takes on either side.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import hawk
from hawk import Bool, Index, Int32, Scalar, UInt32
from hawk.ir.types import DType
from hawk.kernel import Kernel
from tests.oracle.batch import unlike


def is_pythons(kernel: Kernel[..., Any], *planes: Any, real: Any = np.float64) -> Any:
    """What eagle computes, after comparing it with Python, sample by sample and bit by bit."""
    given = [
        np.asarray(plane, each.element.at(DType.F64 if real is np.float64 else DType.F32).numpy)
        for plane, each in zip(planes, kernel.parameters, strict=True)
    ]
    got = kernel(*given)
    samples = zip(*(plane.tolist() for plane in given), strict=True)
    wanted = [kernel.__wrapped__(*sample) for sample in samples]
    one = kernel.nesting == "one"
    columns = [wanted] if one else list(zip(*wanted, strict=True))
    for array, column in zip([got] if one else got, columns, strict=True):
        due = np.array(column, dtype=array.dtype)
        places = unlike(due, array)
        assert not len(places), f"sample {places[0]}: {array[places[0]]!r}, not {due[places[0]]!r}"
    return got


# --- whole numbers -------------------------------------------------------------------------------


@hawk.kernel
def collatz(number: Index) -> Index:
    length = 1
    while number != 1:
        number = number // 2 if number % 2 == 0 else 3 * number + 1
        length += 1
    return length


def test_collatz() -> None:
    lengths = is_pythons(collatz, [*range(1, 200), 837799, 670617279])
    assert [1, 2, 8, 3, 6] == lengths[:5].tolist()
    assert [525, 987] == lengths[-2:].tolist()


@hawk.kernel
def gcd(a: Index, b: Index) -> Index:
    while b:
        a, b = b, a % b
    return abs(a)


def test_the_greatest_common_divisor_of_numbers_of_either_sign() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(-(10**12), 10**12, (2, 200))
    a[:6], b[:6] = [0, 0, 7, -12, 12, -12], [0, 5, 0, 18, -18, -18]
    assert [math.gcd(*pair) for pair in zip(a.tolist(), b.tolist())] == is_pythons(
        gcd, a, b
    ).tolist()


@hawk.kernel
def bezout(a: Index, b: Index) -> tuple[Index, Index, Index]:
    x, next_x, y, next_y = 1, 0, 0, 1
    while b != 0:
        quotient, rest = divmod(a, b)
        a, b = b, rest
        x, next_x = next_x, x - quotient * next_x
        y, next_y = next_y, y - quotient * next_y
    return a, x, y


def test_euclids_algorithm_extended() -> None:
    a, b = np.array([240, -240, 240, -17, 0, 1071]), np.array([46, 46, -46, -5, 9, 462])
    divisor, x, y = is_pythons(bezout, a, b)
    assert (a * x + b * y == divisor).all()


@hawk.kernel
def power_modulo(base: Index, exponent: Index, modulus: Index) -> Index:
    result = 1
    while exponent > 0:
        if exponent & 1:
            result = result * base % modulus
        base = base * base % modulus
        exponent >>= 1
    return result


def test_powers_modulo() -> None:
    base, exponent, modulus = [3, 2, 7, -4], [200, 10, 0, 13], [10**9 + 7, 1000, 13, 497]
    results = is_pythons(power_modulo, base, exponent, modulus)
    assert [pow(*each) for each in zip(base, exponent, modulus)] == results.tolist()


@hawk.kernel
def is_prime(number: Index) -> Bool:
    if number < 2:
        return False
    divisor = 2
    while divisor * divisor <= number:
        if number % divisor == 0:
            return False
        divisor += 1
    return True


def test_primes() -> None:
    answers = is_pythons(is_prime, range(60))
    assert [2, 3, 5, 7, 11, 13, 17, 19, 23, 29] == np.flatnonzero(answers)[:10].tolist()


@hawk.kernel
def digit_sum(number: Index) -> tuple[Index, Index]:
    total = 0
    while number > 0:
        total += number % 10
        number //= 10
    root = total
    while root > 9:
        root = root // 10 + root % 10
    return total, root


def test_sums_of_digits() -> None:
    total, root = is_pythons(digit_sum, [0, 7, 493193, 2**62, 999999999999999999])
    assert [0, 7, 29, 85, 162] == total.tolist()
    assert [0, 7, 2, 4, 9] == root.tolist()


@hawk.kernel
def integer_root(number: Index) -> Index:
    if number < 2:
        return number
    root = number // 2
    while True:
        better = (root + number // root) // 2
        if better >= root:
            return root
        root = better


def test_integer_square_roots() -> None:
    n = [0, 1, 2, 3, 4, 8, 9, 15, 16, 10**12, 10**12 - 1, 2**62, 2**62 - 1]
    assert [math.isqrt(each) for each in n] == is_pythons(integer_root, n).tolist()


@hawk.kernel
def fizzbuzz(number: Index) -> Index:
    match (number % 3, number % 5):
        case (0, 0):
            return 15
        case (0, _):
            return 3
        case (_, 0):
            return 5
        case _:
            return number


def test_fizzbuzz() -> None:
    codes = is_pythons(fizzbuzz, range(1, 101))
    assert [1, 2, 3, 4, 5, 3, 7, 8, 3, 5, 11, 3, 13, 14, 15] == codes[:15].tolist()


@hawk.kernel
def weekday(year: Index, month: Index, day: Index) -> Index:
    """Zeller: 0 is Saturday."""
    year -= 1 if month < 3 else 0
    month += 12 if month < 3 else 0
    return (day + 13 * (month + 1) // 5 + year + year // 4 - year // 100 + year // 400) % 7


def test_the_day_of_the_week() -> None:
    from datetime import date

    days = [
        date(2000, 2, 29),
        date(1970, 1, 1),
        date(2026, 11, 29),
        date(1900, 3, 1),
        date(1, 1, 1),
    ]
    planes = zip(*((each.year, each.month, each.day) for each in days))
    numbers = is_pythons(weekday, *(list(plane) for plane in planes))
    assert [(each.weekday() - 5) % 7 for each in days] == numbers.tolist()


@hawk.kernel
def easter(year: Int32) -> tuple[Int32, Int32]:
    """Meeus, Jones and Butcher."""
    a, b, c = year % 19, year // 100, year % 100
    d, e = b // 4, b % 4
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    j, k = c // 4, c % 4
    m = (a + 11 * h) // 319
    r = (2 * e + 2 * j - k - h + m + 32) % 7
    n = (h - m + r + 90) // 25
    return n, (h - m + r + n + 19) % 32


def test_easter() -> None:
    month, day = is_pythons(easter, [2024, 2025, 2026, 1961, 2285])
    assert [(3, 31), (4, 20), (4, 5), (4, 2), (3, 22)] == list(zip(month.tolist(), day.tolist()))


@hawk.kernel
def josephus(number: Index, k: Index) -> Index:
    survivor = 0
    for size in range(2, number + 1):
        survivor = (survivor + k) % size
    return survivor + 1


def test_josephus() -> None:
    assert [31, 4, 1] == is_pythons(josephus, [41, 7, 1], [3, 3, 5]).tolist()


@hawk.kernel
def fibonacci(number: Index) -> Index:
    a, b = 0, 1
    for _ in range(number):
        a, b = b, a + b
    return a


def test_fibonacci() -> None:
    assert 7540113804746346429 == is_pythons(fibonacci, [0, 1, 2, 10, 92])[-1]


# --- bits ----------------------------------------------------------------------------------------

MASK_32, MASK_64 = 2**32 - 1, 2**64 - 1


@hawk.kernel
def popcount(number: Index) -> tuple[Index, Index]:
    count, left = 0, number
    while left != 0:
        left &= left - 1
        count += 1
    return count, int.bit_count(number)


def test_bits_are_counted() -> None:
    counts = is_pythons(popcount, [0, 1, 255, 2**62, 2**63 - 1, 0x5555_5555_5555_5555])
    assert [0, 1, 8, 1, 63, 32] == counts[0].tolist() == counts[1].tolist()


@hawk.kernel
def reversed_bits(number: UInt32) -> UInt32:
    number = (number >> 1) & 0x55555555 | (number & 0x55555555) << 1
    number = (number >> 2) & 0x33333333 | (number & 0x33333333) << 2
    number = (number >> 4) & 0x0F0F0F0F | (number & 0x0F0F0F0F) << 4
    number = (number >> 8) & 0x00FF00FF | (number & 0x00FF00FF) << 8
    return number >> 16 | (number << 16) & MASK_32


def test_bits_are_reversed() -> None:
    n = [0, 1, 2**31, 0x12345678, MASK_32]
    wanted = [int(f"{each:032b}"[::-1], 2) for each in n]
    assert wanted == is_pythons(reversed_bits, n).tolist()


@hawk.kernel
def xorshift_32(state: UInt32) -> UInt32:
    for _ in range(5):
        state ^= (state << 13) & MASK_32
        state ^= state >> 17
        state ^= (state << 5) & MASK_32
    return state


def test_marsaglias_xorshift_of_32_bits() -> None:
    states = is_pythons(xorshift_32, [2463534242, 1, MASK_32])
    assert states[0] == 3532304609  # the fifth number of the paper's seed


@hawk.kernel
def xorshift_64(state: Index) -> Index:
    state ^= state << 13
    state ^= (state >> 7) & (2**57 - 1)
    state ^= state << 17
    return state


def test_xorshift_of_64_bits_in_a_signed_integer() -> None:
    def step(state: int) -> int:
        state ^= state << 13 & MASK_64
        state ^= state >> 7
        return state ^ state << 17 & MASK_64

    state = np.array([88172645463325252, 1, -1, -(2**63)])
    for _ in range(20):
        wanted = [step(each & MASK_64) for each in state.tolist()]
        state = xorshift_64(state)
        assert wanted == [each & MASK_64 for each in state.tolist()]


@hawk.kernel
def crc_32(byte: UInt32, crc: UInt32) -> UInt32:
    crc ^= byte
    for _ in range(8):
        crc = crc >> 1 ^ (0xEDB88320 if crc & 1 else 0)
    return crc


def test_the_checksum_of_zip_files() -> None:
    import zlib

    crc = np.array([MASK_32], np.uint32)
    for byte in b"hawks and eagles":
        crc = is_pythons(crc_32, [byte], crc)
    assert zlib.crc32(b"hawks and eagles") == int(crc[0]) ^ MASK_32


@hawk.kernel
def gray_code(number: UInt32) -> tuple[UInt32, UInt32]:
    code = number ^ number >> 1
    back = code
    for shift in (1, 2, 4, 8, 16):
        back ^= back >> shift
    return code, back


def test_gray_codes() -> None:
    n = np.arange(300, dtype=np.uint32)
    code, back = is_pythons(gray_code, n)
    assert (back == n).all()
    assert all(int(a ^ b).bit_count() == 1 for a, b in zip(code, code[1:]))


# --- searches ------------------------------------------------------------------------------------


@hawk.kernel(contract=False)
def place_in(low: Scalar, middle: Scalar, high: Scalar, wanted: Scalar) -> Index:
    first, last = 0, 2
    while first <= last:
        probe = (first + last) // 2
        value = low if probe == 0 else middle if probe == 1 else high
        if value == wanted:
            return probe
        if value < wanted:
            first = probe + 1
        else:
            last = probe - 1
    return -1


def test_a_binary_search_in_a_sorted_triple() -> None:
    low, middle, high, n = 1.0, 2.5, 7.0, 7
    wanted = [1.0, 2.5, 7.0, 0.0, 3.0, 8.0, math.nan]
    places = is_pythons(place_in, [low] * n, [middle] * n, [high] * n, wanted)
    assert [0, 1, 2, -1, -1, -1, -1] == places.tolist()


def cubic(x):
    return x * x * x - x - 2.0


@hawk.kernel(contract=False)
def bisection(low: Scalar, high: Scalar) -> tuple[Scalar, Index]:
    steps = 0
    while high - low > 1e-12 and steps < 100:
        middle = 0.5 * (low + high)
        if cubic(middle) * cubic(low) <= 0:
            high = middle
        else:
            low = middle
        steps += 1
    return 0.5 * (low + high), steps


def test_bisection() -> None:
    root, _ = is_pythons(bisection, [1.0, 0.0, 1.5], [2.0, 3.0, 1.75])
    assert np.allclose(root, 1.5213797068045676, atol=1e-12)


# --- floats --------------------------------------------------------------------------------------


@hawk.kernel(contract=False)
def mandelbrot(cx: Scalar, cy: Scalar) -> Index:
    x = y = 0.0
    for count in range(100):
        x2, y2 = x * x, y * y
        if x2 + y2 > 4.0:
            return count
        x, y = x2 - y2 + cx, 2.0 * x * y + cy
    return 100


def test_mandelbrot() -> None:
    cx, cy = (
        each.ravel() for each in np.meshgrid(np.linspace(-2, 0.6, 41), np.linspace(-1, 1, 21))
    )
    counts = is_pythons(mandelbrot, cx, cy)
    assert (counts == 100).sum() > 100
    assert len(set(counts.tolist())) > 15


def sine(x):
    """The series of the sine, of an angle that is brought to -pi..pi first."""
    x = (x + math.pi) % (2 * math.pi) - math.pi
    total = term = x
    for n in range(1, 14):
        term = -term * x * x / (2 * n * (2 * n + 1))
        total += term
    return total


def cosine(x):
    return sine(x + math.pi / 2)


@hawk.kernel(contract=False)
def kepler(anomaly: Scalar, eccentricity: Scalar) -> tuple[Scalar, Index]:
    """Newton's method for E - e sin E = M."""
    angle = anomaly if eccentricity < 0.8 else math.pi + 0.0 * anomaly
    for step in range(50):
        error = angle - eccentricity * sine(angle) - anomaly
        if abs(error) < 1e-13:
            return angle, step
        angle -= error / (1.0 - eccentricity * cosine(angle))
    return angle, 50


def test_newton_solves_keplers_equation() -> None:
    anomaly = np.linspace(0.05, 6.2, 40)
    for eccentricity in (0.0, 0.3, 0.9):
        angle, steps = is_pythons(kepler, anomaly, np.full(40, eccentricity))
        assert np.allclose(angle - eccentricity * np.sin(angle), anomaly, atol=1e-10)
        assert (steps < 50).all()


@hawk.kernel(contract=False)
def wrapped(angle: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    half_turns, degrees = angle // math.pi, math.degrees(angle) % 360.0
    return angle % (2 * math.pi), (angle + math.pi) % (2 * math.pi) - math.pi, half_turns, degrees


def test_angles_are_wrapped_however_large() -> None:
    angles = [0.0, -0.0, 1.0, -1.0, 7.0, -1e-20, math.pi, -math.pi, 1e6, -1e15, 1e22, 1e300, -1e306]
    turn, centered, _, degrees = is_pythons(wrapped, angles)
    assert ((0 <= turn) & (turn <= 2 * math.pi) & (0 <= degrees) & (degrees <= 360)).all()
    assert (abs(centered) <= math.pi).all()


COEFFICIENTS = [1.0, -0.5, 0.25, 3.0, -1.0 / 3.0]


@hawk.kernel(contract=False)
def horner(x: Scalar) -> Scalar:
    total = 0.0
    for coefficient in reversed(COEFFICIENTS):
        total = total * x + coefficient
    return total


def test_horners_rule_with_known_coefficients() -> None:
    x = np.linspace(-2, 2, 33)
    values = is_pythons(horner, x)
    assert np.allclose(values, np.polynomial.polynomial.polyval(x, COEFFICIENTS))


@hawk.kernel(contract=False)
def heron(a: Scalar) -> tuple[Scalar, Index]:
    root, steps = a, 0
    while abs(root * root - a) > 1e-12 * a:
        root = 0.5 * (root + a / root)
        steps += 1
    return root, steps


def test_herons_square_root() -> None:
    a = np.array([1e-6, 0.5, 1.0, 2.0, 1e12])
    root, _ = is_pythons(heron, a)
    assert np.allclose(root, np.sqrt(a))


@hawk.kernel(contract=False)
def quadratic(a: Scalar, b: Scalar, c: Scalar) -> tuple[Index, Scalar, Scalar]:
    discriminant = b * b - 4.0 * a * c
    if discriminant < 0:
        return 0, 0.0, 0.0
    q = -0.5 * (b + math.copysign(math.sqrt(discriminant), b))
    if discriminant == 0:
        return 1, q / a, q / a
    return 2, min(q / a, c / q), max(q / a, c / q)


def test_quadratic_equations() -> None:
    count, low, high = is_pythons(
        quadratic, [1.0, 1.0, 1.0, 2.0], [-3.0, 2.0, 1.0, 1e8], [2.0, 1.0, 1.0, 1.0]
    )
    assert [2, 1, 0, 2] == count.tolist()
    assert (low[0], high[0], low[1]) == (1.0, 2.0, -1.0)


@hawk.kernel(contract=False)
def simpson(low: Scalar, high: Scalar, pieces: Index) -> Scalar:
    width = (high - low) / pieces
    total = cubic(low) + cubic(high)
    for k in range(1, pieces):
        total += (4.0 if k % 2 else 2.0) * cubic(low + k * width)
    return total * width / 3.0


def test_simpsons_rule_is_exact_for_a_cubic() -> None:
    integral = is_pythons(simpson, [0.0, -1.0, 2.0], [1.0, 1.0, 5.0], [2, 10, 64])
    assert np.allclose(integral, [0.25 - 0.5 - 2.0, -4.0, 609 / 4 - 21 / 2 - 6.0])


@hawk.kernel(contract=False)
def logistic(x: Scalar, r: Scalar) -> Scalar:
    for _ in range(1000):
        x = r * x * (1.0 - x)
    return x


def test_chaos_is_repeated_bit_for_bit() -> None:
    is_pythons(logistic, np.linspace(0.1, 0.9, 17), np.linspace(3.5, 4.0, 17))


@hawk.kernel(contract=False)
def change(cents: Index) -> tuple[Index, Index, Scalar]:
    quarters, rest = divmod(cents, 25)
    coins = quarters
    for coin in (10, 5, 1):
        count, rest = divmod(rest, coin)
        coins += count
    return quarters, coins, round(cents / 100, 1)


def test_change_in_coins() -> None:
    quarters, coins, rounded = is_pythons(change, [0, 4, 99, 141, 325])
    assert ([0, 0, 3, 5, 13], [0, 4, 9, 8, 13]) == (quarters.tolist(), coins.tolist())
    assert [0.0, 0.0, 1.0, 1.4, 3.2] == rounded.tolist()
