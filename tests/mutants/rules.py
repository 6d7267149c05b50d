"""The rules by which mutants are made. A rule maps a line of code to changes: small errors that a person could make.

Rules look at one line at a time, as the project's formatters write it: binary operators have spaces around them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

C, PYTHON, WGSL, YAML = (".c", ".h"), (".py",), (".wgsl",), (".yaml",)


@dataclass(frozen=True)
class Line:
    """A line of a source. `code` is as long as `text`; comments and strings are blanks in it."""

    text: str
    code: str
    suffix: str
    file: str = ""  # the text of the whole file, in which rules look for names


@dataclass(frozen=True)
class Change:
    """Replaces the characters from start to end."""

    start: int
    end: int
    by: str

    def apply(self, text: str) -> str:
        """Returns the changed line."""
        return text[: self.start] + self.by + text[self.end :]


@dataclass(frozen=True)
class Rule:
    """A kind of error. `changes` yields every way to make this error in a line."""

    name: str
    says: str
    suffixes: tuple[str, ...]
    changes: Callable[[Line], Iterator[Change]]


def _swap(pattern: str, pairs: str, group: int = 0) -> Callable[[Line], Iterator[Change]]:
    """Returns the `changes` of a rule that replaces the text of a group of `pattern` by its partner. `pairs` such as
    "a:b c:d" exchange a and b, and c and d."""
    compiled = re.compile(pattern)
    partner = dict(pair.split(":") for pair in pairs.split())
    partner |= {new: old for old, new in partner.items() if new not in partner}

    def changes(line: Line) -> Iterator[Change]:
        for match in compiled.finditer(line.code):
            if match[group] in partner:
                yield Change(match.start(group), match.end(group), partner[match[group]])

    return changes


def _several(*rules: Callable[[Line], Iterator[Change]]) -> Callable[[Line], Iterator[Change]]:
    def changes(line: Line) -> Iterator[Change]:
        for rule in rules:
            yield from rule(line)

    return changes


_comparison = _several(
    _swap(r" (<|<=|>|>=|==|!=) ", "<:<= >:>= ==:!=", 1),
    _swap(r"\b[vw][a-z]+\d+_(lt|le|gt|ge|eq|ne)\(", "lt:le gt:ge eq:ne", 1),
)
_bound = _swap(r"\b(?:\w+_)?(min|max|minimum|maximum|at_least|at_most)(?:_\w+)?\(", "min:max minimum:maximum", 1)


def _logic(line: Line) -> Iterator[Change]:
    words = r"(?<=\S) (and|or) " if line.suffix == ".py" else r" (&&|\|\|) "
    yield from _swap(words, "and:or &&:||", 1)(line)
    for match in re.finditer(r"\bis (not )?None\b", line.code) if line.suffix == ".py" else ():
        yield Change(match.start(), match.end(), "is None" if match[1] else "is not None")


_sign = _swap(r"(?<=[\w)\]]) (\+|-|\+=|-=) ", "+:- +=:-=", 1)

# What ends an operand of a sum; an operand of a product also ends at the operators of products.
_ENDS_SUM = re.compile(r"[,;)\]}?:\"]| (?:\+|-|<=?|>=?|==|!=|&&|\|\||and|or|if|else|for|in|&|\||\^|<<|>>) ")
_ENDS_PRODUCT = re.compile(_ENDS_SUM.pattern + r"| (?:\*|/|//|%|@) ")
_OPEN, _CLOSE = "([{", ")]}"


def _operand_end(code: str, start: int, ends: re.Pattern[str]) -> int:
    """Returns where the operand that begins at `start` ends, or -1 if it continues on the next line."""
    depth = 0
    for i in range(start, len(code)):
        if depth == 0 and ends.match(code, i):
            return i
        depth += (code[i] in _OPEN) - (code[i] in _CLOSE)
    return -1 if depth or code.rstrip().endswith("\\") else len(code)


def _dropped_term(line: Line) -> Iterator[Change]:
    for match in re.finditer(r"(?<=[\w)\]])( (?:\+|-|\*|/|%|&|\||\^) )(?=\S)", line.code):
        sums = match[1].strip() in "+-&|^"
        end = _operand_end(line.code, match.end(), _ENDS_SUM if sums else _ENDS_PRODUCT)
        complete = end >= 0 and (end < len(line.code) or line.suffix in PYTHON)
        term = line.text[match.end() : end].strip()
        is_term = term and not re.match(r"None\b", term)  # `| None` is part of a type
        if complete and is_term:
            yield Change(match.start(), end, "")
    for match in re.finditer(r"\b(?:[vw]f(?:32|64)_)?fma\(", line.code):
        parts = _arguments(line.code, match.end())
        if len(parts) == 3:
            (a, b), (c, d), (_, end) = parts
            yield Change(match.start(), end + 1, f"(({line.text[a:b]}) * ({line.text[c:d].strip()}))")


def _arguments(code: str, start: int) -> list[tuple[int, int]]:
    """Returns the spans of a call's arguments, given the position after its "("; none if the call spans lines."""
    spans, depth, begin = [], 0, start
    for i in range(start, len(code)):
        if depth == 0 and code[i] in ",)":
            spans.append((begin, i))
            begin = i + 1
            if code[i] == ")":
                return spans
        depth += (code[i] in _OPEN) - (code[i] in _CLOSE)
    return []


