"""Emits the translation units with kernels: for each dtype that libraries compute in, kernels_<dtype>.c and, for the
CUDA library, cuda_kernels_<dtype>.cu; and kernels.c and cuda_kernels.cu, with the other kernels and the table.

These files apply the expressions of elementwise operations and casts to arrays. The C files also include the kernels of
the other kinds, which the headers in core/ops define with a macro per kind.
"""

from __future__ import annotations

from dataclasses import dataclass

from .facts import FACTS
from .schema import BITS, Contract, Kernel, Parameter

LOOPED = ("elementwise", "cast")  # the kinds whose loops over elements are emitted here


@dataclass(frozen=True)
class Vector:
    """How elements of a dtype are stored in memory and in a vector (core/simd/memory.h)."""

    type: str  # C type of the vector
    element: str  # C type of the elements in memory
    size: int
    storage: str = ""  # suffix of the load and store functions, if they convert between memory and lanes

    def load(self, pointer: str) -> str:
        return f"{self.type}_load{self.storage}({pointer})"

    def load_partial(self, pointer: str, count: str) -> str:
        return f"{self.type}_load_partial{self.storage}({pointer}, {count}, {self.set('0')})"

    def store(self, pointer: str, value: str) -> str:
        return f"{self.type}_store{self.storage}({pointer}, {value})"

    def store_partial(self, pointer: str, value: str, count: str) -> str:
        return f"{self.type}_store_partial{self.storage}({pointer}, {value}, {count})"

    def set(self, value: str) -> str:
        return f"{self.type}_set({value})"


