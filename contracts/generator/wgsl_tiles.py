"""Writes out the statements of the entry points that compute convolution and attention in tiles."""

from __future__ import annotations

from collections.abc import Callable
from string import Template

from .wgsl_module import COMPONENTS

__all__ = ["attention_tiles", "window_tiles"]


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
                store.append(f"lw_store_four({place}, vec4<f32>({', '.join(products)}));")
    multiply = _multiply_strips(["2u * y", "2u * y + 1u"], ["x", "x + 8u"], lambda row, half: f"c.r{row}{half}")
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


def attention_tiles(template: str, values: dict[str, str]) -> str:
    """Returns the entry point for tiles of queries. The steps along a strip are written out."""

    def lines(step: str) -> str:
        """Returns `step` four times: $i is a number, and $c the component of a vector with this number."""
        return "\n".join(step.replace("$i", f"{i}").replace("$c", COMPONENTS[i]) for i in range(4))

    def four(value: str) -> str:
        return f"vec4<f32>({', '.join(lines(value).splitlines())})"

    query = lines("a.$c = $query(query + 16u * $iu * lw.row_strides.x);").replace("$query", values["query"])
    key = lines("b.$c = $key(key + 16u * $iu * lw.row_strides.y);").replace("$key", values["key"])
    return Template(template).substitute(
        values,
        rows=lines("r$i: vec4<f32>,"),
        fetch_strip=f"{query}\n{key}",
        fetch_value=lines("v.$c = lw_tile_value(value, k + 4u * $iu, end, is_column);"),
        put_strips=lines("lw_tile_a[own_d][4u * $iu + own_row / 4u][own_row % 4u] = a.$c;")
        + lines("lw_tile_b[own_d][4u * $iu + own_row / 4u][own_row % 4u] = b.$c;"),
        put_value=lines("lw_tile_b[4u * $iu + own_v][own_column / 4u][own_column % 4u] = v.$c;"),
        put_weights="\n".join(
            f"lw_tile_a[4u * (x % 4u) + {i}u][y] = {four(f's.r$i.{each}')};" for i, each in enumerate(COMPONENTS)
        ),
        multiply="\n".join(_multiply_strips(["y"], ["x"], lambda row, _: f"c.r{row}")),
        multiply_seen=lines("c.r$i += select(a.$c * b, vec4<f32>(), a.$c == 0.0);"),
        scores=lines("s.r$i = lw_tile_scores(s.r$i, row + $iu, tile + 4u * x, places.inputs.w);"),
        largest=f"lw_tile_a[x][y] = {four('lw_largest_of_four(s.r$i)')};",
        weights=lines("s.r$i = lw_tile_weights(s.r$i, largest.$c);"),
        rescale_rows=lines("o.r$i *= scale.$c;"),
        totals=f"total = total * scale + {four('dot(s.r$i, vec4<f32>(1.0))')};",
        store=lines("lw_store_mean(places.out, row + $iu, column + 4u * x, o.r$i, total.$c);"),
        score_four=four("lw_tile_score(products.$c, begin, span, key + $iu, mask + $iu * lw.column_strides.w)"),
        weight_four=four(f"{values['weight']}(scores.$c, largest)"),
    )


def _multiply_strips(rows: list[str], columns: list[str], name: Callable[[int, int], str]) -> list[str]:
    """Returns the lines that add the product of two strips, lw_tile_a and lw_tile_b, to vectors of four columns:
    `name(row, j)` is at row `row` and at columns[j]. The steps are alike, so that the text is easy to compress."""
    products = [
        f"{name(row, j)} += a{COMPONENTS[row // 4]}.{COMPONENTS[row % 4]} * b{COMPONENTS[j]};"
        for row in range(4 * len(rows))
        for j in range(len(columns))
    ]
    lines = []
    for k in range(16):
        vectors = [f"let a{COMPONENTS[i]} = lw_tile_a[{k}][{place}];" for i, place in enumerate(rows)]
        vectors += [f"let b{COMPONENTS[j]} = lw_tile_b[{k}][{place}];" for j, place in enumerate(columns)]
        lines += ["{", *vectors, *products, "}"]
    return lines