_NUMBER = re.compile(
    r"(?<![\w.])(0[xX][0-9a-fA-F]*\.?[0-9a-fA-F]*(?:[pP][+-]?\d+)?|\d[\d_]*(?:\.\d*)?(?:[eE][+-]?\d+)?)([uUlLfhi]*)"
    r"(?![\w.])"
)


def _numbers(line: Line, integers: bool) -> Iterator[tuple[re.Match[str], str]]:
    for match in _NUMBER.finditer(line.code):
        is_integer = bool(re.fullmatch(r"\d[\d_]*|0[xX][0-9a-fA-F]+", match[1]))
        if is_integer == integers:
            yield match, match[1].replace("_", "")


def _off_by_one(line: Line) -> Iterator[Change]:
    for match, digits in _numbers(line, integers=True):
        value = int(digits, 16 if digits[:2] in ("0x", "0X") else 10)
        for near in (value + 1, value - 1) if value else (1,):
            yield Change(match.start(1), match.end(1), hex(near) if "x" in digits else str(near))


def _off_by_bit(line: Line) -> Iterator[Change]:
    """Flips the highest or a middle bit of an integer, or a leading bit of a float's fraction. The lower bits of
    the fraction may not matter: in a coefficient, they can be smaller than the error of the approximation."""
    for match, digits in _numbers(line, integers=True):
        value = int(digits, 16 if digits[:2] in ("0x", "0X") else 10)
        if value > 2:
            for bit in {value.bit_length() - 1, value.bit_length() // 2}:
                changed = value ^ 1 << bit
                yield Change(match.start(1), match.end(1), hex(changed) if "x" in digits else str(changed))
    for match, digits in _numbers(line, integers=False):
        is_hex = "x" in digits.lower()
        number = float.fromhex(digits) if is_hex else float(digits)
        if not number or math.isinf(number):
            yield Change(match.start(1), match.end(1), "1.0")
            continue
        fraction, exponent = math.frexp(number)
        for bit in (50, 48):
            near = math.ldexp(float(int(math.ldexp(fraction, 53)) ^ 1 << bit), exponent - 53)
            yield Change(match.start(1), match.end(1), _hex(near) if is_hex else _decimal(near, digits))


def _hex(value: float) -> str:
    digits = re.sub(r"0+(?=p)", "", value.hex())
    return digits.replace(".p", "p")


def _decimal(value: float, like: str) -> str:
    """Returns a number in decimal, as precise as `like` or more, with a point, which YAML needs before an exponent."""
    digits = f"{value:.{max(7, len(like))}g}"
    if "e" in digits:
        mantissa, exponent = digits.split("e")
        return (mantissa if "." in mantissa else mantissa + ".0") + "e" + exponent
    return digits if "." in digits else digits + ".0"


def _flag(line: Line) -> Iterator[Change]:
    yield from _swap(r"(?<![\w.])(true|false|True|False)\b", "true:false True:False", 1)(line)


_RELEASE = r"(?:Py_X?DECREF|Py_X?INCREF|Py_CLEAR|Py_XSETREF|(?:\w*_)?(?:release|retain|free|unref|close|destroy|clear))"
_STATEMENT = re.compile(rf"^\s*(?:\w+[.>-]+)*{_RELEASE}\(.*\);?\s*$")


def _lost_reference(line: Line) -> Iterator[Change]:
    if _STATEMENT.match(line.code) and _balanced(line.code):
        yield _without_statement(line)
    for match in re.finditer(r"\bPy_X?NewRef\(", line.code):
        yield Change(match.start(), match.end() - 1, "")


def _balanced(code: str) -> bool:
    return all(code.count(a) == code.count(b) for a, b in zip(_OPEN, _CLOSE, strict=True))


def _without_statement(line: Line) -> Change:
    start = len(line.code) - len(line.code.lstrip())
    end = len(line.code.rstrip())
    return Change(start, end, {".py": "pass", ".wgsl": ""}.get(line.suffix, "(void)0;"))


_STRIDES = {"row": "column", "column": "row", "rows": "columns", "columns": "rows"}


def _swapped_strides(line: Line) -> Iterator[Change]:
    """Swaps row and column in a name, or strides and shape, if the new name occurs in the file; or swaps two axes."""
    for match in re.finditer(r"\b\w*(?<![a-z])(rows?|columns?)(?![a-z])\w*\b", line.code):
        name = match[0]
        at = match.start(1) - match.start()
        other = name[:at] + _STRIDES[match[1]] + name[match.end(1) - match.start() :]
        if re.search(rf"\b{other}\b", line.file):
            yield Change(match.start(), match.end(), other)
    for match in re.finditer(r"\b(strides|shape)\[(-?\d|\w+)\]", line.code):
        other = "shape" if match[1] == "strides" else "strides"
        if re.search(rf"\b{other}\[", line.file):
            yield Change(match.start(1), match.end(1), other)
        axis = {"0": "1", "1": "0", "-1": "-2", "-2": "-1"}.get(match[2])
        if axis:
            yield Change(match.start(2), match.end(2), axis)


_JOIN = re.compile(r"^\s*(?P<into>\*?[\w.\[\]>-]+) (?P<operator>[-+*|&^]?=) (?P<value>.*?);?\s*$")
_CALL = re.compile(
    r"^\s*(?!return\b|if\b|for\b|while\b|switch\b|else\b|sizeof\b|assert\b|_Static_assert)[\w.>-]+\(.*\);?\s*$"
)


def _skipped_join(line: Line) -> Iterator[Change]:
    """Leaves out an update of a variable, a store to an element or a field, or a call whose result is not used."""
    if line.suffix != ".py" and not line.code.rstrip().endswith(";"):
        return
    join, balanced = _JOIN.match(line.code), _balanced(line.code)
    if join and balanced and line.code[:1].isspace():
        into = join["into"]
        stores = line.suffix != ".py" and bool(re.search(r"[.\[>*]", into))
        if stores or join["operator"] != "=" or re.search(rf"(?<!\w){re.escape(into)}(?!\w)", join["value"]):
            yield _without_statement(line)
    elif balanced and line.code[:1].isspace() and _CALL.match(line.code) and not _STATEMENT.match(line.code):
        yield _without_statement(line)


def _removed_row(line: Line) -> Iterator[Change]:
    if re.match(r"^\s+- \{.*\}\s*$", line.code) and _balanced(line.code):
        yield Change(0, len(line.code), "")


def _widened_tolerance(line: Line) -> Iterator[Change]:
    for match in re.finditer(r"\b(?:ulp|absolute|relative|magnitude): ([\d.e+-]+)", line.code):
        yield Change(match.start(1), match.end(1), _decimal(float(match[1]) * 10, match[1]))


RULES = (
    Rule("comparison", "< for <=, == for !=", (*C, *PYTHON, *WGSL, *YAML), _comparison),
    Rule("bound", "min for max", (*C, *PYTHON, *WGSL, *YAML), _bound),
    Rule("logic", "and for or, `is None` for `is not None`", (*C, *PYTHON, *WGSL), _logic),
    Rule("sign", "+ for -", (*C, *PYTHON, *WGSL, *YAML), _sign),
    Rule(
        "dropped_term", "a term, a factor or the addend of an fma left out", (*C, *PYTHON, *WGSL, *YAML), _dropped_term
    ),
    Rule("off_by_one", "an integer one larger or smaller", (*C, *PYTHON, *WGSL, *YAML), _off_by_one),
    Rule("off_by_bit", "a constant with one bit flipped", (*C, *PYTHON, *WGSL, *YAML), _off_by_bit),
    Rule("flag", "true for false", (*C, *PYTHON, *WGSL, *YAML), _flag),
    Rule("lost_reference", "a reference not taken or not released", (*C, *PYTHON), _lost_reference),
    Rule("swapped_strides", "a row for a column, an extent for a stride", (*C, *PYTHON, *WGSL), _swapped_strides),
    Rule("skipped_join", "a store, a sum or a call left out", (*C, *PYTHON, *WGSL), _skipped_join),
    Rule("removed_row", "a case or a special value of a contract left out", YAML, _removed_row),
    Rule("widened_tolerance", "ten times the tolerance", YAML, _widened_tolerance),
)
