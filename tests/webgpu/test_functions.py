"""Tests functions of webgpu/math one by one, with integers at the limits of words and shifts and with random ones:
integer arithmetic must be exact on every device. Tests of whole kernels notice an error only if it exceeds the
operation's tolerance."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from generator.shaders.wgsl import Library

LIBRARY = Library(Path(__file__).resolve().parents[2] / "webgpu")
MODULE = """
@group(0) @binding(0) var<storage, read> arguments: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> results: array<vec2<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let last = arguments[arrayLength(&arguments) - 1u];
    lw_hidden = last.x >> 31u; // 0, for lw_rounded
    if (id.x < last.x) {
        let x = arguments[id.x];
        RESULT
    }
}
"""
WORDS = (0, 1, 2, 3, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF)
SHIFTS = (0, 1, 2, 7, 16, 30, 31, 32, 33, 34, 47, 62, 63, 64, 65, 127)
SIGN, MAX = 1 << 31, (1 << 64) - 1
SQRT2 = 11863283  # sqrt(2) in units of 2^-23
RANDOM = np.random.default_rng(12)


def evaluate(result: str, rows: Iterable[tuple[int, ...]]) -> list[tuple[int, int]]:
    """Returns the value of a WGSL expression of type vec2<u32> for each row. A row has up to four 32-bit words, and is
    the vector x in the expression. `result` is the expression, or statements and the expression, separated by "; "."""
    from wgpu.utils.compute import compute_with_buffers

    arguments = np.array([[*row, 0, 0, 0, 0][:4] for row in rows], np.uint32)
    count = len(arguments)
    arguments = np.vstack([arguments, np.full((1, 4), count, np.uint32)])
    *statements, value = result.split("; ")
    main = MODULE.replace("RESULT", "".join(f"{each};\n" for each in [*statements, f"results[id.x] = {value}"]))
    shader = "\n".join(LIBRARY.texts[name] for name in LIBRARY.uses(main)) + main
    out = compute_with_buffers({0: arguments}, {1: (count, 2, "I")}, shader, n=-(-count // 64))
    return [(int(low), int(high)) for low, high in np.asarray(out[1])]


def one(result: str, rows: Iterable[tuple[int, ...]]) -> list[int]:
    """Like evaluate(), but for an expression of type u32."""
    *statements, value = result.split("; ")
    return [low for low, _ in evaluate("; ".join([*statements, f"vec2<u32>({value}, 0u)"]), rows)]


def wide(pair: tuple[int, int]) -> int:
    return pair[0] | pair[1] << 32


def signed(word: int) -> int:
    """Returns a 32-bit word as a two's-complement integer."""
    return word - (word >> 31 << 32)


def words(count: int) -> list[tuple[int, ...]]:
    """Returns rows of `count` words: rows of edge cases, which begin with each pair from WORDS, and random rows."""
    edges = [(a, b, *RANDOM.choice(WORDS, count - 2)) for a in WORDS for b in WORDS]
    return [tuple(map(int, row)) for row in (*edges, *RANDOM.integers(0, 1 << 32, (1000, count)))]


def positive(count: int) -> list[int]:
    """Returns the bits of positive finite floats: each power 2^k, its neighbors, 2^k sqrt(2), and random ones."""
    edges = [bits for e in range(255) for bits in ((e << 23) - 1, e << 23, (e << 23) + 1, (e << 23) + 0x3504F3)]
    return [bits for bits in edges if 0 < bits < 0x7F800000] + RANDOM.integers(1, 0x7F800000, count).tolist()


def floats(bits: Iterable[int]) -> np.ndarray:
    return np.array(list(bits), np.uint32).view(np.float32)


def rounded(values: Iterable[float]) -> list[int]:
    """Returns the bits of numbers rounded to float32."""
    with np.errstate(over="ignore"):
        return np.array(list(values)).astype(np.float32).view(np.uint32).tolist()


@pytest.fixture(autouse=True)
def _adapter(adapter: None) -> None:
    """Skips the tests on a machine without an adapter."""


