"""Compares the mathematical constants of core/ and webgpu/ with values of 500 digits. Tests of operations may
miss a wrong last bit, because its effect can be smaller than their tolerances."""

from __future__ import annotations

import re
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import hard_angles
import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
DIGITS = 500


with localcontext() as context:
    context.prec = DIGITS
    PI, LN2, LN10 = hard_angles.pi(DIGITS), Decimal(2).ln(), Decimal(10).ln()
    VALUES = {
        "pi": PI,
        "pi / 2": PI / 2,
        "2 / pi": 2 / PI,
        "ln 2": LN2,
        "log2 e": 1 / LN2,
        "log10 e": 1 / LN10,
        "log10 2": LN2 / LN10,
        "sqrt 2": Decimal(2).sqrt(),
        "sqrt 1/2": Decimal("0.5").sqrt(),
        "1 / 6": 1 / Decimal(6),
        "2 / sqrt pi - 1": 2 / PI.sqrt() - 1,
        "sqrt 8 / pi": (8 / PI).sqrt(),
        # alpha and scale of the paper that introduced SELU
        "SELU's scale": Decimal("1.0507009873554804934193349852946"),
        # of float64, as PyTorch multiplies them
        "SELU's scale * alpha": Decimal(float("1.0507009873554805")) * Decimal(float("1.6732632423543772")),
    }
    EXACT = {name: Fraction(value) for name, value in VALUES.items()}

# A row has a constant, the C or WGSL names of its parts, largest part first, and the dtype of the parts. The sum of the
# parts is the constant. Parts whose names end in _<n>BIT have at most n significant bits, so that their products with
# small integers are exact.
SPLIT = [
    ("pi / 2", ["PI_2_HI_F32", "PI_2_LO_F32"], np.float32),
    ("pi / 2", ["PI_2_HI_F64", "PI_2_LO_F64"], np.float64),
    ("pi / 2", ["PI_2_HI_27BIT", "PI_2_LO_27BIT"], np.float64),
    ("pi / 2", ["PI_2_1_33BIT", "PI_2_2_33BIT", "PI_2_3_33BIT", "PI_2_4_F64"], np.float64),
    ("pi / 2", ["PI_2_1", "PI_2_2", "PI_2_3", "PI_2_4", "PI_2_5", "PI_2_6"], np.float32),
    ("pi / 2", ["DOUBLE_PI_2_1", "DOUBLE_PI_2_2", "DOUBLE_PI_2_3"], np.float64),
    ("2 / pi", ["TWO_OVER_PI_F32"], np.float32),
    ("2 / pi", ["DOUBLE_TWO_OVER_PI"], np.float64),
    ("2 / pi", ["TWO_OVER_PI_F64"], np.float64),
    ("ln 2", ["LN2_F32"], np.float32),
    ("ln 2", ["LN2_F64", "LN2_LO_F64"], np.float64),
    ("ln 2", ["LN2_HI_9BIT", "LN2_LO_9BIT"], np.float32),
    ("ln 2", ["LN2_HI_15BIT", "LN2_LO_15BIT"], np.float32),
    ("ln 2", ["LN2_F32", "EXP_TABLE_LN2_LO_F32"], np.float32),
    ("ln 2", ["LN2_HI_42BIT_F64", "LN2_LO_42BIT_F64"], np.float64),
    ("ln 2", ["LN2_HI_34BIT", "LN2_LO_34BIT"], np.float64),
    ("log2 e", ["LOG2_E_F32", "LOG2_E_LO_F32"], np.float32),
    ("log2 e", ["LOG2_E_F64", "LOG2_E_LO_F64"], np.float64),
    ("log10 e", ["LOG10_E_HI_F32", "LOG10_E_LO_F32"], np.float32),
    ("log10 e", ["LOG10_E_HI_F64", "LOG10_E_LO_F64"], np.float64),
    ("log10 2", ["LOG10_2_HI_11BIT", "LOG10_2_LO_11BIT"], np.float32),
    ("log10 2", ["LOG10_2_HI_42BIT", "LOG10_2_LO_42BIT"], np.float64),
    ("sqrt 1/2", ["SQRT_HALF"], np.float64),
    ("sqrt 8 / pi", ["SQRT_8_OVER_PI"], np.float64),
    ("SELU's scale", ["SELU_SCALE"], np.float64),
    ("SELU's scale * alpha", ["SELU_SCALE_ALPHA"], np.float64),
    ("pi", ["lw_PI"], np.float64),
    ("pi / 2", ["lw_PI_2"], np.float64),
    ("ln 2", ["lw_LN2_HI_15BIT", "lw_LN2_LO_15BIT"], np.float32),
    ("log2 e", ["lw_LOG2_E_HI", "lw_LOG2_E_LO"], np.float32),
    ("log10 e", ["lw_LOG10_E_HI", "lw_LOG10_E_LO"], np.float32),
    ("log10 2", ["lw_LOG10_2_HI_11BIT", "lw_LOG10_2_LO"], np.float32),
    ("SELU's scale", ["lw_SELU_SCALE"], np.float32),
    ("SELU's scale * alpha", ["lw_SELU_SCALE_ALPHA"], np.float32),
]
# Constants that are stored as integers: the value times 2^n, rounded. A row has the value, the name in the code, and n.
SCALED = [
    ("log2 e", "lw_LOG2_E_Q31", 31),
    ("sqrt 2", "lw_SQRT2_Q23", 23),
    ("pi / 2", "lw_PI_2_Q31", 31),
    ("2 / sqrt pi - 1", "lw_TWO_OVER_SQRT_PI_MINUS_1_Q32", 32),
]


