"""The pages of operations, their index and the pages of their kinds, from the contracts.

A page repeats the contract's docstring, which help() shows, and adds what the contract says beyond it: accuracy and
special values on each backend, the NumPy reference, laws and cost.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import reference_code
from coming_from import Row, equivalent
from generator import docs, stubs
from generator.schema import BACKENDS, Accuracy, Bound, Contract, Kind, Special, Worst
from markup import code, directive, fenced, relative, table, text

__all__ = ["index", "kind_page", "kind_path", "page", "path"]

SHOWN = tuple(backend for backend in BACKENDS if backend != "cuda")  # it cannot compute with tensors yet
HOST = tuple(backend for backend in SHOWN if backend != "wgpu")
LABELS = {
    "avx512": "AVX-512", "avx2": "AVX2", "avx": "AVX", "sse2": "SSE2", "neon": "NEON", "relaxed_simd": "relaxed SIMD",
    "simd128": "SIMD128", "scalar": "scalar", "wgpu": "WebGPU",
}  # fmt: skip
TITLES = {
    "elementwise": "Elementwise", "cast": "Conversion", "reduction": "Reductions",
    "index_reduction": "Index reductions",
    "rows": "Row operations", "matrix": "Matrix products", "window": "Convolution and pooling",
    "attention": "Attention", "rotation": "Rotary embedding", "eigen": "Eigenvalues", "gather": "Gathering",
    "sort": "Sorting", "search": "Searching", "creation": "Creation", "view": "Views",
    "composed": "Composed operations",
}  # fmt: skip
SECTION = re.compile(r"^(\w+)\n-+$", re.MULTILINE)  # a heading in a docstring of NumPy's format


def path(operation: str) -> str:
    """Returns the path of an operation's page."""
    return f"operations/{operation}.md"


def kind_path(kind: str) -> str:
    """Returns the path of a kind's page."""
    return f"operations/kinds/{kind.replace('_', '-')}.md"


def title(kind: Kind) -> str:
    """Returns the heading of a kind's page. A kind that TITLES lacks gets its name."""
    return TITLES.get(kind.name, kind.name.replace("_", " ").capitalize())


def page(contract: Contract, elsewhere: Sequence[Row]) -> str:
    """Returns the page of an operation; `elsewhere` are the rows of coming_from.yaml that lead to it."""
    sections = _sections(contract)
    blocks = [f"# {contract.operation}", text(contract.summary), _signature(contract), *_other_ways_to_call(contract)]
    if contract.formula:
        blocks += ["## Formula", fenced(contract.formula, "text")]
        blocks += [text(f"Source: {contract.source}.")] if contract.source else []
    for name in ("Parameters", "Returns", "Raises"):
        if name in sections:
            blocks += [f"## {name}", _definitions(sections[name])]
    blocks += ["## Example", fenced(contract.example, "pycon")]
    blocks += ["## Data types", *_dtype_table(contract)]
    blocks += ["## Accuracy", *_accuracy(contract)]
    if contract.special:
        blocks += ["## Special values", *_special_values(contract)]
    blocks += ["## NumPy equivalent", *_equivalent(contract, elsewhere)]
    if contract.laws:
        blocks += ["## Laws", "The tests check these on every backend, with random inputs.", _laws(contract)]
    blocks += ["## Cost", *_cost(contract)]
    return "\n\n".join(blocks) + "\n"


def _sections(contract: Contract) -> dict[str, str]:
    """Returns the sections of the docstring by their headings."""
    _, *parts = SECTION.split(docs.docstring(contract))
    return {name: body.strip("\n") for name, body in zip(parts[::2], parts[1::2], strict=True)}


def _call(contract: Contract, self_name: str) -> str:
    """Returns the arguments of a function or method, without the module or the tensor in front."""
    arguments = docs.signature(contract, self_name)[1:-1].removeprefix(self_name).removeprefix(", ")
    return f"({arguments.removeprefix('/').removeprefix(', ')})"