@pytest.mark.parametrize(
    ("expression", "model"),
    [
        ("lw_add_wide(x.xy, x.zw)", lambda a, b: (a + b) & MAX),
        ("lw_subtract_wide(x.xy, x.zw)", lambda a, b: (a - b) & MAX),
        ("lw_negate_wide(x.xy)", lambda a, b: -a & MAX),
        ("lw_multiply_wide(x.x, x.y)", lambda a, b: (a & 0xFFFFFFFF) * (a >> 32)),
        ("vec2<u32>(lw_leading_zeros_wide(x.xy), 0u)", lambda a, b: 64 - a.bit_length()),
        ("select(vec2<u32>(), vec2<u32>(1u, 0u), lw_is_less_unsigned_wide(x.xy, x.zw))", lambda a, b: int(a < b)),
        (
            "select(vec2<u32>(), vec2<u32>(1u, 0u), lw_is_less_wide(x.xy, x.zw))",
            lambda a, b: int((a ^ 1 << 63) < (b ^ 1 << 63)),
        ),
    ],
)
def test_wide_integers(expression: str, model: Callable[[int, int], int]) -> None:
    rows = words(4)
    expected = [model(a | b << 32, c | d << 32) for a, b, c, d in rows]
    assert [wide(each) for each in evaluate(expression, rows)] == expected


@pytest.mark.parametrize(
    ("function", "model"),
    [
        ("lw_shift_left_wide", lambda a, n: a << n & MAX),
        ("lw_shift_right_wide", lambda a, n: a >> n),
        ("lw_shift_right_sticky", lambda a, n: a >> n | (a >> n << n != a)),
    ],
)
def test_shifts(function: str, model: Callable[[int, int], int]) -> None:
    rows = [(a, b, n) for a, b in words(2) for n in SHIFTS]
    expected = [model(a | b << 32, n) for a, b, n in rows]
    assert [wide(each) for each in evaluate(f"{function}(x.xy, x.z)", rows)] == expected


def test_shifts_that_round() -> None:
    numbers = [a for a, _ in words(2) if a < SIGN] + [1 << n for n in range(31)] + [3 << n for n in range(29)]
    rows = [(a, n) for a in numbers for n in range(40)]
    assert one("lw_shift_right_rounded(x.x, x.y)", rows) == [round(Fraction(a, 1 << n)) for a, n in rows]


def test_unpacking() -> None:
    bits = positive(1000)
    parts = evaluate("let u = lw_unpack(x.x); vec2<u32>(u.mantissa, bitcast<u32>(u.exponent))", ((b,) for b in bits))
    assert all(1 << 23 <= mantissa < 1 << 24 for mantissa, _ in parts)
    values = [math.ldexp(mantissa, signed(exponent)) for mantissa, exponent in parts]
    assert values == floats(bits).astype(float).tolist()


def test_packing() -> None:
    mantissas = [SIGN >> 1, (SIGN >> 1) + 1, SIGN - 1, SIGN - 63, SIGN - 64, SIGN - 65, 3 << 29, (3 << 29) + 64]
    mantissas += RANDOM.integers(SIGN >> 1, SIGN, 8).tolist()
    rows = [(sign, m, e & 0xFFFFFFFF, e) for sign in (0, SIGN) for m in mantissas for e in range(-190, 110)]
    expected = rounded(math.ldexp(-m if sign else m, e) for sign, m, _, e in rows)
    assert one("bitcast<u32>(lw_pack(x.x, x.y, bitcast<i32>(x.z)))", (row[:3] for row in rows)) == expected


def test_scaling_by_powers_of_two() -> None:
    bits = [b ^ sign for b in positive(20) if b >= 1 << 23 for sign in (0, SIGN)][::17]
    rows = [(b, k & 0xFFFFFFFF, k) for b in bits for k in (*range(-300, 300, 23), *range(-30, 3), -126, -127, 127, 128)]
    expected = rounded(math.ldexp(x, k) for x, (_, _, k) in zip(floats(r[0] for r in rows).tolist(), rows, strict=True))
    assert one("bitcast<u32>(lw_scale(bitcast<f32>(x.x), bitcast<i32>(x.y)))", (row[:2] for row in rows)) == expected


def test_integers_that_compare_like_floats() -> None:
    bits = [0, SIGN, 0x7F800000, 0xFF800000] + [b ^ sign for b in positive(500) for sign in (0, SIGN)]
    values = floats(bits).astype(float)
    both = evaluate(
        "let f = bitcast<f32>(x.x); vec2<u32>(bitcast<u32>(lw_order(f)), bitcast<u32>(lw_total_order(f)))",
        ((b,) for b in bits),
    )
    order, total = np.array(both, np.uint32).view(np.int32).T
    for keys, ranks in ((order, values), (total, values + np.copysign(5e-324, values))):
        np.testing.assert_array_equal(np.unique(keys, return_inverse=True)[1], np.unique(ranks, return_inverse=True)[1])


