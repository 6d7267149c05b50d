"""Fills in the template of sort and argsort."""

from __future__ import annotations

from collections.abc import Iterable
from string import Template

from .wgsl_module import Module, indented, read_template

__all__ = ["sort"]

_EIGHT = range(8)
# Batcher's odd-even merge sort of eight
_NETWORK = [(0, 1), (2, 3), (4, 5), (6, 7), (0, 2), (1, 3), (4, 6), (5, 7), (1, 2), (5, 6),
            (0, 4), (1, 5), (2, 6), (3, 7), (2, 4), (3, 5), (1, 2), (3, 4), (5, 6)]  # fmt: skip


def sort(module: Module) -> str:
    """Returns the module of sort or argsort."""
    value = module.operands[0][1].value
    to_word, of_word = ("u32($)", "($ != 0u)") if value == "bool" else ("bitcast<u32>($)", f"bitcast<{value}>($)")
    key, load = module.function(), module.load(0)
    template = read_template("sort")
    places, place = "", "0u"
    if module.contract.operation == "argsort":
        places, place = "place", "place#"
        names = {
            "key": "word",
            "word": f"{key}({load}) ^ lw.flip",
            "load": "",
            "store_place": module.store("i32(place)"),
            "store": module.store("i32(place)"),
            "move_place": "scratch_buffer[to + lw.count * lw.length] = place;",
        }
    else:
        names = {
            "key": f"{key}({of_word.replace('$', 'word')}) ^ lw.flip",
            "word": to_word.replace("$", load),
            "load": f"let value = {load.replace('at.x', 'at.x + place * lw.strides[lw.outer].x')};",
            "store_place": module.store("value"),
            "store": module.store(of_word.replace("$", "word")),
            "move_place": "",
        }
    names["store"] = indented(names["store"], template)
    text = Template(template).substitute(
        names,
        first=f"{key}({load}) ^ lw.flip",
        take=_each("var v# = lw_pairs[lw_swizzled(place + (#u << step))];"),
        put=_each("lw_pairs[lw_swizzled(place + (#u << step))] = v#;"),
        sort_eight=_exchange(_NETWORK),
        exchange_four=_exchange((i, i + 4) for i in _EIGHT if not i & 4),
        exchange_two=_exchange((i, i + 2) for i in _EIGHT if not i & 2),
        exchange_one=_exchange((i, i + 1) for i in _EIGHT if not i & 1),
        read=_each("let i# = i + #u * 256u;")
        + _words("w", "min(i#, end - 1u)")
        + _each("var k# = select(0xffu, lw_digit(w#), i# < end);"),
        count=_each("if (i# < end) { atomicAdd(&lw_counts[k#][invocation & 7u], 1u); }"),
        zero=_each("atomicStore(&lw_counts[invocation][#], 0u);"),
        total=_each("atomicLoad(&lw_counts[invocation][#])", " + "),
        place=_each("lw_moved[lw_spread(invocation + #u * 256u)] = (k# << 16u) + invocation + #u * 256u;"),
        fetch=_each("k# = lw_moved[lw_spread(own + #u)];"),
        clear=_each("lw_moved[lw_counter(#u, invocation)] = 0u;"),
        digits=_each(
            "let d# = (k# >> bit) & 15u; let p# = lw_counter(d#, invocation); let h# = lw_half_shift(d#);"
            " let n# = lw_moved[p#]; lw_moved[p#] = n# + (1u << h#);"
        ),
        counts=_each("let c# = lw_moved[lw_spread(own + #u)];"),
        sum=_each("c#", " + "),
        sums=_each("lw_moved[lw_spread(own + #u)] = next; next += c#;"),
        places=_each("let q# = lw_spread(((lw_moved[p#] >> h#) + (n# >> h#)) & 0xffffu);"),
        move=_each("lw_moved[q#] = k#;"),
        starts=_each(
            "if (own + #u < size && (own + #u == 0u || k# >> 16u != $)) { lw_starts[k# >> 16u] -= own + #u; }"
        ),
        write=_each("let m# = lw_moved[lw_spread(min(invocation + #u * 256u, size - 1u))];")
        + _words("moved", "first + (m# & 0xffffu)", places)
        + _each(f"if (i# < end) {{ lw_move(row, at_row, lw_starts[m# >> 16u] + i# - first, moved#, {place}); }}"),
        ends=_each("if (own + #u < size && own + #u > 0u && k# >> 16u != $) { lw_starts[$] += own + #u; }"),
    )
    return module.bindings(scratch="u32") + module.loads(numbers=False) + text


def _words(words: str, index: str, places: str = "") -> str:
    """Returns the statements that read eight words of a row, and the places of their elements. All have one branch,
    because some compilers take exponential time and memory for branches in loops."""
    variables = [words, *([places] if places else [])]
    of_operand = [f"lw_word(at_row + ({index}) * lw.strides[lw.outer])", index]
    of_scratch = [f"scratch_buffer[words + {index}]", f"scratch_buffer[words + lw.count * lw.length + {index}]"]
    read = [
        "\n".join(_each(f"{x}# = {text};") for x, text in zip(variables, texts, strict=False))
        for texts in (of_operand, of_scratch)
    ]
    return f"""
{"".join(_each(f"var {x}#: u32;") for x in variables)}
if (lw.source == lw_operand) {{
{read[0]}
}} else {{
let words = lw.source + row * lw.length;
{read[1]}
}}
"""


def _each(text: str, between: str = "\n") -> str:
    """Returns the text for each of eight items, with its number in place of #, and the digit before it of $."""
    before = ["before", *(f"(k{i} >> 16u)" for i in _EIGHT)]
    return between.join(text.replace("#", str(i)).replace("$", before[i]) for i in _EIGHT)


def _exchange(pairs: Iterable[tuple[int, int]]) -> str:
    """Returns the statements that put pairs of the eight in order."""
    swap = "if (lw_is_after(v#, v@) != is_down) { let v = v#; v# = v@; v@ = v; }"
    return "\n".join(swap.replace("#", str(low)).replace("@", str(high)) for low, high in pairs)
