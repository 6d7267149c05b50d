"""Contracts as immutable dataclasses, which every emitter reads.

generator/load.py makes them from the YAML files and checks them. Contract.kernels lists an operation's entries in the
kernel table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from .facts import FACTS
from .fields import ContractError

Value = bool | int | float | str | None

DTYPES = tuple(FACTS.dtypes)  # the order of lw_dtype
FLOATS = FACTS.named("floating")
INTEGERS = FACTS.named("signed", "unsigned")
BITS = {f"bits{bits}": bits for bits in (8, 16, 32, 64)}  # in place of dtypes, for kernels that only move items

BACKENDS = (  # by descending priority, spelled as in lw_library_head.name
    "cuda", "wgpu", "avx512", "avx2", "avx", "sse2", "neon", "relaxed_simd", "simd128", "scalar",
)  # fmt: skip

MEASURES = ("ulp", "absolute", "relative", "magnitude")  # the measures of errors; fields of Bound
GROUPS: Mapping[str, tuple[str, ...]] = {  # CPU backends that give the same bits even where `reproducible` is false
    "fma": ("avx512", "avx2", "neon"),
    "plain": ("avx", "sse2", "simd128", "scalar"),
    "avx512": ("avx512",),  # where avx512's bits differ from fma's: operations with tables or other tiles on avx512
}
MIXED = "relaxed_simd"  # gives the bits of the group fma or plain, depending on the machine that runs it

COMPLEXITIES = ("low", "medium", "high")
KERNEL_PARAMETERS = ("float", "int", "bool", "choice", "scalar")  # types that kernels can receive as parameters
HOST_PARAMETERS = ("axis", "axes", "keepdims", "dtype", "shape", "pair", "pairs")  # types that kernels never receive
BENCH_FIELDS = (
    "size", "sizes", "dtype", "inputs", "arguments", "keywords", "result", "result_dtype", "flops",
)  # fmt: skip
PARAMETER_TYPES = KERNEL_PARAMETERS + HOST_PARAMETERS

Support = Literal["now", "later", "none"]
SUPPORT = ("now", "later", "none")
Layout = Literal["lw_layout", "lw_matrix_layout", "lw_window_layout", "lw_attention_layout"]
FAMILIES = ("cpu", "webgpu", "cuda")  # the families of backends in kinds.yaml


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of operation (kinds.yaml). Its operations share a layout struct, argument resolution and loops."""

    name: str
    summary: str
    layout: Layout | None = None  # the C struct a kernel's `layout` points to; None if the kind has no kernels
    has_out: bool  # the Python functions of its operations accept `out=`
    in_place: Literal["any", "first", "none"] = "none"  # which inputs may also be passed as `out`
    backends: Mapping[str, Support]  # family of backends -> support
    inner: str  # the value of the layout's `inner`, in words; only for documentation
    result: str  # the result's shape; for docstrings
    errors: Mapping[str, str]  # error class -> condition; for docstrings
    step: str = ""  # what the innermost loop does once; empty if the kind has no kernels
    nanoseconds: Mapping[str, float]  # the time of a step on one thread of the CPU, by complexity

    @property
    def has_kernels(self) -> bool:
        return self.layout is not None


@dataclass(frozen=True, kw_only=True)
class Input:
    """A tensor argument. Inputs without a dtype have the dtype that the kernel computes in: the computed dtype."""

    name: str
    doc: str
    dtype: str | None
    optional: bool = False
    default: Literal["lowest", "highest"] | None = None  # a missing input is replaced by this value of its dtype
    sequence: bool = False  # a sequence of tensors (concat)
    ndim: int | None = None  # the required number of dimensions


@dataclass(frozen=True)
class Limits:
    """The closed interval of a parameter's values. Floats are always finite."""

    low: float
    high: float
    says: str  # the limits in words, such as "at least 0"; empty if every number is allowed


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """An argument that is not a tensor; keyword-only unless `positional`."""

    name: str
    type: str  # one of PARAMETER_TYPES
    doc: str
    required: bool
    default: Value
    positional: bool = False
    optional: bool = False  # accepts None, although the default is another value
    host: bool = False  # kernels do not receive it, although its type is in KERNEL_PARAMETERS
    choices: tuple[str, ...]
    limits: Limits | None  # only for float and int

    @property
    def for_kernel(self) -> bool:
        return self.type in KERNEL_PARAMETERS and not self.host


