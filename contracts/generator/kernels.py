"""Emits the translation units with kernels: for each dtype that libraries compute in, kernels_<dtype>.c and, for the
CUDA library, cuda_kernels_<dtype>.cu; and kernels.c and cuda_kernels.cu, with the other kernels and the table.

These files apply the expressions of elementwise operations and casts to arrays. The C files also include the kernels of
the other kinds, which the headers in core/ops define with a macro per kind.
"""

from __future__ import annotations

from dataclasses import dataclass

from .facts import FACTS, DType
from .schema import BITS, Contract, Kernel, Parameter

LOOPED = ("elementwise", "cast")  # the kinds whose loops over elements are emitted here


@dataclass(frozen=True)
class Vector:
    """How elements of a dtype are stored in memory and in a vector (core/simd/memory.h)."""

    type: str  # C type of the vector
    element: str  # C type of the elements in memory
    size: int
    dtype: str = ""  # empty for bits
    storage: str = ""  # suffix of the load and store functions, if they convert between memory and lanes
    fraction: str = ""  # of floats that are converted: the functions' last argument

    def load(self, pointer: str) -> str:
        return f"{self.type}_load{self.storage}({pointer}{self.fraction})"

    def load_partial(self, pointer: str, count: str) -> str:
        return f"{self.type}_load_partial{self.storage}({pointer}, {count}, {self.set('0')}{self.fraction})"

    def store(self, pointer: str, value: str) -> str:
        return f"{self.type}_store{self.storage}({pointer}, {value}{self.fraction})"

    def store_partial(self, pointer: str, value: str, count: str) -> str:
        return f"{self.type}_store_partial{self.storage}({pointer}, {value}, {count}{self.fraction})"

    def set(self, value: str) -> str:
        return f"{self.type}_set({value})"


