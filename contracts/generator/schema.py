"""What a contract says, as immutable data: the one form in which every emitter sees it.

generator/load.py makes these from the YAML files and checks them; nothing here reads a file. The names of kernels
are decided here and nowhere else (Contract.kernels).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

Value = bool | int | float | str | None

DTYPES = ("bool", "int32", "int64", "float16", "float32", "float64")  # the order of lw_dtype
FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int32", "int64")
ITEM_BITS = {"bool": 8, "int32": 32, "int64": 64, "float16": 16, "float32": 32, "float64": 64}
BITS = ("bits8", "bits16", "bits32", "bits64")  # kernels that move items without looking at them

BACKENDS = (  # in order of priority; also the spelling of lw_library_head.name
    "cuda", "wgpu", "avx512", "avx2", "avx", "sse2", "neon", "relaxed_simd", "simd128", "scalar",
)  # fmt: skip

COMPLEXITIES = ("low", "medium", "high")
KERNEL_PARAMETERS = ("float", "int", "bool", "choice", "scalar")  # handed to the kernel, in the contract's order
HOST_PARAMETERS = ("axis", "axes", "keepdims", "dtype", "shape", "pair", "pairs")  # consumed by the host
BENCH_FIELDS = (
    "size", "sizes", "dtype", "inputs", "arguments", "keywords", "result", "result_dtype", "flops",
)  # fmt: skip
PARAMETER_TYPES = KERNEL_PARAMETERS + HOST_PARAMETERS

Carried = Literal["now", "later", "none"]
CARRIED = ("now", "later", "none")
FAMILIES = ("cpu", "webgpu", "cuda")  # of backends, as kinds.yaml names them


@dataclass(frozen=True)
class Kind:
    """A signature family: one layout struct, one way of resolving arguments, one set of loops (kinds.yaml)."""

    name: str
    summary: str
    layout: str | None  # the C struct a kernel's `layout` points to; None where the kind has no kernels
    has_kernels: bool
    has_out: bool  # its Python functions take `out=`
    in_place: str  # which inputs `out` may be: "any", "first" or "none"
    backends: Mapping[str, Carried]  # per family of backends
    inner: str  # what the layout's `inner` counts, in words
    result: str  # the result's shape, in words; for docstrings
    errors: Mapping[str, str]  # error class -> when; for docstrings


@dataclass(frozen=True)
class Input:
    """A tensor argument. Inputs without a dtype of their own share the computed one."""

    name: str
    doc: str
    dtype: str | None = None
    optional: bool = False
    default: Literal["lowest", "highest"] | None = None  # what None stands for, where the kernel needs a value
    sequence: bool = False  # a sequence of tensors (concat)
    ndim: int | None = None  # the only number of dimensions that it may have


@dataclass(frozen=True)
class Limits:
    """Between which numbers a parameter must be. A float is finite in any case."""

    low: float
    high: float
    says: str  # "at least 0", or nothing where any number will do


@dataclass(frozen=True)
class Parameter:
    """An argument that is not a tensor; keyword-only unless `positional`."""

    name: str
    type: str  # one of PARAMETER_TYPES
    doc: str
    required: bool
    default: Value
    positional: bool = False
    optional: bool = False  # may be None although that is not the default
    host: bool = False  # consumed by the host although its type could be handed to a kernel
    choices: tuple[str, ...] = ()
    limits: Limits | None = None  # of a float or an int

    @property
    def for_kernel(self) -> bool:
        return self.type in KERNEL_PARAMETERS and not self.host


@dataclass(frozen=True)
class Variants:
    """A choice that selects the C expression: stems[i] names the kernels of the parameter's i-th choice."""

    parameter: str
    stems: tuple[str, ...]


@dataclass(frozen=True)
class Range:
    """Where the tests draw an input from. `whole` adds one case with bit patterns of every finite magnitude."""

    low: float
    high: float
    exclude_zero: bool = False
    whole: bool = False