@dataclass(frozen=True)
class Variants:
    """The choice parameter that selects the C expression: the kernels of choice i are named <stems[i]>_<dtype>."""

    parameter: str
    stems: tuple[str, ...]


@dataclass(frozen=True)
class Range:
    """The interval that tests draw an input from. `whole` adds a case of random bits: floats of every magnitude."""

    low: float
    high: float
    exclude_zero: bool = False
    whole: bool = False


@dataclass(frozen=True)
class Shapes:
    """A row of the field `cases`: shapes to test with values drawn from the domain, and parameters."""

    inputs: Mapping[str, Any]  # a shape, or a list of shapes for a sequence; optional inputs may be missing
    parameters: Mapping[str, Any]
    dtypes: tuple[str, ...]  # of the inputs, where the parameter dtype names another; empty: every computed dtype


@dataclass(frozen=True)
class Special:
    """A row of `special`: inputs, and the result that every backend must give for them: exactly, or within the
    tolerance if finite and nonzero. Values are numbers or nested lists of them.
    """

    inputs: Mapping[str, Any]
    parameters: Mapping[str, Any]
    out: Any  # None if the row raises
    raises: str | None  # the expected error class
    dtypes: tuple[str, ...]  # of the inputs, and in which the row is computed unless the parameter dtype names another
    unless: Mapping[str, str]  # exempt backend -> reason


@dataclass(frozen=True)
class Bound:
    """An allowed or measured error, stated in four measures. The measure that gives the largest error applies.

    If all are 0, results equal the reference, rounded once to the result's dtype.
    """

    ulp: float = 0.0  # in units in the last place of the reference, in the result's dtype
    absolute: float = 0.0
    relative: float = 0.0  # relative to the reference
    magnitude: float = 0.0  # relative to the reference computed from the inputs' absolute values
    why: str = ""

    @property
    def is_exact(self) -> bool:
        return not any(getattr(self, measure) for measure in MEASURES)


@dataclass(frozen=True)
class Tolerance:
    """The allowed error of results."""

    bound: Bound
    backends: Mapping[str, Bound]  # GPU backends with another bound; its `why` is the reason

    def of(self, backend: str) -> Bound:
        return self.backends.get(backend, self.bound)


@dataclass(frozen=True)
class Worst:
    """The largest error measured. `bound` is the tolerance with all its measures multiplied by the same factor."""

    bound: Bound
    at: tuple[float, ...] | str  # the arguments that gave this error, or the name of the case
    parameters: Mapping[str, Any]  # if `at` has arguments: the parameters that differ from their defaults


@dataclass(frozen=True)
class Measured:
    """The largest errors measured on CPU backends: over every float32, or over drawn inputs."""

    worst: Mapping[str, Worst]  # group of backends -> error; the keys are either just "all" or names of GROUPS
    draws: int | None = None  # the number of results compared; None means every float32

    def of(self, backend: str) -> Worst | None:
        """Returns the largest error measured in the backend's group (for MIXED: in any group), or None for a GPU."""
        if backend == MIXED:
            return max(self.worst.values(), key=lambda each: [getattr(each.bound, one) for one in MEASURES])
        names = [name for name, backends in reversed(tuple(GROUPS.items())) if backend in backends]
        return next((self.worst[name] for name in (*names, "all") if names and name in self.worst), None)


@dataclass(frozen=True)
class Accuracy:
    """The errors of results in one computed dtype: those allowed, and the largest measured."""

    tolerance: Tolerance
    measured: Measured | None  # None if results are the reference rounded once

    def judged_by(self, backend: str) -> Bound:
        """Returns the largest error that tests accept.

        On a CPU, this is the measured error if every float was measured. Otherwise it is the tolerance: random inputs
        may have missed a larger error, and GPUs compute other bits.
        """
        worst = self.measured.of(backend) if self.measured and self.measured.draws is None else None
        return worst.bound if worst else self.tolerance.of(backend)


@dataclass(frozen=True)
class Law:
    """A property that tests check. `holds` is a Python expression of op (the operation), lw, np and the inputs."""

    name: str
    says: str
    holds: str
    dtypes: tuple[str, ...]  # the computed dtypes that it holds for