def _defined() -> dict[str, str]:
    """Returns the texts of all constants of the headers and shaders, by name."""
    found: dict[str, str] = {}
    for pattern, files in (
        (r"#define (\w+) \(?(-?[0-9][^\s)]*)\)?", (ROOT / "core").rglob("*.h")),
        (r"const (lw_\w+) = ([^;]+);", (ROOT / "webgpu").rglob("*.wgsl")),
    ):
        for file in files:
            found.update(re.findall(pattern, file.read_text(encoding="utf-8")))
    return found


DEFINED = _defined()


def _number(name: str, dtype: type[np.floating]) -> Fraction:
    text = DEFINED[name].removesuffix("f" if dtype is np.float32 else "")
    value = float.fromhex(text) if "0x" in text else float(text)
    return Fraction(float(dtype(value)))


def _significant_bits(number: Fraction) -> int:
    """Returns how many bits a float's significand has from its first 1 to its last 1."""
    numerator = abs(number.numerator)
    return numerator.bit_length() - ((numerator & -numerator).bit_length() - 1)


@pytest.mark.parametrize(("value", "names", "dtype"), SPLIT, ids=["+".join(row[1]) for row in SPLIT])
def test_parts_add_up_to_the_constant(value: str, names: list[str], dtype: type[np.floating]) -> None:
    *leading, last = (_number(name, dtype) for name in names)
    rest = EXACT[value] - sum(leading)
    assert last == Fraction(float(dtype(float(rest)))), f"expected last part {float(dtype(float(rest))).hex()}"
    for name, number in zip(names, leading, strict=False):
        if stated := re.search(r"_(\d+)BIT$", name):
            assert _significant_bits(number) <= int(stated[1])


@pytest.mark.parametrize(("value", "name", "places"), SCALED, ids=[row[1] for row in SCALED])
def test_integers_are_scaled_constants(value: str, name: str, places: int) -> None:
    assert int(DEFINED[name].removesuffix("u"), 0) == round(EXACT[value] * 2**places)


def test_the_bits_of_the_square_root_of_one_half() -> None:
    assert int(DEFINED["SQRT_HALF_BITS_F32"], 0) == int(np.float32(EXACT["sqrt 1/2"]).view(np.uint32))
    assert int(DEFINED["SQRT_HALF_BITS_F64"], 0) == int(np.float64(EXACT["sqrt 1/2"]).view(np.uint64))


def test_the_table_of_exp() -> None:
    """The powers are rounded; float32's constant is 44 ulp less than log2 e, as its comment says."""
    source = (ROOT / "core" / "ops" / "exp.h").read_text(encoding="utf-8")
    table = re.search(r"powers\[16\] = \{[^\n]*([^}]*)\}", source)
    assert table
    powers = re.findall(r"BY_PRECISION\((0x\S+)f, (0x[^)\s]+)\)", table[1])
    with localcontext() as context:
        context.prec = DIGITS
        exact = [Decimal(2) ** (Decimal(i) / 16) for i in range(16)]
    assert [float.fromhex(single) for single, _ in powers] == [float(np.float32(each)) for each in exact]
    assert [float.fromhex(double) for _, double in powers] == [float(each) for each in exact]
    assert _number("EXP_TABLE_LOG2_E_F32", np.float32) == _number("LOG2_E_F32", np.float32) - 44 * Fraction(2) ** -23


def test_the_long_table_of_exp() -> None:
    """Entry j has the bits of 2^(j/64), rounded, less j * 2^46."""
    source = (ROOT / "core" / "ops" / "exp.h").read_text(encoding="utf-8")
    table = re.search(r"powers\[64\] = \{[^\n]*([^}]*)\}", source)
    assert table
    with localcontext() as context:
        context.prec = DIGITS
        exact = [float(Decimal(2) ** (Decimal(j) / 64)) for j in range(64)]
    expected = [int(np.float64(power).view(np.int64)) - (j << 46) for j, power in enumerate(exact)]
    assert [int(each, 0) for each in table[1].split(",")] == expected
    difference = _number("LOG2_E_F64", np.float64) - _number("EXP_LONG_TABLE_LOG2_E", np.float64)
    assert difference == 20290 * Fraction(2) ** -52