@dataclass(frozen=True)
class Shapes:
    """Shapes to test, for kinds in which they do not follow from the kind alone; values come from the domain."""

    inputs: Mapping[str, Any]  # a shape, or for a sequence of tensors a list of shapes; optional ones may be missing
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Special:
    """A row that must hold exactly (finite nonzero results: within the tolerance) on every backend.

    Values are numbers or nested lists of them.
    """

    inputs: Mapping[str, Any]
    parameters: Mapping[str, Any]
    out: Any  # None where it raises
    raises: str | None  # the name of an error class
    dtypes: tuple[str, ...]  # the computed dtypes the row is about
    unless: Mapping[str, str]  # backend -> why it is excused


@dataclass(frozen=True)
class Bound:
    """The allowed error: the largest of the parts that are given; all zero means the reference rounded once."""

    ulp: float = 0.0  # units in the last place of the reference, in the result's dtype
    absolute: float = 0.0
    relative: float = 0.0  # of the reference
    magnitude: float = 0.0  # of the reference computed from the inputs' absolute values
    why: str = ""


@dataclass(frozen=True)
class Tolerance:
    """How far off a result may be."""

    bound: Bound
    backends: Mapping[str, Bound]  # exceptions, each with its reason

    def of(self, backend: str) -> Bound:
        return self.backends.get(backend, self.bound)


@dataclass(frozen=True)
class Law:
    """A property with a name to cite when it fails. `holds` is a Python expression over op, lw, np and the inputs."""

    name: str
    says: str
    holds: str
    dtypes: tuple[str, ...]  # the computed dtypes it is about


@dataclass(frozen=True)
class Kernel:
    """One entry of the table."""

    name: str  # add_float32, astype_int32_bool, take_bits16: also lw_<name> in C and the field in lw_kernels
    operation: str
    stem: str  # the expression's name in core/ops, op_<stem>_<dtype>; differs from operation in variants only
    dtype: str  # the computed dtype, or bits8 .. bits64; of a cast, the dtype it reads
    result: str  # the dtype it writes (bits8 .. bits64 again for data movement)