@dataclass(frozen=True)
class Kernel:
    """One entry of the kernel table."""

    name: str  # add_float32, take_bits16, ...: the field of lw_kernels; the C function has the prefix lw_
    operation: str
    stem: str  # the operation or a variant; names the expression op_<stem> in core/ops
    dtype: str  # the computed dtype, or bits8 to bits64; for a cast, the dtype that it reads
    result: str  # the dtype that it writes, or bits8 to bits64


@dataclass(frozen=True, kw_only=True)
class Contract:
    """The contract of one operation, as read from its YAML file."""

    operation: str
    kind: Kind
    path: Path
    summary: str
    formula: str = ""
    source: str = ""
    inputs: tuple[Input, ...]
    parameters: tuple[Parameter, ...]
    variants: Variants | None
    dtypes: Mapping[str, str]  # accepted dtype -> result dtype; empty for data movement and casts
    moves: bool  # `dtypes: {any: same}`: every dtype, with kernels by item size
    signless: bool = False  # the bits of integers' results do not depend on the sign: unsigned ones have no own kernels
    complexity: str
    flops: int = 0  # arithmetic operations of a step; 0 if they are not counted
    reproducible: bool
    reference: Mapping[str, str]  # computed dtype ("" for the others) -> expression
    domain: Mapping[str, Mapping[str, Range]]  # input -> computed dtype ("" for the others) -> range
    cases: tuple[Shapes, ...]
    special: tuple[Special, ...]
    accuracies: Mapping[str, Accuracy]  # computed dtype ("" for the others) -> errors
    laws: tuple[Law, ...]
    aliases: tuple[str, ...] = ()
    example: str = ""  # doctest lines; `lw` is imported
    fallback: str | None  # why WebGPU falls back to the CPU, or None
    internal: bool = False  # has kernels, but no Python function
    method: bool  # is also a method of Tensor
    has_out: bool  # the Python function accepts `out=`
    device: bool = False  # accepts `device=`, as the array API's creation functions do
    is_short: bool = False  # for elementwise and cast: few instructions per element, so large arrays are memory-bound
    narrow: bool = False  # a CPU also computes in the dtypes that other operations only store
    compares: bool = False  # for elementwise: compares two inputs by value, whatever their dtypes
    # For sums: the result of integers is at least as wide as the default integer, and `dtype` chooses another.
    widens: bool = False
    refuses_empty: bool = False  # an empty axis is an error, because the reduction has no identity
    takes_number: bool = False  # for rows: accepts an input without dimensions, as a row of one element
    # For reductions and rows: the reduction whose result is subtracted from integers first.
    pivot: Literal["mean", "min", "max"] | None = None
    returns: str = "Tensor"  # the Python type of what it returns; several tensors are a list or a tuple
    # For docstrings: the next three, if not empty, override what follows from the kind and from `dtypes`.
    result_shape: str
    result_dtype: str = ""
    errors: Mapping[str, str]  # error class -> when
    bench: Mapping[str, Any]  # sizes and arguments for tests/cases
    lender: str | None  # the operation whose kernels this one calls, with other layouts

    def error(self, message: str) -> ContractError:
        """Returns an error that names the contract's file."""
        return ContractError(f"contracts/{self.path.name}: {message}")

    @property
    def names(self) -> tuple[str, ...]:
        """The operation's name, then its aliases."""
        return (self.operation, *self.aliases)

    @property
    def computed(self) -> tuple[str, ...]:
        """The computed dtypes, in the order of DTYPES."""
        every = self.moves or self.kind.name == "cast"
        return DTYPES if every else tuple(dtype for dtype in self.dtypes if not FACTS.dtypes[dtype].computed)

    def result(self, dtype: str) -> str:
        """Returns the result dtype of an accepted dtype; for data movement and casts, returns `dtype` itself."""
        return self.dtypes.get(dtype, dtype)

    @property
    def converts(self) -> bool:
        """Whether a parameter `dtype` names the dtype to which the inputs are converted first."""
        computes = self.inputs and self.dtypes and self.kind.has_kernels
        return bool(computes) and any(each.type == "dtype" for each in self.parameters)

    def is_served(self, dtype: str) -> bool:
        """Whether the kernel for a dtype is that of an earlier one, as it depends on the bits of elements only."""
        earlier = self.computed[: self.computed.index(dtype)]
        return self.kind.has_kernels and self.kind.name != "cast" and self.kernel(dtype) in map(self.kernel, earlier)

    @property
    def is_unary(self) -> bool:
        """Whether tests can try every float32: elementwise, with one input."""
        return self.kind.name == "elementwise" and len(self.inputs) == 1

    def accuracy(self, dtype: str) -> Accuracy:
        """Returns the errors of results computed in `dtype`."""
        return self.accuracies.get(dtype, self.accuracies[""])

    def input(self, name: str) -> Input:
        return next(item for item in self.inputs if item.name == name)

    def parameter(self, name: str) -> Parameter:
        return next(item for item in self.parameters if item.name == name)

    @property
    def kernel_parameters(self) -> tuple[Parameter, ...]:
        """The parameters that kernels receive as parameters[0], [1], ..."""
        return tuple(item for item in self.parameters if item.for_kernel)

    @property
    def expression_parameters(self) -> tuple[tuple[int, Parameter], ...]:
        """The parameters that the C expression takes, each with its position in parameters[]."""
        chosen = self.variants.parameter if self.variants else None
        return tuple((i, item) for i, item in enumerate(self.kernel_parameters) if item.name != chosen)

    @property
    def stems(self) -> tuple[str, ...]:
        return self.variants.stems if self.variants else (self.operation,)

    @cached_property
    def kernels(self) -> tuple[Kernel, ...]:
        """The operation's entries of the kernel table, in order."""
        if not self.kind.has_kernels or self.lender:
            return ()
        name = self.operation
        if self.kind.name == "cast":
            pairs = [(source, target) for source in DTYPES for target in DTYPES if source != target]
            return tuple(Kernel(f"{name}_{source}_{target}", name, name, source, target) for source, target in pairs)
        if self.moves:
            return tuple(Kernel(f"{name}_{bits}", name, name, bits, bits) for bits in BITS)
        own = [dtype for dtype in self.computed if not (self.signless and FACTS.dtypes[dtype].signless)]
        return tuple(Kernel(f"{stem}_{dtype}", name, stem, dtype, self.dtypes[dtype])
                     for stem in self.stems for dtype in own)  # fmt: skip

    @property
    def kernel_names(self) -> tuple[str, ...]:
        """The names of the kernels that the operation calls: its own, or its lender's."""
        if self.lender:
            return tuple(dict.fromkeys(self.kernel(dtype) for dtype in self.computed))
        return tuple(kernel.name for kernel in self.kernels)

    def kernel(self, dtype: str, variant: int = 0) -> str:
        """Returns the name of the kernel for an accepted dtype."""
        facts = FACTS.dtypes[dtype]
        if self.moves:
            of = f"bits{facts.bits}"
        else:
            of = facts.signless if self.signless and facts.signless and not facts.computed else facts.elements
        return f"{self.lender or self.stems[variant]}_{of}"

    def expression(self, dtype: str) -> str:
        return self.reference.get(dtype, self.reference.get("", ""))

    def range(self, name: str, dtype: str) -> Range:
        """Returns the interval to draw input `name` from when computing in `dtype`."""
        by_dtype = self.domain.get(name, {})
        if dtype in by_dtype:
            return by_dtype[dtype]
        if "" in by_dtype:
            return by_dtype[""]
        return DEFAULT_RANGES[dtype]


def _within_double(low: int, high: int) -> Range:
    """Returns the part of a range of integers that float64 represents exactly."""
    return Range(max(low, -(2**53)), min(high, 2**53))


DEFAULT_RANGES: Mapping[str, Range] = {
    "bool": Range(0, 1),
    **{each: _within_double(*FACTS.dtypes[each].bounds) for each in INTEGERS},
    **dict.fromkeys(FLOATS, Range(-100.0, 100.0)),
}


def all_kernels(contracts: tuple[Contract, ...]) -> tuple[Kernel, ...]:
    """Returns the kernel table: the kernels of all contracts, in the order of the contracts."""
    return tuple(kernel for contract in contracts for kernel in contract.kernels)