def test_quotients() -> None:
    bits = positive(100)
    rows = [(a, b) for a in bits[::3] for b in bits[1::37]]
    parts = evaluate("let q = lw_quotient(x.x, x.y); vec2<u32>(q.mantissa, bitcast<u32>(q.exponent))", rows)
    for (a, b), (mantissa, exponent) in zip(rows, parts, strict=True):
        exact = Fraction(float(floats([a])[0])) / Fraction(float(floats([b])[0]))
        exact /= Fraction(2) ** signed(exponent)
        assert SIGN >> 1 <= mantissa < SIGN
        whole, rest = divmod(exact, 32)
        assert mantissa == 32 * whole + (16 if rest else 0)  # 16 is the sticky bit, set if any lower bit is


def test_reduction_of_logarithms() -> None:
    """x = 2^k (1 + f) exactly, and sqrt(1/2) <= 1 + f < sqrt(2), where both bounds are rounded to float32."""
    bits = positive(1000)
    parts = evaluate(
        "let p = lw_log_parts(bitcast<f32>(x.x)); vec2<u32>(bitcast<u32>(p.k), bitcast<u32>(p.f))", ((b,) for b in bits)
    )
    k, f = np.array(parts, np.uint32).view(np.float32).T.astype(float)
    np.testing.assert_array_equal(np.ldexp(1 + f, k.astype(int)), floats(bits).astype(float))
    assert (1 + f >= np.float32(0.5) ** 0.5).all()
    assert (1 + f < np.float32(2) ** 0.5).all()


def test_logarithms_in_fixed_point() -> None:
    """The tolerance allows for the error of step 2 of lw_fixed_log2, 1e-10, and the truncation of n. Powers of two
    have neither error."""
    bits = positive(1000)
    x = floats(bits).astype(float)
    values = evaluate("lw_fixed_log2(bitcast<f32>(x.x))", ((b,) for b in bits))
    got = np.array([(wide(each) ^ 1 << 63) - (1 << 63) for each in values])
    np.testing.assert_allclose(got / 2**55, np.log2(x), rtol=0, atol=3e-10)
    exact = np.frexp(x)[0] == 0.5
    np.testing.assert_array_equal(got[exact], (np.frexp(x)[1][exact] - 1).astype(np.int64) << 55)


def test_reduction_of_exponentials() -> None:
    """k is x log2 e rounded to an integer, and e^x = mantissa * 2^k."""
    bits = [b ^ sign for b in positive(3000) if b < 0x43000000 for sign in (0, SIGN)]
    x = floats(bits).astype(float)
    parts = evaluate(
        "let p = lw_exp_parts(bitcast<f32>(x.x)); vec2<u32>(bitcast<u32>(p.exponent), bitcast<u32>(p.mantissa))",
        ((b,) for b in bits),
    )
    k, mantissa = np.array(parts, np.uint32).T.copy().view(np.int32)
    np.testing.assert_array_equal(k, np.rint(x * math.log2(math.e)))
    np.testing.assert_allclose(np.ldexp(mantissa.view(np.float32).astype(float), k), np.exp(x), rtol=2e-7)


def test_powers() -> None:
    """x^y is infinite, 0 or denormal where it should be, and within 2 ulp."""
    x = floats(b for b in positive(50)[::5] if b != 0x3F800000)
    y = np.array([s * m * 2.0**e for s in (1, -1) for m in (1, 1.1, 1.7) for e in range(-30, 40, 3)], np.float32)
    edges = np.array([127.9, 128, 255.9, 256, -149, -149.9, -150.1, -255.9, -256], np.float32)
    rows = [(a, b) for a in x for b in y] + [(np.float32(2), b) for b in edges]
    words = ((a.view(np.uint32), b.view(np.uint32)) for a, b in rows)
    got = floats(one("bitcast<u32>(lw_pow_positive(bitcast<f32>(x.x), bitcast<f32>(x.y)))", words))
    for (a, b), value in zip(rows, got.tolist(), strict=True):
        exponent = float(b) * math.log2(a)
        if exponent >= 128 or exponent < -151:
            assert value == (math.inf if exponent > 0 else 0), (a, b)
        else:
            exact = 2.0**exponent
            assert abs(value - exact) <= 2 * max(math.ulp(exact) * 2**29, 2.0**-149), (a, b)


def test_the_asin_of_more_than_a_half_is_a_complement() -> None:
    bits = [0x3EFFFFFF, 0x3F000000, 0x3F000001, 0x3F7FFFFF, 0x3F800000, 0xBEFFFFFF, 0xBF000000, 0xBF000001]
    chosen = one("select(0u, 1u, lw_asin_reduce(bitcast<f32>(x.x)).is_complement)", ((b,) for b in bits))
    assert chosen == (np.abs(floats(bits)) > 0.5).astype(int).tolist()