@dataclass(frozen=True)
class Contract:
    """All that one contract says."""

    operation: str
    kind: Kind
    path: Path
    summary: str
    formula: str
    source: str
    inputs: tuple[Input, ...]
    parameters: tuple[Parameter, ...]
    variants: Variants | None
    dtypes: Mapping[str, str]  # computed dtype -> result dtype; empty for data movement and casts
    moves: bool  # `dtypes: {any: same}`: kernels by item size, every dtype
    complexity: str
    reproducible: bool
    reference: Mapping[str, str]  # computed dtype ("" for the rest) -> expression
    domain: Mapping[str, Mapping[str, Range]]  # input -> computed dtype ("" for the rest) -> range
    cases: tuple[Shapes, ...]
    special: tuple[Special, ...]
    tolerance: Tolerance
    laws: tuple[Law, ...]
    aliases: tuple[str, ...]
    example: str  # doctest lines; `lw` is imported
    fallback: str | None  # why WebGPU leaves it to the CPU, or None
    internal: bool  # has kernels, no Python function
    method: bool  # is also a method of Tensor
    has_out: bool  # the Python function takes `out=`
    device: bool  # takes `device=`, as the array API's functions that make arrays do
    is_short: bool = False  # elementwise: a few instructions per element, so that large arrays are bound by memory
    refuses_empty: bool = False  # an axis without elements is an error, because there is no identity
    takes_number: bool = False  # rows: an input without dimensions is a row of one element
    returns: str = "Tensor"  # the type in Python; of several tensors, a list or a tuple of them
    result_shape: str = ""  # these three, in words for docstrings, in place of what follows from the kind and `dtypes`
    result_dtype: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)  # error class -> when
    bench: Mapping[str, Any] = field(default_factory=dict)  # sizes and arguments of tests/bench
    lender: str | None = None  # the operation whose kernels it calls, with layouts of its own

    @property
    def names(self) -> tuple[str, ...]:
        """The operation and its aliases."""
        return (self.operation, *self.aliases)

    @property
    def computed(self) -> tuple[str, ...]:
        """The dtypes it computes in, in the order of DTYPES."""
        every = self.moves or self.kind.name == "cast"
        return DTYPES if every else tuple(dtype for dtype in DTYPES if dtype in self.dtypes)

    def result(self, dtype: str) -> str:
        """The dtype of the result (of a cast, which has a parameter for it, the same)."""
        return self.dtypes.get(dtype, dtype)

    def input(self, name: str) -> Input:
        return next(item for item in self.inputs if item.name == name)

    def parameter(self, name: str) -> Parameter:
        return next(item for item in self.parameters if item.name == name)

    @property
    def kernel_parameters(self) -> tuple[Parameter, ...]:
        """What the kernel finds in parameters[0], [1], ..."""
        return tuple(item for item in self.parameters if item.for_kernel)

    @property
    def expression_parameters(self) -> tuple[tuple[int, Parameter], ...]:
        """The kernel's parameters that its expression takes, each with its position in parameters[]."""
        chosen = self.variants.parameter if self.variants else None
        return tuple((i, item) for i, item in enumerate(self.kernel_parameters) if item.name != chosen)

    @property
    def stems(self) -> tuple[str, ...]:
        return self.variants.stems if self.variants else (self.operation,)

    @cached_property
    def kernels(self) -> tuple[Kernel, ...]:
        """Its entries of the table, in order."""
        if not self.kind.has_kernels or self.lender:
            return ()
        name = self.operation
        if self.kind.name == "cast":
            pairs = [(source, target) for source in DTYPES for target in DTYPES if source != target]
            return tuple(Kernel(f"{name}_{source}_{target}", name, name, source, target) for source, target in pairs)
        if self.moves:
            return tuple(Kernel(f"{name}_{bits}", name, name, bits, bits) for bits in BITS)
        return tuple(
            Kernel(f"{stem}_{dtype}", name, stem, dtype, self.dtypes[dtype])
            for stem in self.stems
            for dtype in self.computed
        )

    @property
    def kernel_names(self) -> tuple[str, ...]:
        """The kernels that it calls: its own, or those of its lender."""
        if self.lender:
            return tuple(dict.fromkeys(self.kernel(dtype) for dtype in self.computed))
        return tuple(kernel.name for kernel in self.kernels)

    def kernel(self, dtype: str, variant: int = 0) -> str:
        """The name of the kernel that computes in `dtype`."""
        return f"{self.lender or self.stems[variant]}_{f'bits{ITEM_BITS[dtype]}' if self.moves else dtype}"

    def expression(self, dtype: str) -> str:
        return self.reference.get(dtype, self.reference.get("", ""))

    def range(self, name: str, dtype: str) -> Range:
        """Where to draw input `name` from when computing in `dtype`."""
        by_dtype = self.domain.get(name, {})
        if dtype in by_dtype:
            return by_dtype[dtype]
        if "" in by_dtype:
            return by_dtype[""]
        return DEFAULT_RANGES[dtype]


DEFAULT_RANGES: Mapping[str, Range] = {
    "bool": Range(0, 1),
    "int32": Range(-(2**31), 2**31 - 1),
    "int64": Range(-(2**53), 2**53),
    "float16": Range(-100.0, 100.0),
    "float32": Range(-100.0, 100.0),
    "float64": Range(-100.0, 100.0),
}


def all_kernels(contracts: tuple[Contract, ...]) -> tuple[Kernel, ...]:
    """The table: operations by name, and within one its variants and dtypes in order."""
    return tuple(kernel for contract in contracts for kernel in contract.kernels)