def _signature(contract: Contract) -> str:
    """Returns the directive with the function's signature, to which links lead."""
    return directive("py:function", f"lanewise.{contract.operation}{_call(contract, '$module')}")


def _other_ways_to_call(contract: Contract) -> Iterator[str]:
    """Yields the other ways to call the operation: as a method, an operator, under another name."""
    ways = []
    if contract.method:
        call = f"x.{contract.operation}{_call(contract, '$self')}"
        ways.append(f"as a method, {code(call)}")
    ways += [f"as an operator, {code(each)}" for each in operators(contract.operation)]
    ways += [f"as {code(f'lw.{alias}')}, an alias" for alias in contract.aliases]
    if ways:
        yield f"Also {'; '.join(ways)}."


def operators(operation: str) -> list[str]:
    """Returns Python's operators for an operation, as expressions."""
    signs = {
        "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
        "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "lt": "<", "le": "<=", "gt": ">",
        "ge": ">=", "eq": "==", "ne": "!=",
    }  # fmt: skip
    unary = {"neg": "-x", "abs": "abs(x)", "invert": "~x"}
    binary = {**stubs.BINARY, **stubs.COMPARISONS, **stubs.EQUALITIES}
    found = [f"x {signs[binary[operation]]} y"] if operation in binary else []
    return found + ([unary[stubs.UNARY[operation]]] if operation in stubs.UNARY else [])


def _definitions(section: str) -> str:
    """Returns the items of a docstring's section as a definition list: `name : type`, then indented text."""
    items = []
    for item in re.split(r"\n(?=\S)", section):
        head, *lines = item.split("\n")
        name, colon, kind = head.partition(" : ")
        body = " ".join(line.strip() for line in lines)
        items.append(f"{code(name)}{f' : {text(kind)}' if colon else ''}\n: {text(body)}")
    return "\n\n".join(items)


def _dtype_table(contract: Contract) -> Iterator[str]:
    """Yields the table of the dtypes in which the operation computes and those of the results, or a sentence."""
    if contract.moves:
        yield "Accepts every dtype. Items are moved as they are, so NaN and signs of zeros are kept."
        return
    if contract.kind.name == "cast":
        yield "Converts every dtype to every other."
        return
    rows = [[code(dtype), code(contract.result(dtype))] for dtype in contract.computed]
    yield table(["computed in", "result"], rows)
    fixed = [f"{code(each.name)} is {code(each.dtype)}" for each in contract.inputs if each.dtype]
    if fixed:
        yield f"Whatever the computed dtype, {', '.join(fixed)}."


def bound_text(bound: Bound) -> str:
    """Returns an error bound in words; empty if it has no limits."""
    limits = {
        "ulp": bound.ulp,
        "absolute": bound.absolute,
        "times the result": bound.relative,
        "times the result for the inputs' absolute values": bound.magnitude,
    }
    parts = [f"{limit:g} {what}".replace("e-0", "e-") for what, limit in limits.items() if limit]
    return f"{' or '.join(parts)}{', whichever is larger' if len(parts) > 1 else ''}"


def _accuracy(contract: Contract) -> Iterator[str]:
    """Yields what is accepted and was measured, in each dtype that has errors of its own."""
    for dtype, each in contract.accuracies.items():
        if dtype:
            yield f"In {dtype}:"
        yield from _errors(contract, dtype, each)
    if contract.reproducible:
        yield "**Reproducible:** the same bits on every CPU backend, with any number of threads."
    else:
        yield "**Not reproducible:** results may differ between CPU backends, by no more than these errors."