def _vectors(**types: str) -> dict[str, Vector]:
    """Returns the vectors of dtypes, from their types."""
    return {
        dtype: Vector(type_, FACTS.dtypes[dtype].element, FACTS.dtypes[dtype].bits // 8, dtype)
        for dtype, type_ in types.items()
    }


def _converted(dtype: DType) -> Vector:
    """Returns the vector of a dtype that is only stored: loads and stores convert between memory and its lanes."""
    if dtype.fraction:
        storage, fraction = "_half", f", {dtype.fraction}"
    else:
        storage, fraction = f"_{dtype.element.removesuffix('_t')}", ""
    return Vector(NARROW[dtype.computed].type, dtype.element, dtype.bits // 8, dtype.name, storage, fraction)


# Kernels whose elements all have at most 32 bits use 32-bit lanes (NARROW); others, except casts, use 64-bit lanes
# (LONG). Casts use WIDE, whose vectors of 64-bit lanes have as many lanes as the NARROW vectors of 32-bit lanes.
NARROW = {
    **_vectors(bool="vm32", int32="vi32", uint32="vu32", float32="vf32"),
    "bits8": Vector("vi32", "uint8_t", 1, storage="_uint8"),
    "bits16": Vector("vi32", "uint16_t", 2, storage="_uint16"),
    "bits32": Vector("vi32", "int32_t", 4),
}
LONG = {
    **_vectors(bool="vm64", int64="vi64", uint64="vu64", float64="vf64"),
    "bits64": Vector("vi64", "int64_t", 8),
}
# Short operations compute integers of 1 and 2 bytes in lanes of this size, and bfloat16 in PAIRS of vectors of float32:
# the elements at even and at odd positions of a register.
BYTES = {
    1: _vectors(bool="vm8", int8="vi8", uint8="vu8"),
    2: _vectors(bool="vm16", int16="vi16", uint16="vu16"),
}
PAIRS = _vectors(bool="vm16", bfloat16="vu16")
STORED = {each.name: _converted(each) for each in FACTS.dtypes.values() if each.computed}
WIDE = NARROW | STORED | _vectors(int64="wi64", uint64="wu64", float64="wf64")


@dataclass(frozen=True)
class Loop:
    """The loop of an elementwise kernel or a cast: its expression and the vectors that it processes."""

    kernel: Kernel
    expression: str  # name of the C function that computes one vector
    bounds: tuple[int, ...]  # the last arguments of the function: of a cast to a narrow integer, its range
    inputs: tuple[tuple[str, Vector], ...]
    output: Vector
    parameters: tuple[tuple[str, str], ...]  # C name of the vector that holds a parameter in every lane; the value in C
    computed: Vector  # the type of the broadcast parameters
    lanes: str  # elements per iteration
    has_entry: bool  # whether the table has it
    own: tuple[tuple[str, str], ...]  # dtypes that are only stored, each with the kernel that computes in it
    in_pairs: bool  # the expression computes two vectors of float32 for one of bfloat16
    moves: bool  # the expression is its input
    is_short: bool  # cheap expression: the loop is unrolled, and large results are written with streaming stores

    @property
    def call(self) -> str:
        """A C call of the expression; its arguments are the vectors named after the inputs and parameters."""
        if self.in_pairs:
            even, odd = (
                f"{self.expression}({', '.join(f'vf32_{half}_bfloat16({name})' for name, _ in self.inputs)})"
                for half in ("even", "odd")
            )
            return f"{'vm32' if self.output.type == 'vm16' else 'vf32'}_join_bfloat16({even}, {odd})"
        arguments = [name for name, _ in (*self.inputs, *self.parameters)]
        return f"{self.expression}({', '.join([*arguments, *map(str, self.bounds)])})"


@dataclass(frozen=True)
class Unit:
    """The kernels of one translation unit."""

    elements: str  # the dtype that they compute in; empty for kernels that copy elements by size, and for casts
    contracts: tuple[Contract, ...]  # those with kernels in this unit
    loops: tuple[Loop, ...]

    @property
    def entries(self) -> list[Loop]:
        """The loops that the table has."""
        return [loop for loop in self.loops if loop.has_entry]

    @property
    def suffix(self) -> str:
        return f"_{self.elements}" if self.elements else ""

    @property
    def define(self) -> str:
        """The macro that chooses the elements of core/element.h."""
        return f"#define LW_ELEMENT_{self.elements.upper()}\n" if self.elements else ""


def units_of(contracts: tuple[Contract, ...]) -> list[Unit]:
    """Returns the translation units: that without elements, then one for each dtype that some kernel computes in."""
    loops: dict[str, list[Loop]] = {"": [], **{name: [] for name in FACTS.dtypes}}
    having: dict[str, list[Contract]] = {name: [] for name in loops}
    for contract in contracts:
        for kernel in (*contract.kernels, *_narrow_kernels(contract)):
            elements = _elements(contract, kernel)
            having[elements] += [contract] if contract not in having[elements][-1:] else []
            loops[elements] += [_loop(contract, kernel)] if contract.kind.name in LOOPED else []
    return [Unit(name, tuple(having[name]), tuple(loops[name])) for name in loops if having[name]]


def _own(contract: Contract, dtype: str) -> str:
    """Returns the name of the kernel of a short operation that computes in a dtype that others only store."""
    signless = FACTS.dtypes[dtype].signless if contract.signless else ""
    return f"{contract.operation}_{signless or dtype}"


def _narrow_kernels(contract: Contract) -> list[Kernel]:
    """Returns the kernels of a narrow operation that are not in the table: a kernel there calls them."""
    stored = [dtype for dtype in contract.dtypes if FACTS.dtypes[dtype].computed] if contract.narrow else []
    if contract.kind.name not in LOOPED:  # reductions compute in integers alone
        stored = [dtype for dtype in stored if FACTS.dtypes[dtype].elements == "int32"]
    name = contract.operation
    return [Kernel(f"{name}_{each}", name, name, each, contract.result(each))
            for each in stored if _own(contract, each) == f"{name}_{each}"]  # fmt: skip


def _elements(contract: Contract, kernel: Kernel) -> str:
    """Returns the dtype of the unit that has a kernel."""
    if contract.kind.name in ("cast", "gather"):
        return ""
    if kernel.dtype in BITS:  # whose elements are selected and copied as integers
        return "int64" if BITS[kernel.dtype] == 64 else "int32"
    facts = FACTS.dtypes[kernel.dtype]
    return kernel.dtype if facts.group.name != "floating" else facts.elements


def emit(contracts: tuple[Contract, ...]) -> dict[str, str]:
    """Returns the text of each file by name."""
    units = units_of(contracts)
    texts = {f"kernels{unit.suffix}.c": _c_unit(unit) for unit in units}
    texts["kernels.c"] += _c_casts(contracts) + _c_table(contracts)
    texts |= {f"cuda_kernels{unit.suffix}.cu": _cuda_unit(unit) for unit in units if unit.entries}
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


def _c_casts(contracts: tuple[Contract, ...]) -> str:
    """Returns the table of casts, which other kernels use to convert their operands."""
    casts = [kernel for contract in contracts if contract.kind.name == "cast" for kernel in contract.kernels]
    rows = "\n".join(
        f"    [LW_{each.dtype.upper()}][LW_{each.result.upper()}] = &kernel_{each.name}," for each in casts
    )
    return f"""
const elementwise *const elementwise_casts[LW_DTYPE_COUNT][LW_DTYPE_COUNT] = {{
{rows}
}};
"""


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
    that do not compute in floats are left to simd128 as well: integers gain nothing, and the wheel stays small.
    """
    function = f"lw_{kernel.name}"
    shared = contract.reproducible or kernel.dtype not in ("float32", "float64")
    return f"        .{kernel.name} = {f'SIMD_REPRODUCIBLE({function})' if shared else function},"


def _loop(contract: Contract, kernel: Kernel) -> Loop:
    is_cast = contract.kind.name == "cast"
    dtypes = [each.dtype or kernel.dtype for each in contract.inputs]
    facts = FACTS.dtypes.get(kernel.dtype)
    elements = _elements(contract, kernel)
    is_narrow = bool(facts and facts.computed and not is_cast)
    vectors, lanes = NARROW, "VF32_LANES"
    in_pairs = is_narrow and kernel.dtype in PAIRS
    if in_pairs:
        vectors, lanes = PAIRS, "V16_LANES"
    elif is_cast or (is_narrow and elements != kernel.dtype):
        vectors = WIDE
    elif facts and is_narrow:
        vectors, lanes = BYTES[facts.bits // 8], f"V{facts.bits}_LANES"
    elif elements in ("int64", "uint64", "float64"):
        vectors, lanes = LONG, "VF64_LANES"
    computed = vectors[kernel.dtype]
    expression, bounds = f"op_{kernel.stem}", tuple[int, ...]()
    if facts and is_cast:
        expression, bounds = _cast(facts, FACTS.dtypes[kernel.result])
    parameters = () if is_cast else contract.expression_parameters
    stored = [each for each in contract.dtypes if FACTS.dtypes[each].computed == kernel.dtype]
    return Loop(
        kernel=kernel,
        expression=expression,
        bounds=bounds,
        inputs=tuple((each.name, vectors[dtype]) for each, dtype in zip(contract.inputs, dtypes, strict=True)),
        output=vectors[kernel.result],
        parameters=tuple((f"{each.name}_lanes", _value(computed, i, each)) for i, each in parameters),
        computed=computed,
        lanes=lanes,
        has_entry=not is_narrow,
        own=tuple((each, _own(contract, each)) for each in stored) if contract.narrow else (),
        in_pairs=in_pairs,
        moves=contract.formula == "x" and not is_cast,
        is_short=contract.is_short,
    )


def _cast(source: DType, target: DType) -> tuple[str, tuple[int, ...]]:
    """Returns the C function that converts between two dtypes, and its last arguments."""
    if not target.computed:
        return f"op_astype_{source.elements}_{target.name}", ()
    kind = "half" if target.fraction else "narrow"
    return f"op_astype_{source.elements}_{kind}", () if target.fraction else target.bounds


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
    step = f"BODY_UNROLL * {loop.lanes}" if loop.is_short else loop.lanes
    loads = "".join(
        f"        {vector.type} {each} = {vector.load(f'in_{each} + i')};\n" for each, vector in loop.inputs
    )
    advance = "".join(
        f"        in_{each} += {f'BODY_STEP({i}, {step})' if len(loop.inputs) > 1 else step};\n"
        for i, (each, _) in enumerate(loop.inputs)
    )
    partial_loads = "".join(
        f"        {vector.type} {each} = {vector.load_partial(f'in_{each} + i', 'tail')};\n"
        for each, vector in loop.inputs
    )
    operands = [*(vector for _, vector in loop.inputs), out]
    sizes = ", ".join(str(vector.size) for vector in operands)
    dtypes = ", ".join(f"LW_{vector.dtype.upper()}" if vector.dtype else "-1" for vector in operands)
    lanes = loop.lanes if loop.lanes != "VF64_LANES" else "VF32_LANES"  # so that casts find whole vectors of both
    entry = _c_entry(name) if loop.has_entry else ""
    own, table = "", "NULL"
    if loop.own:
        names = dict.fromkeys(f"extern const elementwise kernel_{each};\n" for _, each in loop.own)
        rows = "".join(f"    [LW_{dtype.upper()}] = &kernel_{each},\n" for dtype, each in loop.own)
        table = f"own_{name}"
        own = "".join(names) + f"static const elementwise *const {table}[LW_DTYPE_COUNT] = {{\n{rows}}};\n"
    one_by_one = f"""\
    for (; i <= count - {loop.lanes}; i += {loop.lanes}) {{
{loads}        {out.store("out + i", loop.call)};
    }}
"""
    body = f"""\
{pointers}    {out.element} *out = output;
    (void)held, (void)parameters;
{parameters}#if SIMD_PARTIAL
    for (; count >= {step}; count -= {step}) {{
#pragma GCC unroll BODY_UNROLL
        for (int64_t i = 0; i < {step}; i += {loop.lanes}) {{
{loads}        {out.store("out + i", loop.call)};
        }}
{advance}        out += {step};
    }}
    int64_t i = 0;
{one_by_one if loop.is_short else ""}    if (i < count) {{
        int tail = (int)(count - i);
{partial_loads}        {out.store_partial("out + i", loop.call, "tail")};
    }}
#else
    int64_t i = 0;
{one_by_one}#endif
"""
    if loop.moves:
        body = f"    (void)held, (void)parameters;\n    copy_bytes(output, inputs[0], count * {out.size});\n"
        lanes = "1"
    return f"""\
static void body_{name}(int64_t count, uint32_t held, const void *const *inputs, void *output,
{" " * 17}const lw_scalar *parameters) {{
{body}}}
{own}const elementwise kernel_{name} = {{
    body_{name}, {len(loop.inputs) + 1}, {{{sizes}}}, {{{dtypes}}}, {lanes}, {int(loop.is_short)}, {table}}};
{entry}"""


def _c_entry(name: str) -> str:
    """Returns the C definition of a kernel of the table."""
    return f"""\
lw_status lw_{name}(lw_context *context, const void *layout, const void *const *inputs, void *const *outputs,
                    const lw_scalar *parameters) {{
    return elementwise_run(&kernel_{name}, context, layout, inputs, outputs, parameters);
}}
"""


def _cuda_unit(unit: Unit) -> str:
    """Returns cuda_kernels_<dtype>.cu, or the beginning of cuda_kernels.cu: functors for elementwise.cuh."""
    looped = [contract for contract in unit.contracts if contract.kind.name in LOOPED]
    includes = "\n".join(f'#include "ops/{contract.operation}.h"' for contract in looped)
    loops = "\n".join(_cuda_loop(loop) for loop in unit.entries)
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
