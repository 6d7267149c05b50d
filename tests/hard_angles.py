"""Angles whose sin, cos and tan need many bits of 2/pi: floats of all magnitudes close to multiples of pi/2."""

from __future__ import annotations

from decimal import Decimal, localcontext
from functools import cache

import numpy as np
from generator.schema import Bound
from judge import near

OPERATIONS = ("sin", "cos", "tan")
# The number of floats drawn for each power of two, and how many of them are kept: those closest to a multiple of pi/2.
# The distance between a kept float and this multiple is about 2^-17 * pi/2.
DRAWN, KEPT = 1 << 18, 6


def pi(digits: int = 100) -> Decimal:
    """Machin's formula: pi/4 = 4 atan(1/5) - atan(1/239)."""

    def atan_of_inverse(n: int) -> Decimal:
        terms = (Decimal((-1) ** k) / ((2 * k + 1) * Decimal(n) ** (2 * k + 1)) for k in range(digits))
        return sum(terms, Decimal(0))

    with localcontext() as context:
        context.prec = digits + 10
        return 4 * (4 * atan_of_inverse(5) - atan_of_inverse(239))


@cache
def angles() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Returns float32 angles, and for each operation the results in float64, right to about 15 digits."""
    random = np.random.default_rng(2)
    found: list[float] = []
    with localcontext() as context:
        context.prec = 110
        turns = 2 / pi()
        for exponent in range(-2, 105):  # an angle is mantissa * 2^exponent
            fraction = turns * Decimal(2) ** exponent
            step = np.uint64(int((fraction - int(fraction)) * 2**64))
            mantissas = random.integers(1 << 23, 1 << 24, DRAWN).astype(np.uint64)
            beyond = mantissas * step  # x * 2/pi modulo 1, in units of 2^-64: uint64 wraps
            distance = np.minimum(beyond, -beyond)
            closest = np.argpartition(distance, KEPT)[:KEPT]
            found += [float(mantissas[i]) * 2.0**exponent for i in closest]
        sines, cosines = zip(*(_sine_and_cosine(Decimal(x), turns) for x in found), strict=True)
    sine, cosine = np.array(sines), np.array(cosines)
    return np.array(found, np.float32), {"sin": sine, "cos": cosine, "tan": sine / cosine}


def complaint(operation: str, got: np.ndarray, bound: Bound) -> str:
    """Returns a message that says how many results for angles() are off by more than a bound, or an empty string."""
    x, results = angles()
    expected = results[operation]
    wrong = ~near(got, expected, bound, None, strict=True)
    return (
        f"{wrong.sum()} wrong results; {operation}({x[wrong][0]}): expected {expected[wrong][0]}, got {got[wrong][0]}"
        if wrong.any()
        else ""
    )


def _sine_and_cosine(x: Decimal, turns: Decimal) -> tuple[float, float]:
    quadrant = int((x * turns).to_integral_value())
    rest = float(x - quadrant / turns)
    sine, cosine = float(np.sin(rest)), float(np.cos(rest))
    return ((sine, cosine), (cosine, -sine), (-sine, -cosine), (-cosine, sine))[quadrant % 4]