@pytest.mark.parametrize(
    ("file", "base", "places"), [("math/log_table.h", None, 43), ("ops/log2.h", 2, 42), ("ops/log10.h", 10, 44)]
)
def test_the_tables_of_logarithms(file: str, base: int | None, places: int) -> None:
    """As math/log_table.h says: the entries of j = 16, 17 ... 30, 15 are 1/c and log c."""
    source = (ROOT / "core" / file).read_text(encoding="utf-8")
    tables = re.findall(r"static const element (\w+)\[16\] = \{[^\n]*([^}]*)\}", source)
    assert [name for name, _ in tables] == ["inverses", "logarithms"]
    inverses, logarithms = ([Fraction(float.fromhex(each)) for each in body.split(",")] for _, body in tables)
    for j, inverse, logarithm in zip([*range(16, 31), 15], inverses, logarithms, strict=True):
        first, last = max(Fraction(2 * j - 1, 40), Fraction(3, 4)), min(Fraction(2 * j + 1, 40), Fraction(3, 2))
        assert max(1 - first * inverse, last * inverse - 1) < Fraction("0.032")
        with localcontext() as context:
            context.prec = 60
            quotient = Decimal(inverse.numerator) / Decimal(inverse.denominator)
            exact = -quotient.ln() / (Decimal(base).ln() if base else 1)
        assert abs(logarithm - Fraction(exact)) < 2**-62.7
        assert (logarithm * 2**places).denominator == 1
    assert inverses[4] == 1


def test_the_long_table_of_logarithms() -> None:
    """As math/log_long_table.h says: entry j is 1/c and ln c, and c."""
    source = (ROOT / "core" / "math" / "log_long_table.h").read_text(encoding="utf-8")
    tables = re.findall(r"static const element log_\w+\[64\](?:\[2\])? = \{([^;]*)\}", source)
    rows, centers = (
        [Fraction(float.fromhex(each)) for each in re.findall(r"-?\b(?:0x|\d)[^,}\s]*", body.split("*/")[1])]
        for body in tables
    )
    borders = [Fraction(191, 256) + Fraction(j, 128) for j in range(33)]
    borders += [Fraction(127, 128) + Fraction(j, 64) for j in range(1, 33)]
    for j, (inverse, logarithm, center) in enumerate(zip(rows[::2], rows[1::2], centers, strict=True)):
        lowest, highest = (border / center - 1 for border in borders[j : j + 2])
        assert -(2**-7) < lowest < highest <= (2**-8 if j == 31 else 2**-7)
        with localcontext() as context:
            context.prec = 60
            exact = (Decimal(center.numerator) / Decimal(center.denominator)).ln()
        beside = abs(j - 32) == 1
        assert abs(center * inverse - 1) < (2**-64.7 if beside else 2**-63)
        assert abs(logarithm - Fraction(exact)) < (2**-66 if beside else 2**-62.9)
        assert (logarithm * 2**43).denominator == 1
    assert centers[32] == rows[64] == 1


def test_the_table_of_two_over_pi() -> None:
    """Word i has 32 bits of 2 / pi: for float32, from bit 8 * i on, where bit n stands for 2^(8 - n); for float64, from
    bit 32 * i on."""
    for dtype, step, zeros in (("float32", 8, 9), ("float64", 32, 0)):
        source = (ROOT / "core" / "math" / f"trig_far_{dtype}.h").read_text(encoding="utf-8")
        table = re.search(r"two_over_pi\[\] = \{([^}]*)\}", source)
        assert table
        words = [int(word, 16) for word in re.findall(r"0x\w+", table[1])]
        assert words == [int(EXACT["2 / pi"] * 2 ** (step * i + 32 - zeros)) % 2**32 for i in range(len(words))]


def test_the_shaders_table_of_two_over_pi() -> None:
    """The table has 32 zero bits, then the first 224 bits of 2/pi after the binary point."""
    source = (ROOT / "webgpu" / "math" / "trig.wgsl").read_text(encoding="utf-8")
    table = re.search(r"array<u32, 8>\(([^)]*)\)", source)
    assert table
    words = [int(word.strip().removesuffix("u"), 0) for word in table[1].split(",")]
    assert words == [int(EXACT["2 / pi"] * 2 ** (32 * i)) % 2**32 for i in range(8)]


def test_every_constant_of_several_digits_is_tested() -> None:
    """A new constant must be listed in SPLIT or SCALED, or below in `chosen` with the reason why it needs no test."""
    tested = {name for _, names, _ in SPLIT for name in names} | {name for _, name, _ in SCALED}
    tested |= {"SQRT_HALF_BITS_F32", "SQRT_HALF_BITS_F64", "EXP_TABLE_LOG2_E_F32", "EXP_LONG_TABLE_LOG2_E"}
    bounds = {"GELU_CUTOFF", "GELU_TANH_CUTOFF"}
    chosen = bounds | {f"lw_{name}" for name in bounds}
    long = {name for name, text in DEFINED.items() if re.fullmatch(r"-?(0x1\.\w{5,}p.*|\d*\.\d{5,}.*|\d{7,}u?)", text)}
    assert long - tested == chosen