def _vectors(**types: str) -> dict[str, Vector]:
    """Returns the vectors of dtypes, from their types; those that convert between memory and lanes have a suffix."""
    made = {}
    for dtype, text in types.items():
        type_, _, storage = text.partition(" ")
        facts = FACTS.dtypes[dtype]
        made[dtype] = Vector(type_, facts.element, facts.bits // 8, storage)
    return made


# Kernels whose elements all have at most 32 bits use 32-bit lanes (NARROW); others, except casts, use 64-bit lanes
# (LONG). Casts use WIDE, whose vectors of 64-bit lanes have as many lanes as the NARROW vectors of 32-bit lanes.
NARROW = {
    **_vectors(bool="vm32", int32="vi32", float16="vf32 _float16", float32="vf32"),
    "bits8": Vector("vi32", "uint8_t", 1, "_bits8"),
    "bits16": Vector("vi32", "uint16_t", 2, "_bits16"),
    "bits32": Vector("vi32", "int32_t", 4),
}
LONG = {
    **_vectors(bool="vm64", int64="vi64", float64="vf64"),
    "bits64": Vector("vi64", "int64_t", 8),
}
WIDE = NARROW | _vectors(int64="wi64", float64="wf64")


@dataclass(frozen=True)
class Loop:
    """The loop of an elementwise kernel or a cast: its expression and the vectors that it processes."""

    kernel: Kernel
    expression: str  # name of the C function that computes one vector
    inputs: tuple[tuple[str, Vector], ...]
    output: Vector
    parameters: tuple[tuple[str, str], ...]  # C name of the vector that holds a parameter in every lane; the value in C
    computed: Vector  # the type of the broadcast parameters
    lanes: str  # elements per iteration
    is_short: bool  # cheap expression: the loop is unrolled, and large results are written with streaming stores

    @property
    def call(self) -> str:
        """A C call of the expression; its arguments are the vectors named after the inputs and parameters."""
        return f"{self.expression}({', '.join(name for name, _ in (*self.inputs, *self.parameters))})"


@dataclass(frozen=True)
class Unit:
    """The kernels of one translation unit."""

    elements: str  # the dtype that they compute in; empty for kernels that copy elements by size, and for casts
    contracts: tuple[Contract, ...]  # those with kernels in this unit
    loops: tuple[Loop, ...]

    @property
    def suffix(self) -> str:
        return f"_{self.elements}" if self.elements else ""

    @property
    def define(self) -> str:
        """The macro that chooses the elements of core/element.h."""
        return f"#define LW_ELEMENT_{self.elements.upper()}\n" if self.elements else ""


def units_of(contracts: tuple[Contract, ...]) -> list[Unit]:
    """Returns the translation units: that without elements, then one for each computed dtype."""
    computed = dict.fromkeys(each.elements for each in FACTS.dtypes.values())
    rows = [(contract, kernel) for contract in contracts for kernel in contract.kernels]
    units = []
    for elements in ("", *computed):
        own = [(contract, kernel) for contract, kernel in rows if _elements(contract, kernel) == elements]
        loops = tuple(_loop(contract, kernel) for contract, kernel in own if contract.kind.name in LOOPED)
        having = tuple(each for each in contracts if any(contract is each for contract, _ in own))
        units.append(Unit(elements, having, loops))
    return [unit for unit in units if unit.contracts]


def _elements(contract: Contract, kernel: Kernel) -> str:
    """Returns the dtype of the unit that has a kernel."""
    if contract.kind.name in ("cast", "gather"):
        return ""
    if kernel.dtype in BITS:  # whose elements are selected and copied as integers
        return "int64" if BITS[kernel.dtype] == 64 else "int32"
    return FACTS.dtypes[kernel.dtype].elements


def emit(contracts: tuple[Contract, ...]) -> dict[str, str]:
    """Returns the text of each file by name."""
    units = units_of(contracts)
    texts = {f"kernels{unit.suffix}.c": _c_unit(unit) for unit in units}
    texts["kernels.c"] += _c_table(contracts)
    texts |= {f"cuda_kernels{unit.suffix}.cu": _cuda_unit(unit) for unit in units}
    texts["cuda_kernels.cu"] += _cuda_table(contracts)
    return texts


def _c_unit(unit: Unit) -> str:
    """Returns kernels_<dtype>.c, or the beginning of kernels.c, which are compiled for each instruction set."""
    includes = "\n".join(f'#include "ops/{contract.operation}.h"' for contract in unit.contracts)
    loops = "\n".join(_c_loop(loop) for loop in unit.loops)
    return f"""\
/* Kernels of one instruction set, for {unit.elements or "elements of any dtype"}. Generated from contracts/ by
 * kernels.py. */
{unit.define}
#include "elementwise.h"
{includes}

{loops}"""


def _declarations(contracts: tuple[Contract, ...]) -> str:
    return "\n".join(f"lw_kernel lw_{kernel.name};" for contract in contracts for kernel in contract.kernels)


def _c_table(contracts: tuple[Contract, ...]) -> str:
    """Returns the end of kernels.c: the table of all kernels of an instruction set."""
    entries = "\n".join(_entry(contract, kernel) for contract in contracts for kernel in contract.kernels)
    return f"""
#include "lanewise_table.h"

{_declarations(contracts)}

const lw_library lanewise_kernels = {{
    .head = {{
        .abi_version = LW_ABI_VERSION,
        .kernel_count = LW_KERNEL_COUNT,
        .signature = LW_SIGNATURE,
        .cpu_features = SIMD_FEATURES,
        .name = SIMD_NAME,
    }},
    .kernels = {{
{entries}
    }},
}};
"""


def _entry(contract: Contract, kernel: Kernel) -> str:
    """Returns a kernel's table entry.

    In relaxed_simd, the C macro SIMD_REPRODUCIBLE(function) gives NULL, so that the host uses simd128's kernel. Kernels
    of other dtypes than float32 are left to simd128 as well: integers gain nothing, and the wheel stays small.
    """
    function = f"lw_{kernel.name}"
    shared = contract.reproducible or kernel.dtype != "float32"
    return f"        .{kernel.name} = {f'SIMD_REPRODUCIBLE({function})' if shared else function},"


def _loop(contract: Contract, kernel: Kernel) -> Loop:
    is_cast = contract.kind.name == "cast"
    dtypes = [each.dtype or kernel.dtype for each in contract.inputs]
    is_long = _elements(contract, kernel) in ("int64", "float64")
    vectors = WIDE if is_cast else LONG if is_long else NARROW
    computed = vectors[kernel.dtype]
    parameters = () if is_cast else contract.expression_parameters
    return Loop(
        kernel=kernel,
        expression=f"op_{kernel.stem}_{kernel.dtype}_{kernel.result}" if is_cast else f"op_{kernel.stem}",
        inputs=tuple((each.name, vectors[dtype]) for each, dtype in zip(contract.inputs, dtypes, strict=True)),
        output=vectors[kernel.result],
        parameters=tuple((f"{each.name}_lanes", _value(computed, i, each)) for i, each in parameters),
        computed=computed,
        lanes="VF64_LANES" if is_long else "VF32_LANES",
        is_short=contract.is_short,
    )


def _value(vector: Vector, index: int, parameter: Parameter) -> str:
    """Returns a C expression for the value of a parameter, converted to the computed dtype."""
    value = f"parameters[{index}].{'f' if parameter.type == 'float' else 'i'}"
    return f"{value} != 0" if vector.type.startswith("vm") else f"({vector.element}){value}"


def _c_loop(loop: Loop) -> str:
    """Returns C definitions of the loop over contiguous arrays, its description for elementwise.h, and the kernel."""
    name, out = loop.kernel.name, loop.output
    pointers = "".join(
        f"    const {vector.element} *in_{each} = inputs[{i}];\n" for i, (each, vector) in enumerate(loop.inputs)
    )
    parameters = "".join(
        f"    const {loop.computed.type} {each} = {loop.computed.set(value)};\n" for each, value in loop.parameters
    )
    loads = "".join(
        f"        {vector.type} {each} = {vector.load(f'in_{each} + i')};\n" for each, vector in loop.inputs
    )
    partial_loads = "".join(
        f"        {vector.type} {each} = {vector.load_partial(f'in_{each} + i', 'tail')};\n"
        for each, vector in loop.inputs
    )
    sizes = ", ".join(str(vector.size) for vector in (*(vector for _, vector in loop.inputs), out))
    unroll = "#pragma GCC unroll BODY_UNROLL\n" if loop.is_short else ""
    return f"""\
static void body_{name}(int64_t count, const void *const *inputs, void *output, const lw_scalar *parameters) {{
{pointers}    {out.element} *out = output;
    (void)parameters;
{parameters}    int64_t i = 0;
{unroll}    for (int64_t vectors = count / {loop.lanes}; vectors > 0; vectors--, i += {loop.lanes}) {{
{loads}        {out.store("out + i", loop.call)};
    }}
#if SIMD_PARTIAL
    if (i < count) {{
        int tail = (int)(count - i);
{partial_loads}        {out.store_partial("out + i", loop.call, "tail")};
    }}
#endif
}}
static const elementwise kernel_{name} = {{
    body_{name}, {len(loop.inputs) + 1}, {{{sizes}}}, {int(loop.is_short)}}};
lw_status lw_{name}(lw_context *context, const void *layout, const void *const *inputs, void *const *outputs,
                    const lw_scalar *parameters) {{
    return elementwise_run(&kernel_{name}, context, layout, inputs, outputs, parameters);
}}
"""


def _cuda_unit(unit: Unit) -> str:
    """Returns cuda_kernels_<dtype>.cu, or the beginning of cuda_kernels.cu: functors for elementwise.cuh."""
    looped = [contract for contract in unit.contracts if contract.kind.name in LOOPED]
    includes = "\n".join(f'#include "ops/{contract.operation}.h"' for contract in looped)
    loops = "\n".join(_cuda_loop(loop) for loop in unit.loops)
    return f"""\
// The CUDA library's elementwise kernels for {unit.elements or "elements of any dtype"}. Generated from contracts/ by
// kernels.py.
{unit.define}
#include "elementwise.cuh"
{includes}

{loops}"""


def _cuda_table(contracts: tuple[Contract, ...]) -> str:
    """Returns the end of cuda_kernels.cu: the table, with NULL for the kinds that have no loop."""
    looped = tuple(contract for contract in contracts if contract.kind.name in LOOPED)
    defined = {kernel.name for contract in looped for kernel in contract.kernels}
    entries = "\n".join(
        f"        {f'lw_{kernel.name}' if kernel.name in defined else 'nullptr'}, // {kernel.name}"
        for contract in contracts
        for kernel in contract.kernels
    )
    return f"""
#include "lanewise_table.h"
#include "memory.cuh"

{_declarations(looped)}

extern "C" const lw_library lanewise_kernels = {{
    {{LW_ABI_VERSION, LW_KERNEL_COUNT, LW_SIGNATURE, SIMD_FEATURES, SIMD_NAME, CUDA_MEMORY}},
    {{
{entries}
    }},
}};
"""


def _cuda_loop(loop: Loop) -> str:
    """Returns the functor that computes one element in one thread, and the kernel that launches it."""
    name, out = loop.kernel.name, loop.output
    members = "".join(f"    {loop.computed.type} {each};\n" for each, _ in loop.parameters)
    values = ", ".join(value for _, value in loop.parameters)
    loads = "".join(
        f"        {vector.type} {each} = {vector.load(f'(const {vector.element} *)in[{i}]')};\n"
        for i, (each, vector) in enumerate(loop.inputs)
    )
    sizes = ", ".join(str(vector.size) for vector in (*(vector for _, vector in loop.inputs), out))
    return f"""\
struct element_{name} {{
{members}    __device__ void operator()(const char *const *in, char *out) const {{
{loads}        {out.store(f"({out.element} *)out", loop.call)};
    }}
}};
lw_status lw_{name}(lw_context *context, const void *layout, const void *const *inputs, void *const *outputs,
                    const lw_scalar *parameters) {{
    (void)parameters;
    return elementwise_launch<{sizes}>(context, "{name}", layout, inputs, outputs, element_{name}{{{values}}});
}}
"""
