"""Writes out the statements of the entry points that compute convolution and attention in tiles."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from string import Template

from .wgsl_module import COMPONENTS

__all__ = ["attention_tiles", "multiply_strips", "window_tiles"]


def window_tiles(template: str, values: dict[str, str], loads: list[str]) -> str:
    """Returns the entry point for tiles of output channels and positions. The steps along k are written out."""
    fetch = []
    for j in range(4):
        places = (f"a_place + {16 * j + 4 * c}u * lw.strides[1].x" for c in range(4))
        fetch.append(f"a{j} = vec4<f32>({', '.join(f'lw_tap_weight({place}, tap)' for place in places)});")
        taps = (f"lw_tap_value(corner, from_corner, lw_taps[{4 * j + c}])" for c in range(4))
        fetch.append(f"b{j} = vec4<f32>({', '.join(taps)});")
    put = []
    for j in range(16):
        part = f"{j // 4}.{COMPONENTS[j % 4]}"
        put.append(f"lw_tile_a[own_k][{j}][a_row] = a{part};")
        put.append(f"lw_tile_b[{j}][invocation / 4u][invocation % 4u] = b{part};")
    rows = [(row, half) for row in range(8) for half in range(2)]
    store = []
    for half in range(2):
        for column in range(4):
            for row in (0, 4):
                products = (f"c.r{row + r}{half}.{COMPONENTS[column]}" for r in range(4))
                place = f"column + {32 * half + column}u, g, row + {row}u"
                store.append(f"lw_store_four({place}, vec4<f32>({', '.join(products)}), unit % lw.parts);")
    multiply = multiply_strips(["2u * y", "2u * y + 1u"], ["x", "x + 8u"], lambda row, half: f"c.r{row}{half}")
    margin = "\n" + 16 * " "
    return Template(template).substitute(
        values,
        load_x=loads[0],
        load_weight=loads[1],
        rows="\n    ".join(f"r{row}{half}: vec4<f32>," for row, half in rows),
        registers=margin.join(f"var {name}{j} = vec4<f32>();" for name in "ab" for j in range(4)),
        fetch=margin.join(fetch),
        put=margin.join(put),
        multiply=margin.join(multiply),
        store=margin.join(store),
    )


def attention_tiles(template: str, values: dict[str, str], loads: list[str]) -> str:
    """Returns the entry point for tiles of queries. `loads` names the queries, keys and values. The steps along a
    strip are written out."""

    def lines(text: str, *numbers: range) -> str:
        """Returns `text` for all numbers $i and $j of two ranges, or $i of one; $c is the component with number $i."""
        each = product(*numbers)
        return "\n".join(
            text.replace("$i", f"{i[0]}").replace("$j", f"{i[-1]}").replace("$c", COMPONENTS[i[0] % 4]) for i in each
        )

    def four(value: str) -> str:
        return f"vec4<f32>({', '.join(lines(value, rows).splitlines())})"

    def fetch(name: str, component: str, extent: str) -> str:
        """Returns a function that loads four elements of a row: those from `i` on, of which the first is at `at`."""
        element = f"select(0.0, lw_load_{name}(at + $iu * lw.column_strides.{component}), i + $iu < lw.{extent})"
        return f"""fn lw_fetch_{name}(at: u32, i: u32) -> vec4<f32> {{
            if (lw_has_rows) {{ return {name}_buffer[at >> 4u]; }}
            return {four(element)};
        }}"""

    def if_wide(statements: str) -> str:
        return f"\nif (lw_is_wide) {{\n{statements}\n}}"

    def fetch_values(letter: str, first: int) -> str:
        """Returns the statements that load two vectors of values, of the columns from `first` on."""
        row = f"lw_fetch_{value}(value + {first}u * lw.column_strides.z + (k + $iu) * lw.row_strides.z"
        return lines(f"{letter}$i = select(vec4<f32>(), {row}, column + own_column + {first}u), k + $iu < end);", pair)

    rows, pair = range(4), range(2)
    query, key, value = loads
    weights = []
    for strip in rows:
        weights.append(f"case {strip}u: {{" if strip < 3 else "default: {")
        for j in pair:
            element = f"s.r$i{strip // 2}.{COMPONENTS[strip % 2 * 2 + j]}"
            weights.append(f"lw_tile_a[x + {8 * j}u][y] = {four(element)};")
        weights.append("}")
    put = "lw_tile_{0}[own_d + $iu][own_row / 4u + 8u * $ju][own_row % 4u] = {0}$j.$c;"
    put_values = "lw_tile_b[own_key + 8u * $iu][t % 16u] = b$i;"
    put_wide = "lw_tile_b[own_key + 8u * $iu][16u + t % 16u] = c$i;"
    store = (
        "lw_store_row(places, i % batch, part, row + $iu, column + 4u * x + 32u * $ju, o.r$i$j, total.$c, largest.$c);"
    )
    wide_store = store.replace("column +", "column + 64u +").replace("o.r", "p.r")
    place = "places.inputs.w + (row + $iu) * lw.row_strides.w + (tile + 4u * x + 32u * $ju) * lw.column_strides.w"
    return Template(template).substitute(
        values,
        fetch="\n".join((fetch(query, "x", "depth"), fetch(key, "y", "depth"), fetch(value, "z", "value_depth"))),
        rows=lines("r$i$j: vec4<f32>,", rows, pair),
        fetch_strips=lines(
            f"a$i = lw_fetch_{query}(query + 32u * $iu * lw.row_strides.x, along);\n"
            f"b$i = lw_fetch_{key}(key + 32u * $iu * lw.row_strides.y, along);",
            pair,
        ),
        fetch_value=fetch_values("b", 0) + if_wide(fetch_values("c", 64)),
        put_strips="\n".join(lines(put.format(each), rows, pair) for each in "ab"),
        put_value=lines(put_values, pair) + if_wide(lines(put_wide, pair)),
        put_weights="\n".join(weights),
        multiply="\n".join(multiply_strips(["y"], ["x", "x + 8u"], lambda row, j: f"c.r{row}{j}")),
        multiply_seen=lines(
            "c.r$i$j += select(a.$c * lw_tile_b[k][x + 8u * $ju], vec4<f32>(), a.$c == 0.0);", rows, pair
        ),
        scores=lines(f"s.r$i$j = lw_tile_scores(s.r$i$j, {place});", rows, pair),
        hide=lines("s.r$i$j = lw_tile_seen(s.r$i$j, row + $iu, tile + 4u * x + 32u * $ju);", rows, pair),
        put_ranks=f"lw_ranks[x][y] = {four('lw_largest_rank(s.r$i0, s.r$i1)').replace('f32', 'u32')};",
        ranks=lines("rank = max(rank, lw_ranks[$i][y]);", range(8)),
        weights=lines("s.r$i$j = lw_tile_weights(s.r$i$j, largest.$c);", rows, pair),
        totals=f"total = total * scale + {four('dot(s.r$i0 + s.r$i1, vec4<f32>(1.0))')};",
        rescale_rows=lines("o.r$i$j *= scale.$c;", rows, pair) + if_wide(lines("p.r$i$j *= scale.$c;", rows, pair)),
        store=lines(store, rows, pair) + if_wide(lines(wide_store, rows, pair)),
        score_four=four(f"{values['score']}(products.$c, scale, {values['mask']}(mask + $iu * lw.column_strides.w))"),
        weight_four=four(f"{values['weight']}(scores.$c, largest)"),
        rescale_four=four(f"{values['rescale']}(before.$c, largest.$c)"),
    )


def multiply_strips(
    rows: list[str], columns: list[str], name: Callable[[int, int], str], depth: int = 16, strips: str = "lw_tile_$"
) -> list[str]:
    """Returns the lines that add the product of two strips to vectors of four columns: `name(row, j)` is at row `row`
    and at columns[j]. $ in `strips` stands for a and b. The steps are alike, so that the text is easy to compress."""
    products = [
        f"{name(row, j)} += a{COMPONENTS[row // 4]}.{COMPONENTS[row % 4]} * b{COMPONENTS[j]};"
        for row in range(4 * len(rows))
        for j in range(len(columns))
    ]
    lines = []
    for k in range(depth):
        lines.append("{")
        for letter, places in (("a", rows), ("b", columns)):
            strip = strips.replace("$", letter)
            lines += [f"let {letter}{COMPONENTS[i]} = {strip}[{k}][{place}];" for i, place in enumerate(places)]
        lines += [*products, "}"]
    return lines
