"""Makes the WGSL modules of matrix products, with entry points for tiles of several sizes."""

from __future__ import annotations

from dataclasses import dataclass
from string import Template

from .wgsl_module import COMPONENTS, Module, indented, read_template
from .wgsl_tiles import multiply_strips

__all__ = ["TILES", "Tile", "declarations", "matrix"]

ROWS = 8  # that an invocation computes
DEPTH = 8  # extent of a strip along k
STRIPS = 2  # in workgroup memory
VECTOR_BYTES = 16
GUARANTEED_BYTES = 16384  # memory that a workgroup has on any device


@dataclass(frozen=True)
class Tile:
    """A tile of a product, which a workgroup computes."""

    rows: int
    columns: int
    column_vectors: int = 2  # that an invocation computes, of four columns each

    def __post_init__(self) -> None:
        loads = [DEPTH * extent // 4 / self.invocations for extent in (self.rows, self.columns)]
        if self.invocations > 256 or not set(loads) <= {1, 2}:
            raise ValueError(
                f"tile {self.name}: expected at most 256 invocations, which load one or two vectors of each strip, got "
                f"{self.invocations}, which load {loads[0]:g} and {loads[1]:g}"
            )

    @property
    def name(self) -> str:
        return f"{self.rows}x{self.columns}"

    @property
    def across(self) -> int:
        """Invocations along the columns."""
        return self.columns // (4 * self.column_vectors)

    @property
    def invocations(self) -> int:
        return self.rows // ROWS * self.across

    @property
    def pitches(self) -> tuple[int, int]:
        """Vectors of a row of a strip of A, and of B, with one more than there are."""
        return self.rows // 4 + 1, self.columns // 4 + 1

    @property
    def bytes(self) -> int:
        """Workgroup memory."""
        return sum(self.pitches) * DEPTH * STRIPS * VECTOR_BYTES

    def substitutions(self) -> dict[str, str | int]:
        """Returns what its templates have in place of names."""
        return {
            "tile": self.name,
            "rows": self.rows,
            "columns": self.columns,
            "invocations": self.invocations,
            "across": self.across,
            "a_quarter": self.rows // 4,
            "b_quarter": self.columns // 4,
            "a_pitch": self.pitches[0],
            "b_pitch": self.pitches[1],
        }


# The first one is used where lw.calibrate() has not measured which one is the fastest.
TILES = (Tile(64, 128), Tile(64, 64), Tile(128, 128), Tile(128, 256, 4))
if TILES[0].bytes > GUARANTEED_BYTES:
    raise ValueError(f"expected a first tile with at most {GUARANTEED_BYTES} bytes, got {TILES[0].bytes}")


def matrix(module: Module) -> str:
    """Returns the module of a product; products of float32 have more entry points than others."""
    template = read_template("matrix")
    loads = [module.load(position) for position in range(len(module.contract.inputs))]
    finished = f"{module.function()}({', '.join(['product', *loads[2:], *module.parameters(module.out.value)])})"
    text = Template(template).substitute(
        item=module.out.value, load_a=loads[0], load_b=loads[1], store=indented(module.store(finished), template)
    )
    text = module.bindings(scratch=module.out.value) + module.loads(numbers=False) + text
    if module.out.element != "f32":
        return text
    parts = [
        text,
        "@group(0) @binding(0) var<storage, read> a_vectors: array<vec4<f32>>;",
        "@group(0) @binding(1) var<storage, read> b_vectors: array<vec4<f32>>;",
        _tiles(module),
        *(Template(read_template("matrix_tile_entries")).substitute(tile.substitutions()) for tile in TILES),
        _dots(module, finished),
        _columns(module, finished),
    ]
    return "\n".join(parts)


def _dots(module: Module, finished: str) -> str:
    """Returns the entry points for few rows or columns, of matrices that are read along k."""
    template = read_template("matrix_dots")
    loads, adds = [], []
    for j in range(8):
        place = f"4u * (i + {j}u * size)"
        loads.append(f"let a{j} = lw_vector_of_a(a + {place} * a_step, a_others);")
        adds.append(f"sum{j % 2} += a{j} * lw_vector_of_b(b + {place} * b_step, b_others);")
    return Template(template).substitute(
        load_eight="\n".join(loads), add_eight="\n".join(adds), store=indented(module.store(finished), template)
    )


def _columns(module: Module, finished: str) -> str:
    """Returns the entry point for few rows of A, and a B that is read along n."""
    template = read_template("matrix_columns")

    def sums(count: int) -> str:
        lines = [f"sum0 += lw_element_of_a(a + {j}u * a_step) * b{j};" for j in range(count)]
        lines.append("if (lw.m > 1u) {")
        for j in range(count):
            for row, other in enumerate("xyz", 1):
                lines.append(f"    sum{row} += lw_element_of_a(a + others.{other} + {j}u * a_step) * b{j};")
        return margin.join([*lines, "}"])

    margin = "\n" + 16 * " "
    return Template(template).substitute(
        row_loads=margin.join(f"let b{j} = lw_vector_of_b(b + {j}u * b_step, b_others);" for j in range(8)),
        row_sums=sums(8),
        one_sums=sums(1),
        store=indented(module.store(finished), template),
    )


def _tiles(module: Module) -> str:
    """Returns what the entry points for tiles of all sizes share."""
    inputs = [each.name for each in module.contract.inputs]
    finish = []
    for component in range(4):
        loads = [
            f"lw_tile_{name}(at.{COMPONENTS[position]} + {component}u * lw.column_strides.{COMPONENTS[position]})"
            for position, name in enumerate(inputs[2:], 2)
        ]
        arguments = [f"products.{COMPONENTS[component]}", *loads, *module.parameters(module.out.value)]
        finish.append(f"{module.function()}({', '.join(arguments)})")
    text = Template(read_template("matrix_tiles")).substitute(
        out_binding=len(inputs),
        scratch_binding=len(inputs) + 1,
        finish=f"let value = vec4<f32>({', '.join(finish)});",
        component=COMPONENTS[len(inputs)],
    )
    return module.loads(numbers=False, results=False, first=2, stem="lw_tile") + text


def declarations(tile: Tile) -> str:
    """Returns what the entry points for tiles of one size use, in all modules. The steps along k are written out."""
    margin = "\n" + 8 * " "  # so that a brace ends a declaration only where it does in the template
    registers = [(row, j) for row in range(ROWS) for j in range(tile.column_vectors)]
    loads = []  # the vector of a strip, the expression that loads it, and where its elements are along k
    for letter, extent in (("a", tile.rows), ("b", tile.columns)):
        quarter = extent // 4
        for j in range(DEPTH * quarter // tile.invocations):
            place = f"{letter}_at + {letter}.second" if j else f"{letter}_at"
            step = tile.invocations // quarter * j
            along_k = f"select(vec4<u32>(t / {quarter}u + {step}u), along, {letter}_is_along_k)"
            loads.append((f"{letter}{j}", f"lw_vector_of_{letter}({place}, {letter}.others)", along_k))

    def put(number: int) -> str:
        """Returns the lines that put the vectors into a strip, transposed if they are along k."""
        lines = []
        for letter, extent in (("a", tile.rows), ("b", tile.columns)):
            quarter, strip = extent // 4, f"lw_strips_{letter}_{tile.name}[{number}]"
            along_k, along_rows = [], []
            for j in range(DEPTH * quarter // tile.invocations):
                group = f"t / 8u + {tile.invocations // 8 * j}u"
                row = f"t / {quarter}u + {tile.invocations // quarter * j}u"
                along_k += [f"{strip}[t % 2u * 4u + {c}u][{group}][t / 2u % 4u] = {letter}{j}[{c}];" for c in range(4)]
                along_rows.append(f"{strip}[{row}][t % {quarter}u] = {letter}{j};")
            lines += [f"if ({letter}_is_along_k) {{", *along_k, "} else {", *along_rows, "}"]
        return margin.join(lines)

    def multiply(strip: int) -> str:
        rows = ["y", f"y + {tile.rows // 8}u"]
        columns = [f"x + {tile.across * j}u" for j in range(tile.column_vectors)]
        strips = f"lw_strips_$_{tile.name}[{strip}]"
        return margin.join(multiply_strips(rows, columns, lambda row, j: f"c.r{row}_{j}", DEPTH, strips))

    def store(function: str, first: str) -> str:
        places = {(row, j): (row % 4 + row // 4 * tile.rows // 2, 4 * tile.across * j) for row, j in registers}
        return margin.join(
            f"{function}({first}, row + {y}u, column + {x}u, c.r{row}_{j});" for (row, j), (y, x) in places.items()
        )

    return Template(read_template("matrix_tile")).substitute(
        tile.substitutions(),
        registers=margin.join(f"r{row}_{j}: vec4<f32>," for row, j in registers),
        load_first=margin.join(
            f"var {name} = select(vec4<f32>(), {load}, {along} < vec4<u32>(first));" for name, load, along in loads
        ),
        load_if_there=margin.join(f"{name} = select(vec4<f32>(), {load}, is_there);" for name, load, _ in loads),
        load=margin.join(f"{name} = {load};" for name, load, _ in loads),
        put_0=put(0),
        put_1=put(1),
        multiply_0=multiply(0),
        multiply_1=multiply(1),
        store_rows=store("lw_store_four", "base"),
        store_parts=store("lw_store_part", "i"),
    )
