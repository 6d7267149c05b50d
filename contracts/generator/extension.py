"""Emits lanewise_operations.h and .c: a descriptor of each operation, and the entry points of functions and methods.

native/extension/plan/operation.h declares the descriptors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from . import docs
from .schema import DTYPES, Contract, Parameter, all_kernels

PARAMETER_TYPES = {
    "scalar": "FLOAT",  # a scalar is parsed as a float, except by creation functions, which use the result's dtype
    "axes": "AXIS",  # the operation's kind determines whether several axes are allowed
}


def emit(contracts: tuple[Contract, ...]) -> dict[str, str]:
    """Returns the text of each file by name."""
    return {"lanewise_operations.h": _header(contracts), "lanewise_operations.c": _source(contracts)}


def _header(contracts: tuple[Contract, ...]) -> str:
    operations = "\n".join(f"    LW_OPERATION_{contract.operation}," for contract in contracts)
    kernels = "\n".join(f"    LW_KERNEL_{kernel.name}," for kernel in all_kernels(contracts))
    return f"""\
/* Indices of operations in lw_operations[] and of kernels in lw_kernels. Generated from contracts/ by extension.py. */
#pragma once

enum {{
{operations}
    LW_OPERATION_COUNT
}};

enum {{
{kernels}
}};
"""


STUBS = """\
#define LW_FUNCTION(name)                                                                              \\
    static PyObject *function_##name(PyObject *module, PyObject *const *arguments, Py_ssize_t count,   \\
                                     PyObject *keyword_names) {                                        \\
        (void)module;                                                                                  \\
        return lw_call(&lw_operations[LW_OPERATION_##name], NULL, arguments, count, keyword_names);    \\
    }
#define LW_METHOD(name)                                                                                \\
    static PyObject *method_##name(PyObject *self, PyObject *const *arguments, Py_ssize_t count,       \\
                                   PyObject *keyword_names) {                                          \\
        return lw_call(&lw_operations[LW_OPERATION_##name], self, arguments, count, keyword_names);    \\
    }
"""


def _source(contracts: tuple[Contract, ...]) -> str:
    public = [contract for contract in contracts if not contract.internal]
    methods = [contract for contract in public if contract.method]

    def lines(parts: Iterable[str]) -> str:
        return "\n".join(parts)

    return f"""\
/* Descriptors and entry points of all operations. Generated from contracts/ by extension.py. */
#include "lanewise_operations.h"
#include "plan/operation.h"

{lines(part for contract in contracts for part in _descriptor_parts(contract))}
const lw_operation lw_operations[] = {{
{lines(_descriptor(contract) for contract in contracts)}
}};

{STUBS}
{lines(f"LW_FUNCTION({contract.operation})" for contract in public)}
{lines(f"LW_METHOD({contract.operation})" for contract in methods)}

PyMethodDef lw_operation_functions[] = {{
{lines(part for contract in public for part in _entries(contract, "function", "$module"))}
    {{NULL, NULL, 0, NULL}},
}};

PyMethodDef lw_operation_methods[] = {{
{lines(part for contract in methods for part in _entries(contract, "method", "$self"))}
    {{NULL, NULL, 0, NULL}},
}};
"""


def _descriptor_parts(contract: Contract) -> Iterator[str]:
    """Yields the lines of the arrays that a descriptor points to."""
    name = contract.operation
    if contract.inputs:
        yield f"static const lw_input inputs_{name}[] = {{"
        for each in contract.inputs:
            dtype = f"LW_{each.dtype.upper()}" if each.dtype else "-1"
            absent = f"LW_ABSENT_{each.default.upper()}" if each.default else "LW_ABSENT"
            flags = f"{dtype}, {absent if each.optional else 'LW_REQUIRED'}"
            dimensions = "-1, NULL" if each.ndim is None else f"{each.ndim}, {_quoted(each.doc)}"
            yield f'    {{"{each.name}", {flags}, {dimensions}}},'
        yield "};"
    for parameter in contract.parameters:
        if parameter.choices:
            choices = ", ".join(f'"{choice}"' for choice in parameter.choices)
            yield f"static const char *const choices_{name}_{parameter.name}[] = {{{choices}, NULL}};"
    if contract.parameters:
        yield f"static const lw_parameter parameters_{name}[] = {{"
        for parameter in contract.parameters:
            yield f"    {_parameter(contract, parameter)},"
        yield "};"
    if contract.kernel_names:
        yield f"static const int16_t kernels_{name}[][LW_DTYPE_COUNT] = {{"
        for row in _kernel_rows(contract):
            yield f"    {{{', '.join(row)}}},"
        yield "};"
    yield ""


def _parameter(contract: Contract, parameter: Parameter) -> str:
    default = parameter.default
    value = "{.i = 0}"
    if parameter.type == "choice" and not parameter.required:
        value = f"{{.i = {parameter.choices.index(str(default))}}}"
    elif isinstance(default, float) or (parameter.type == "scalar" and isinstance(default, (int, float))):
        value = f"{{.f = {float(default)!r}}}"
    elif isinstance(default, int):
        value = f"{{.i = {int(default)}}}"
    choices = f"choices_{contract.operation}_{parameter.name}" if parameter.choices else "NULL"
    none = not parameter.required and default is None
    kind = PARAMETER_TYPES.get(parameter.type, parameter.type.upper())
    flags = f"{int(parameter.required)}, {int(parameter.positional)}, {int(none)}"
    return f'{{"{parameter.name}", LW_PARAMETER_{kind}, {flags}, {value}, {choices}, {_limits(parameter)}}}'


def _limits(parameter: Parameter) -> str:
    limits = parameter.limits
    if not limits:
        return "0, 0, NULL"
    low, high = (repr(each).replace("inf", "__builtin_inf()") for each in (float(limits.low), float(limits.high)))
    number = "an int" if parameter.type == "int" else "a finite number"
    expected = f"{number} {limits.says.replace('at least', 'of at least')}".strip()
    return f"{low}, {high}, {_quoted(expected)}"


def _kernel_rows(contract: Contract) -> Iterator[list[str]]:
    """Yields a row per variant (for a cast: per target dtype) with the index of each dtype's kernel, or -1 if none."""
    names = contract.kernel_names

    def position(name: str) -> str:
        return f"LW_KERNEL_{name}" if name in names else "-1"

    if contract.kind.name == "cast":  # a cast to the same dtype has -1, because it uses the operation copy
        for target in DTYPES:
            yield [position(f"{contract.operation}_{source}_{target}") for source in DTYPES]
    else:
        for variant in range(len(contract.stems)):
            yield [position(contract.kernel(dtype, variant)) for dtype in DTYPES]


def _descriptor(contract: Contract) -> str:
    name = contract.operation
    variant = -1
    if contract.variants:
        variant = [each.name for each in contract.kernel_parameters].index(contract.variants.parameter)
    accepted = contract.dtypes or contract.computed
    results = [f"LW_{contract.result(dtype).upper()}" if dtype in accepted else "-1" for dtype in DTYPES]
    return f"""\
    [LW_OPERATION_{name}] = {{
        .name = "{name}",
        .kind = LW_KIND_{contract.kind.name.upper()},
        .input_count = {len(contract.inputs)},
        .parameter_count = {len(contract.parameters)},
        .variant_parameter = {variant},
        .inputs = {f"inputs_{name}" if contract.inputs else "NULL"},
        .parameters = {f"parameters_{name}" if contract.parameters else "NULL"},
        .kernels = {f"kernels_{name}" if contract.kernel_names else "NULL"},
        .results = {{{", ".join(results)}}},
        .takes_out = {int(contract.has_out)},
        .in_place = {_in_place(contract)},
        .moves = {int(contract.moves)},
        .compares = {int(contract.compares)},
        .narrow = {int(contract.narrow)},
        .takes_number = {int(contract.takes_number)},
        .widens = {int(contract.widens)},
        .refuses_empty = {int(contract.refuses_empty)},
        .step_flops = {contract.flops},
        .step_nanoseconds = {contract.kind.nanoseconds.get(contract.complexity, 0.0)}f,
        .pivot = {f"&lw_operations[LW_OPERATION_{contract.pivot}]" if contract.pivot else "NULL"},
    }},"""


def _in_place(contract: Contract) -> int:
    """Returns how many inputs, counted from the first, may also be passed as `out`."""
    return {"any": len(contract.inputs), "first": 1, "none": 0}[contract.kind.in_place]


def _entries(contract: Contract, what: str, self_name: str) -> Iterator[str]:
    """Yields the PyMethodDef entries. Methods and aliases have a short docstring, which refers to the function's."""
    for name in contract.names:
        whole = what == "function" and name == contract.operation
        text = docs.docstring(contract) if whole else docs.summary_of(contract, name)
        yield f'    {{"{name}", (PyCFunction)(void *){what}_{contract.operation}, METH_FASTCALL | METH_KEYWORDS,'
        lines = f"{name}{docs.signature(contract, self_name)}\n--\n\n{text}".splitlines(keepends=True)
        quoted = [f"     {_quoted(line)}" for line in lines]
        yield "\n".join(quoted) + "},"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
