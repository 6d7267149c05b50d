"""kernels.c and cuda_kernels.cu: the one translation unit of a library of kernels, for CPUs and for CUDA.

For an elementwise operation or a cast this writes the loop around its expression in core/ops. The other kinds' headers
in core/ops define their kernels themselves, by the macro of their kind. Both files end with the library's table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .schema import Contract, Kernel, Parameter

# Elements worth a task of their own, by complexity: 10 to 30 us of work for one thread. Zen 5, 4 GHz, AVX2, 2026-11.
GRAIN = {"low": 1 << 16, "medium": 1 << 16, "high": 1 << 15}
LOOPED = ("elementwise", "cast")


@dataclass(frozen=True)
class Lane:
    """How elements of a dtype are kept in memory and in lanes (core/simd/memory.h)."""

    type: str  # of the lanes
    element: str  # in memory
    size: int
    storage: str = ""  # the loads' and stores' suffix where memory holds something else than the lanes

    def load(self, place: str) -> str:
        return f"{self.type}_load{self.storage}({place})"

    def load_partial(self, place: str, count: str) -> str:
        return f"{self.type}_load_partial{self.storage}({place}, {count}, {self.set('0')})"

    def store(self, place: str, value: str) -> str:
        return f"{self.type}_store{self.storage}({place}, {value})"

    def store_partial(self, place: str, value: str, count: str) -> str:
        return f"{self.type}_store_partial{self.storage}({place}, {value}, {count})"

    def set(self, value: str) -> str:
        return f"{self.type}_set({value})"


# Kernels whose operands all have up to 32 bits use 32-bit lanes; with a 64-bit operand they use 64-bit lanes, and casts
# use wide ones, as many 64-bit lanes as there are 32-bit ones.
NARROW = {
    "bool": Lane("vm32", "uint8_t", 1, "_bool"),
    "int32": Lane("vi32", "int32_t", 4),
    "float16": Lane("vf32", "uint16_t", 2, "_float16"),
    "float32": Lane("vf32", "float", 4),
    "bits8": Lane("vi32", "uint8_t", 1, "_bits8"),
    "bits16": Lane("vi32", "uint16_t", 2, "_bits16"),
    "bits32": Lane("vi32", "int32_t", 4),
}
LONG = {
    "bool": Lane("vm64", "uint8_t", 1, "_bool"),
    "int64": Lane("vi64", "int64_t", 8),
    "float64": Lane("vf64", "double", 8),
    "bits64": Lane("vi64", "int64_t", 8),
}
WIDE = NARROW | {"int64": Lane("wi64", "int64_t", 8), "float64": Lane("wf64", "double", 8)}


@dataclass(frozen=True)
class Loop:
    """An elementwise kernel or a cast, resolved to lanes."""

    kernel: Kernel
    expression: str  # the C function
    inputs: tuple[tuple[str, Lane], ...]
    output: Lane
    parameters: tuple[tuple[str, str], ...]  # the name of its lanes in C, and the value in each
    computed: Lane  # what the parameters become
    lanes: str  # how many elements go at once
    grain: int
    is_short: bool  # a few instructions, beside which those of the loop itself count

    @property
    def call(self) -> str:
        """The expression, on lanes that are named as the inputs."""
        return f"{self.expression}({', '.join(name for name, _ in (*self.inputs, *self.parameters))})"


def emit(contracts: tuple[Contract, ...]) -> dict[str, str]:
    """Both files, by name."""
    return {"kernels.c": kernels_c(contracts), "cuda_kernels.cu": cuda_kernels(contracts)}


def kernels_c(contracts: tuple[Contract, ...]) -> str:
    """A CPU's library."""
    with_kernels = [contract for contract in contracts if contract.kernels]
    includes = "\n".join(f'#include "ops/{contract.operation}.h"' for contract in with_kernels)
    loops = "\n".join(_c_loop(loop) for loop in loops_of(contracts))
    entries = "\n".join(_entry(contract, kernel) for contract in with_kernels for kernel in contract.kernels)
    return f"""\
/* All kernels of one instruction set, and the table that exports them. Generated from contracts/ by kernels.py. */
#include "freestanding.h"

#include "elementwise.h"
#include "lanewise_table.h"
{includes}

{loops}
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
    """A kernel in the table; where the bits are the same on every instruction set, another library's may stand in."""
    function = f"lw_{kernel.name}"
    return f"        .{kernel.name} = {f'SIMD_REPRODUCIBLE({function})' if contract.reproducible else function},"


def loops_of(contracts: tuple[Contract, ...]) -> Iterator[Loop]:
    """The kernels whose loops are written here, in the table's order."""
    for contract in contracts:
        if contract.kind.name in LOOPED:
            for kernel in contract.kernels:
                yield _loop(contract, kernel)


