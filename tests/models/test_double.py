"""Compares the functions of core/math/double.h with decimal arithmetic of 50 digits or more. Kernels, which round to
float32, would not show an error in the last digits of float64."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal, localcontext
from pathlib import Path

import hard_angles
import numpy as np
import pytest

CORE = Path(__file__).resolve().parents[2] / "core"
PROGRAM = """
#include <stdio.h>
#include "math/double.h"

int main(void) {
    double x, c, s;
    while (scanf("%la", &x) == 1) {
        double_sincos(x, &c, &s);
        printf("%a %a %a %a\\n", x > 0 ? double_log(x) : 0, x < 700 ? double_exp(x) : 0, c, s);
    }
}
"""
PI = hard_angles.pi()
LIMIT = 2.2e-16  # the largest error of 20,000 random arguments of each function was 2.18e-16
RANDOM = np.random.default_rng(3)


@pytest.fixture(scope="module")
def compute(tmp_path_factory: pytest.TempPathFactory) -> Callable[[np.ndarray], np.ndarray]:
    """Returns a function that maps n floats to (n, 4) results: ln x, e^x, cos x and sin x."""
    folder = tmp_path_factory.mktemp("double")
    (folder / "double.c").write_text(PROGRAM, encoding="utf-8")
    compiler = [sys.executable, "-m", "ziglang", "cc", "-std=c11", "-O1", "-s", "-ffp-contract=off", "-Wall", "-Werror"]
    subprocess.run([*compiler, f"-I{CORE}", folder / "double.c", "-o", folder / "double"], check=True)

    def results(x: np.ndarray) -> np.ndarray:
        text = "\n".join(map(float.hex, x.tolist()))
        done = subprocess.run([folder / "double"], input=text, capture_output=True, text=True, check=True)
        return np.array([[float.fromhex(word) for word in line.split()] for line in done.stdout.splitlines()])

    return results


def _sine(x: Decimal) -> Decimal:
    """Returns sin x by its Taylor series, after reduction to [-pi, pi]."""
    x = x.remainder_near(2 * PI)
    term = total = x
    n = 1
    while abs(term) > Decimal("1e-60"):
        n += 2
        term *= -x * x / (n * (n - 1))
        total += term
    return total


def _off(got: np.ndarray, exact: list[Decimal], least: float) -> float:
    """Returns the largest error, relative to the exact result, or to `least` where the result is smaller."""
    return max(
        float(abs(Decimal(a) - b) / max(abs(b), Decimal(least))) for a, b in zip(got.tolist(), exact, strict=True)
    )


def test_logarithms(compute: Callable[[np.ndarray], np.ndarray]) -> None:
    x = np.concatenate([np.exp(RANDOM.uniform(-80, 80, 200)), np.linspace(0.69, 1.43, 200), [0.5**0.5, 2**0.5, 1]])
    with localcontext() as context:
        context.prec = 50
        assert _off(compute(x)[:, 0], [Decimal(each).ln() for each in x.tolist()], 1.0) < LIMIT


def test_exponentials(compute: Callable[[np.ndarray], np.ndarray]) -> None:
    x = np.concatenate([RANDOM.uniform(-690, 690, 300), np.linspace(-1, 1, 101)])
    with localcontext() as context:
        context.prec = 50
        assert _off(compute(x)[:, 1], [Decimal(each).exp() for each in x.tolist()], 0.0) < LIMIT


def test_sines_and_cosines(compute: Callable[[np.ndarray], np.ndarray]) -> None:
    x = np.concatenate([RANDOM.uniform(-1e6, 1e6, 200), np.linspace(-8, 8, 201)])
    with localcontext() as context:
        context.prec = 70
        sines = [_sine(Decimal(each)) for each in x.tolist()]
        cosines = [_sine(Decimal(each) + PI / 2) for each in x.tolist()]
        got = compute(x)
        assert _off(got[:, 2], cosines, 1.0) < LIMIT
        assert _off(got[:, 3], sines, 1.0) < LIMIT