def _errors(contract: Contract, dtype: str, accuracy: Accuracy) -> Iterator[str]:
    """Yields the table of accepted and measured errors, a row for each group of backends that share them."""
    found = accuracy.measured
    groups: dict[tuple[str, str, str], list[str]] = {}
    for backend in HOST:
        accepted = bound_text(accuracy.judged_by(backend)) or _without_tolerance(contract)
        worst = found.of(backend) if found else None
        largest, place = (bound_text(worst.bound), _arguments_of(worst)) if worst else ("", "")
        groups.setdefault((accepted, largest, place), []).append(LABELS[backend])
    rows = []
    for (accepted, largest, place), names in groups.items():
        who = "every CPU backend" if len(names) == len(HOST) else ", ".join(names)
        rows.append([who, text(accepted), text(largest), place])
    if not dtype:  # the dtypes with errors of their own are computed on the CPU
        rows.append(["WebGPU", _webgpu_bound(contract), "", ""])
    head = ["backend", "largest error accepted", "largest error found", "found at"]
    columns = 4 if found else 2
    yield table(head[:columns], [row[:columns] for row in rows])
    if found:
        what = "every float32" if found.draws is None else f"{found.draws:,} results, of random inputs"
        precision = "80-bit floats" if dtype else "float64"
        yield f"Errors are those of {what}, compared with a reference in {precision}."


def _without_tolerance(contract: Contract) -> str:
    """Returns the accepted error, in words, of an operation whose contract states no tolerance."""
    if contract.moves or (all(not name.startswith("float") for name in contract.dtypes.values()) and contract.dtypes):
        return "none: results are exact"
    return "none: the reference, rounded once"


def _webgpu_bound(contract: Contract) -> str:
    """Returns the error that the tests accept on WebGPU, with the reason for an exception."""
    if contract.fallback:
        return text(f"the CPU computes the result: {contract.fallback}")
    bound = contract.accuracy("float32").tolerance.of("wgpu")
    return text((bound_text(bound) or _without_tolerance(contract)) + (f", because {bound.why}" if bound.why else ""))


def _arguments_of(worst: Worst) -> str:
    """Returns the arguments with which the largest error was found."""
    if isinstance(worst.at, str):
        return text(worst.at)
    numbers = ", ".join(f"{number:.9g}" for number in worst.at)
    options = ", ".join(f"{name}={value!r}" for name, value in worst.parameters.items())
    return code(f"{numbers}{'; ' if options else ''}{options}")


def _special_values(contract: Contract) -> Iterator[str]:
    """Yields the table of special values, with a row for each call, and before it a sentence about exceptions."""
    exempt = any(name in SHOWN for row in contract.special for name in row.unless)
    yield (
        "Every backend returns these results, except where the last column names one."
        if exempt
        else "Every backend returns these results."
    )
    shows_dtypes = len(contract.computed) > 1
    head = ["call", "result", *(["dtypes"] if shows_dtypes else []), *(["except on"] if exempt else [])]
    rows = []
    for special in contract.special:
        row = [code(_special_call(contract, special))]
        row.append(f"raises {code(special.raises)}" if special.raises else code(_value(special.out)))
        row += [", ".join(map(code, special.dtypes))] if shows_dtypes else []
        reasons = [f"{LABELS[name]}: {text(why)}" for name, why in special.unless.items() if name in SHOWN]
        row += ["; ".join(reasons)] if exempt else []
        rows.append(row)
    yield table(head, rows)


def _special_call(contract: Contract, row: Special) -> str:
    """Returns the call that a row describes. Inputs after one that is left out are passed by name."""
    arguments, complete = [], True
    for each in contract.inputs:
        if each.name in row.inputs:
            value = _value(row.inputs[each.name])
            arguments.append(value if complete else f"{each.name}={value}")
        else:
            complete = False
    arguments += [f"{name}={_value(value)}" for name, value in row.parameters.items()]
    return f"{contract.operation}({', '.join(arguments)})"