def _loop(contract: Contract, kernel: Kernel) -> Loop:
    is_cast = contract.kind.name == "cast"
    dtypes = [each.dtype or kernel.dtype for each in contract.inputs]
    is_long = not is_cast and any(dtype in LONG and dtype != "bool" for dtype in (*dtypes, kernel.result))
    lanes = WIDE if is_cast else LONG if is_long else NARROW
    computed = lanes[kernel.dtype]
    target = f"_{kernel.result}" if is_cast else ""
    parameters = () if is_cast else contract.expression_parameters
    return Loop(
        kernel=kernel,
        expression=f"op_{kernel.stem}_{kernel.dtype}{target}",
        inputs=tuple((each.name, lanes[dtype]) for each, dtype in zip(contract.inputs, dtypes, strict=True)),
        output=lanes[kernel.result],
        parameters=tuple((f"lane_{each.name}", _value(computed, i, each)) for i, each in parameters),
        computed=computed,
        lanes="VF64_LANES" if is_long else "VF32_LANES",
        grain=GRAIN[contract.complexity],
        is_short=contract.is_short,
    )


def _value(lane: Lane, index: int, parameter: Parameter) -> str:
    """A parameter as an element of the computed dtype."""
    value = f"parameters[{index}].{'f' if parameter.type == 'float' else 'i'}"
    return f"{value} != 0" if lane.storage == "_bool" else f"({lane.element}){value}"


def _c_loop(loop: Loop) -> str:
    """The body over contiguous arrays, its description for elementwise.h, and the kernel."""
    name, out = loop.kernel.name, loop.output
    pointers = "".join(
        f"    const {lane.element} *in_{each} = inputs[{i}];\n" for i, (each, lane) in enumerate(loop.inputs)
    )
    parameters = "".join(
        f"    const {loop.computed.type} {each} = {loop.computed.set(value)};\n" for each, value in loop.parameters
    )
    whole = "".join(f"        {lane.type} {each} = {lane.load(f'in_{each} + i')};\n" for each, lane in loop.inputs)
    partial = "".join(
        f"        {lane.type} {each} = {lane.load_partial(f'in_{each} + i', 'rest')};\n" for each, lane in loop.inputs
    )
    sizes = ", ".join(str(lane.size) for lane in (*(lane for _, lane in loop.inputs), out))
    unroll = "#pragma GCC unroll BODY_UNROLL\n" if loop.is_short else ""
    return f"""\
static void body_{name}(int64_t count, const void *const *inputs, void *output, const lw_scalar *parameters) {{
{pointers}    {out.element} *out = output;
    (void)parameters;
{parameters}    int64_t i = 0;
{unroll}    for (int64_t left = count / {loop.lanes}; left > 0; left--, i += {loop.lanes}) {{
{whole}        {out.store("out + i", loop.call)};
    }}
#if SIMD_PARTIAL
    if (i < count) {{
        int rest = (int)(count - i);
{partial}        {out.store_partial("out + i", loop.call, "rest")};
    }}
#endif
}}
static const elementwise kernel_{name} = {{
    body_{name}, {len(loop.inputs) + 1}, {{{sizes}}}, {loop.grain}, {int(loop.is_short)}}};
static lw_status lw_{name}(lw_context *context, const void *layout, const void *const *inputs, void *const *outputs,
                           const lw_scalar *parameters) {{
    return elementwise_run(&kernel_{name}, context, layout, inputs, outputs, parameters);
}}
"""


def cuda_kernels(contracts: tuple[Contract, ...]) -> str:
    """The loops as functors for native/cuda/elementwise.cuh; other kinds stay NULL in the table."""
    looped = [contract for contract in contracts if contract.kind.name in LOOPED]
    includes = "\n".join(f'#include "ops/{contract.operation}.h"' for contract in looped)
    loops = "\n".join(_cuda_loop(loop) for loop in loops_of(contracts))
    mine = {kernel.name for contract in looped for kernel in contract.kernels}
    entries = "\n".join(
        f"        {f'lw_{kernel.name}' if kernel.name in mine else 'nullptr'}, // {kernel.name}"
        for contract in contracts
        for kernel in contract.kernels
    )
    return f"""\
// The CUDA library's elementwise kernels, and the table that exports them. Generated from contracts/ by kernels.py.
#include "elementwise.cuh"
#include "lanewise_table.h"
#include "memory.cuh"
{includes}

{loops}
extern "C" const lw_library lanewise_kernels = {{
    {{LW_ABI_VERSION, LW_KERNEL_COUNT, LW_SIGNATURE, SIMD_FEATURES, SIMD_NAME, CUDA_MEMORY}},
    {{
{entries}
    }},
}};
"""


def _cuda_loop(loop: Loop) -> str:
    """What one thread does for one element, and the kernel that launches it."""
    name, out = loop.kernel.name, loop.output
    members = "".join(f"    {loop.computed.type} {each};\n" for each, _ in loop.parameters)
    values = ", ".join(value for _, value in loop.parameters)
    loads = "".join(
        f"        {lane.type} {each} = {lane.load(f'(const {lane.element} *)in[{i}]')};\n"
        for i, (each, lane) in enumerate(loop.inputs)
    )
    sizes = ", ".join(str(lane.size) for lane in (*(lane for _, lane in loop.inputs), out))
    return f"""\
struct element_{name} {{
{members}    __device__ void operator()(const char *const *in, char *out) const {{
{loads}        {out.store(f"({out.element} *)out", loop.call)};
    }}
}};
static lw_status lw_{name}(lw_context *context, const void *layout, const void *const *inputs, void *const *outputs,
                           const lw_scalar *parameters) {{
    (void)parameters;
    return elementwise_launch<{sizes}>(context, "{name}", layout, inputs, outputs, element_{name}{{{values}}});
}}
"""
