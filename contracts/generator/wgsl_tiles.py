"""Writes out the statements of the entry points that compute convolution in tiles."""

from __future__ import annotations

from collections.abc import Callable
from string import Template

from .wgsl_module import COMPONENTS

__all__ = ["window_tiles"]


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
        put.append(f"lw_tile_a[k_lane][{j}][a_row] = a{part};")
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


def _multiply_strips(rows: list[str], columns: list[str], name: Callable[[int, int], str]) -> list[str]:
    """Returns the lines that add the product of two strips, lw_tile_a and lw_tile_b, to vectors of four columns:
    `name(row, j)` is at row `row` and at columns[j]."""
    lines = []
    for k in range(16):
        lines += [f"let a{k}{COMPONENTS[i]} = lw_tile_a[{k}][{place}];" for i, place in enumerate(rows)]
        lines += [f"let b{k}{COMPONENTS[j]} = lw_tile_b[{k}][{place}];" for j, place in enumerate(columns)]
        for row in range(4 * len(rows)):
            element = f"a{k}{COMPONENTS[row // 4]}.{COMPONENTS[row % 4]}"
            lines += [f"{name(row, j)} += {element} * b{k}{COMPONENTS[j]};" for j in range(len(columns))]
    return lines