def _value(value: Any) -> str:
    """Returns a value of a special row as Python writes it, with nan and inf for lw.nan and lw.inf."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={_value(one)}" for name, one in value.items())
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return repr(value)


def _equivalent(contract: Contract, elsewhere: Sequence[Row]) -> Iterator[str]:
    """Yields the reference that results are compared with, and the expressions of other libraries."""
    if contract.reference:
        yield "The tests compare results with this expression, in float64:"
        for dtype, expression in contract.reference.items():
            if len(contract.reference) > 1:
                yield f"For {code(dtype) if dtype else 'other dtypes'}:"
            yield fenced(expression, "python")
        names, source = reference_code.definitions(contract.reference.values())
        if source:
            yield f"<details><summary>Definition of {', '.join(names)}</summary>"
            yield fenced(source, "python")
            yield "</details>"
    else:
        yield "No single NumPy expression is equivalent; the tests check the laws below and the special values."
    if elsewhere:
        yield table(
            ["library", "expression", "in Lanewise"],
            [[row.library, code(row.theirs), equivalent(row)] for row in elsewhere],
        )


def _laws(contract: Contract) -> str:
    """Returns the list of laws: each in words, and the expression that the tests evaluate."""
    lines = []
    for law in contract.laws:
        where = "" if set(law.dtypes) == set(contract.computed) else f" ({', '.join(map(code, law.dtypes))})"
        lines.append(f"- {text(law.says)}{where}: {code(' '.join(law.holds.split()))}")
    return "\n".join(lines)


def _cost(contract: Contract) -> Iterator[str]:
    """Yields sentences about the complexity and the expected time of a step."""
    kind = contract.kind
    if not kind.has_kernels:
        here = relative(path(contract.operation), kind_path(kind.name))
        yield f"Complexity: {contract.complexity}. The operation has no kernels of its own ([{title(kind)}]({here}))."
        if kind.name == "view":
            yield "A view takes the same time for every size."
        return
    nanoseconds = kind.nanoseconds[contract.complexity]
    flops = f", and computes {contract.flops} floating-point operations" if contract.flops else ""
    yield text(
        f"Complexity: {contract.complexity}. A step is {kind.step}; it is expected to take {nanoseconds:g} ns on one "
        f"thread of a CPU{flops}. The expected time of a call decides how many threads share it."
    )


def index(contracts: Sequence[Contract], kinds: Mapping[str, Kind]) -> str:
    """Returns the index of operations: a section for each kind."""
    blocks = [
        "# Operations by kind",
        f"{len(contracts)} operations. Names and arguments are those of the Python array API standard, then PyTorch's.",
    ]
    for kind in kinds.values():
        if rows := _operation_rows(contracts, kind, "operations/index.md"):
            blocks += [f"## {title(kind)}", text(kind.summary), table(["operation", "what it does"], rows)]
    aliases = sorted((alias, each.operation) for each in contracts for alias in each.aliases)
    rows = [[code(alias), f"[{operation}]({operation}.md)"] for alias, operation in aliases]
    blocks += ["## Aliases", table(["alias", "operation"], rows)]
    return "\n\n".join(blocks) + "\n"


def kind_page(contracts: Sequence[Contract], kind: Kind) -> str:
    """Returns the page of a kind: what its operations have in common, and links to them."""
    here = kind_path(kind.name)
    own = [each for each in contracts if each.kind.name == kind.name]
    blocks = [f"# {title(kind)}", text(kind.summary), text(f"Shape of the result: {kind.result}.")]
    blocks.append("These functions accept `out=`." if kind.has_out else "These functions do not accept `out=`.")
    if kind.has_kernels:
        times = ", ".join(f"{value:g} ns ({name})" for name, value in kind.nanoseconds.items())
        blocks.append(text(f"A step is {kind.step}. By complexity, it is expected to take {times} on one thread."))
    blocks.append(table(["operation", "what it does"], _operation_rows(contracts, kind, here)))
    pages = "\n".join(f"{each.operation} </{path(each.operation).removesuffix('.md')}>" for each in own)
    blocks.append(f"```{{toctree}}\n:hidden:\n\n{pages}\n```")
    return "\n\n".join(blocks) + "\n"


def _operation_rows(contracts: Sequence[Contract], kind: Kind, here: str) -> list[list[str]]:
    """Returns the rows of the table of a kind's operations: a link from the page `here`, and the summary."""
    own = [each for each in contracts if each.kind.name == kind.name]
    return [[f"[{each.operation}]({relative(here, path(each.operation))})", text(each.summary)] for each in own]
