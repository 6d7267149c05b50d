"""Reads contracts/*.yaml and kinds.yaml into the dataclasses of schema.py. Errors name the file and the entry."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from . import accuracy, arguments
from .facts import FACTS
from .fields import ABSENT, NAME, Fields, read_yaml
from .schema import (
    BACKENDS,
    BENCH_FIELDS,
    COMPLEXITIES,
    DTYPES,
    FAMILIES,
    FLOATS,
    INTEGERS,
    SUPPORT,
    Contract,
    Input,
    Kind,
    Law,
    Parameter,
    Range,
    Shapes,
    Special,
    Variants,
)  # fmt: skip

RESERVED = ("out", "device", "self", "module", "op", "lw", "np")  # these names have another meaning in calls and laws
OPTIONAL = {  # optional field -> the kinds whose contracts may set it
    "is_short": ("elementwise", "cast"),
    "narrow": ("elementwise", "reduction", "index_reduction"),
    "compares": ("elementwise",),
    "widens": ("reduction", "rows"),
    "refuses_empty": ("reduction", "index_reduction"),
    "takes_number": ("rows",),
    "pivot": ("reduction", "rows"),
}

# Names of several dtypes that operations compute in, for the field `dtypes`.
CLASSES = {
    name: tuple(each for each in FACTS.named(*groups) if not FACTS.dtypes[each].computed)
    for name, groups in {
        "signed": ("signed",),
        "unsigned": ("unsigned",),
        "integer": ("signed", "unsigned"),
        "floating": ("floating",),
        "real": ("signed", "unsigned", "floating"),
    }.items()
}

SHARED = ("facts.yaml", "kinds.yaml", "coming_from.yaml")  # every other YAML file in the folder is a contract


def load_kinds(folder: Path) -> dict[str, Kind]:
    """Returns the kinds of kinds.yaml by name."""
    kinds = {}
    for name, raw in read_yaml(folder / "kinds.yaml").items():
        fields = Fields(raw, "contracts/kinds.yaml", str(name))
        backends = fields.mapping("backends")
        if set(backends) != set(FAMILIES) or not set(backends.values()) <= set(SUPPORT):
            raise fields.error(f"expected {' or '.join(SUPPORT)} for each of {', '.join(FAMILIES)}, got {backends}")
        kinds[str(name)] = fields.record(
            Kind,
            name=str(name),
            has_out=fields.flag("out"),
            backends=backends,
            nanoseconds={str(key): float(value) for key, value in fields.mapping("nanoseconds").items()},
        )
    return kinds


def load_contracts(folder: Path, check_measured: bool = True) -> tuple[Contract, ...]:
    """Returns every contract in the folder, sorted by operation. If `check_measured`, also checks measured errors."""
    kinds = load_kinds(folder)
    paths = sorted(path for path in folder.glob("*.yaml") if path.name not in SHARED)
    contracts = tuple(sorted((load_contract(path, kinds) for path in paths), key=lambda each: each.operation))
    _check_names(contracts)
    _check_lenders(contracts)
    for contract in contracts if check_measured else ():
        accuracy.check(contract)
    return contracts


def load_contract(path: Path, kinds: Mapping[str, Kind]) -> Contract:
    """Returns the contract in one file."""
    fields = Fields(read_yaml(path), f"contracts/{path.name}")
    operation = fields.name("operation")
    if path.name != f"{operation}.yaml":
        raise fields.error(
            f"expected the operation to match the file name, got {operation!r}; rename the file to {operation}.yaml"
        )
    kind = kinds[fields.choice("kind", tuple(kinds))]
    inputs = arguments.inputs(fields, kind)
    parameters = tuple(arguments.parameter(name, each) for name, each in fields.sections("parameters"))
    moves, dtypes = _dtypes(fields, kind)
    variants = _variants(fields, operation, parameters)
    if variants and kind.name != "elementwise":
        raise fields.error(f"expected variants only in contracts of kind elementwise, got kind {kind.name}")
    computed = tuple(dtype for dtype in dtypes if not FACTS.dtypes[dtype].computed) or DTYPES
    _check_arguments(fields, [each.name for each in inputs] + [each.name for each in parameters])
    webgpu = fields.section("webgpu")
    contract = fields.record(
        Contract,
        operation=operation,
        kind=kind,
        path=path,
        summary=fields.sentence("summary"),
        inputs=inputs,
        parameters=parameters,
        variants=variants,
        dtypes=dtypes,
        moves=moves,
        complexity=fields.choice("complexity", COMPLEXITIES, default=_only(kind.nanoseconds)),
        # Without a tolerance, results are the reference rounded once, so their bits are the same everywhere.
        reproducible=fields.flag("reproducible", **({} if "tolerance" in fields else {"default": True})),
        reference=_by_dtype(fields, "reference", computed),
        domain=_domain(fields, inputs, computed),
        cases=tuple(_case(each, inputs, parameters, dtypes) for each in fields.rows("cases")),
        special=tuple(_special(each, inputs, parameters, computed, dtypes) for each in fields.rows("special")),
        accuracies=accuracy.accuracies(fields, computed),
        laws=tuple(_law(name, each, computed) for name, each in fields.sections("laws")),
        fallback=_fallback(webgpu) if webgpu else None,
        method=fields.flag("method", default=kind.name != "creation"),
        has_out=fields.flag("out", default=kind.has_out),
        bench=_bench(fields),
        lender=fields.text("kernels", default=None),
        result_shape=fields.text("result", default=""),
    )
    _check(fields, contract)
    return contract


def _only(names: Collection[str]) -> Any:
    """Returns the one name, as the default of a field; the field is required if there are several or none."""
    return next(iter(names)) if len(names) == 1 else ABSENT


def _dtypes(fields: Fields, kind: Kind) -> tuple[bool, dict[str, str]]:
    """Returns whether the operation only moves data (then of any dtype), and {accepted dtype: result dtype}. An
    operation that computes in a dtype also accepts those that are only stored and are computed in it."""
    raw = fields.mapping("dtypes")
    if kind.name == "cast":
        if raw != {"any": "chosen"}:
            raise fields.error(f"expected dtypes: {{any: chosen}} for a cast, got {raw}")
        return False, {}
    if raw == {"any": "same"}:
        return True, {}
    _check_classes(fields, raw)
    found: dict[str, str] = {}  # computed dtype -> "same" or the dtype of the result
    for name, result in raw.items():
        if name not in (*CLASSES, *DTYPES) or result not in ("same", "floating", *DTYPES):
            raise fields.error(
                f"dtypes: expected {', '.join(CLASSES)} or a dtype, and 'same', 'floating' or a dtype for its "
                f"result, or 'any: same' alone, got {name}: {result}"
            )
        for dtype in CLASSES.get(name, (name,)):
            found[dtype] = _float_like(dtype) if result == "floating" else str(result)
    if not found:
        raise fields.error("expected at least one dtype, got none; write dtypes: {floating: same}")
    accepted = {each.name: found[each.elements] for each in FACTS.dtypes.values() if each.elements in found}
    return False, {dtype: dtype if result == "same" else result for dtype, result in accepted.items()}


def _float_like(dtype: str) -> str:
    """Returns the floating dtype with the bits of another one."""
    return next(each for each in CLASSES["floating"] if FACTS.dtypes[each].bits == FACTS.dtypes[dtype].bits)


def _named(fields: Fields) -> tuple[str, ...]:
    """Returns the dtypes in the list `dtypes` of a row, with those of a class in place of its name."""
    listed = fields.names("dtypes")
    _check_classes(fields, listed)
    return tuple(dtype for each in listed for dtype in CLASSES.get(each, (each,)))


def _check_classes(fields: Fields, listed: Iterable[str]) -> None:
    for name, dtypes in CLASSES.items():
        if set(dtypes) <= set(listed):
            raise fields.error(f"dtypes: expected {name}, got its dtypes one by one: {', '.join(dtypes)}")


def _variants(fields: Fields, operation: str, parameters: tuple[Parameter, ...]) -> Variants | None:
    raw = fields.mapping("variants")
    if not raw:
        return None
    parameter = raw.pop("parameter", None)
    chosen = next((each for each in parameters if each.name == parameter and each.type == "choice"), None)
    if chosen is None:
        raise fields.error(f"expected variants.parameter to name a parameter of type choice, got {parameter!r}")
    if set(raw) != set(chosen.choices):
        raise fields.error(
            f"expected a variant for each of {', '.join(chosen.choices)}, got {', '.join(map(str, raw))}"
        )
    stems = tuple(str(raw[choice]) for choice in chosen.choices)
    for stem in stems:
        if stem != operation and not stem.startswith(operation + "_"):
            raise fields.error(f"expected variants named {operation} or {operation}_<choice>, got {stem!r}")
        if stems.count(stem) > 1:
            raise fields.error(f"expected a variant of its own for each choice, got {stem!r} twice; rename one")
    return Variants(chosen.name, stems)


def _by_dtype(fields: Fields, key: str, computed: tuple[str, ...]) -> dict[str, str]:
    raw = fields.value(key) if key in fields else {}
    if isinstance(raw, str):
        return {"": raw}
    expanded = _expanded(raw) if isinstance(raw, Mapping) else {"": raw}
    if not set(expanded) <= set(computed):
        raise fields.error(f"expected {key} to be an expression, or one for each of {', '.join(computed)}, got {raw!r}")
    return {dtype: str(text) for dtype, text in expanded.items()}


def _expanded(raw: Mapping[Any, Any]) -> dict[str, Any]:
    """Returns a mapping by dtype in place of one whose keys may be names of CLASSES."""
    return {dtype: value for name, value in raw.items() for dtype in CLASSES.get(name, (str(name),))}


def _domain(fields: Fields, inputs: tuple[Input, ...], computed: tuple[str, ...]) -> dict[str, dict[str, Range]]:
    raw = fields.mapping("domain")
    unknown = set(raw) - {each.name for each in inputs}
    if unknown:
        raise fields.error(f"expected domain to name inputs, got {min(unknown)!r}")
    result = {}
    for name, value in raw.items():
        per_dtype = isinstance(value, Mapping) and bool(set(value) & {*DTYPES, *CLASSES})
        ranges = _expanded(value) if per_dtype else {"": value}
        if per_dtype and not set(ranges) <= set(computed):
            raise fields.error(
                f"domain of {name!r}: expected only dtypes {', '.join(computed)}, got {', '.join(value)}"
            )
        result[str(name)] = {dtype: _range(fields, str(name), each) for dtype, each in ranges.items()}
    return result


def _range(fields: Fields, name: str, raw: Any) -> Range:
    if isinstance(raw, list) and len(raw) == 2:
        raw = {"low": raw[0], "high": raw[1]}
    if not isinstance(raw, Mapping):
        raise fields.error(f"expected domain of {name!r} to be [low, high] or {{low: x, high: y}}, got {raw!r}")
    result = Fields(raw, fields.where, f"domain of {name!r}").record(Range)
    if not result.low < result.high:
        raise fields.error(f"domain of {name!r}: expected low < high, got {result.low} and {result.high}")
    return result


def _case(
    fields: Fields, inputs: tuple[Input, ...], parameters: tuple[Parameter, ...], accepted: Collection[str]
) -> Shapes:
    shapes = {each.name: _shape(fields, each) for each in inputs if each.name in fields or not each.optional}
    settings = {each.name: fields.value(each.name) for each in parameters if each.name in fields}
    dtypes = _named(fields)
    fields.finish()
    _require(fields, (each.name for each in parameters if each.required and each.name not in settings))
    if bool(dtypes) != bool(inputs and settings.get("dtype")) or not set(dtypes) <= set(accepted):
        raise fields.error(
            f"expected dtypes of {', '.join(accepted)} beside the parameter dtype, and only there, got "
            f"{', '.join(dtypes) or 'none'}"
        )
    return Shapes(shapes, settings, dtypes)


def _require(fields: Fields, missing: Iterable[str]) -> None:
    for name in missing:
        raise fields.error(f"expected a value of {name!r}, got none; add it")


def _shape(fields: Fields, each: Input) -> Any:
    value = fields.value(each.name)
    shapes = value if each.sequence else [value]
    if not isinstance(shapes, list) or not all(isinstance(shape, list) for shape in shapes):
        raise fields.error(
            f"expected {each.name} to be a shape such as [2, 3], or a list of shapes for a sequence, got {value!r}"
        )
    return value


def _special(
    fields: Fields,
    inputs: tuple[Input, ...],
    parameters: tuple[Parameter, ...],
    computed: tuple[str, ...],
    accepted: Collection[str],
) -> Special:
    raises = fields.text("raises", default=None)
    out = None if raises else fields.value("out")
    values = {each.name: fields.value(each.name) for each in inputs if each.name in fields}
    settings = {each.name: fields.value(each.name) for each in parameters if each.name in fields}
    unless = {str(key): str(why) for key, why in fields.mapping("unless").items()}
    listed = _named(fields)
    fields.finish()
    for leaf in _leaves([*values.values(), out]):
        if not isinstance(leaf, (bool, int, float)):
            raise fields.error(f"expected a number, got {leaf!r}; YAML requires a point and a signed exponent: 1.0e+6")
    _require(fields, (each.name for each in inputs if each.name not in values and not each.optional))
    for backend in unless:
        if backend not in BACKENDS:
            raise fields.error(f"unless: expected one of {', '.join(BACKENDS)}, got {backend!r}")
    shared = [values[each.name] for each in inputs if each.dtype is None and each.name in values]
    whole = [leaf for leaf in _leaves([*shared, out]) if isinstance(leaf, int)]
    if not listed and not inputs and settings.get("dtype") in computed:
        listed = (settings["dtype"],)
    dtypes = listed or tuple(each for each in _dtypes_of(shared, computed) if _holds(each, whole))
    is_converted = inputs and settings.get("dtype")
    if not dtypes or not set(dtypes) <= {*computed, *(accepted if is_converted else ())}:
        found = ", ".join(dtypes) or "others"
        raise fields.error(
            f"expected values of {', '.join(computed)}, got {found}; write 1.0 for floats, 1 for integers"
        )
    return Special(values, settings, out, raises, dtypes, unless)


def _holds(dtype: str, whole: Collection[int]) -> bool:
    """Whether an integer dtype holds these ints; True for other dtypes."""
    if dtype not in INTEGERS:
        return True
    lowest, highest = FACTS.dtypes[dtype].bounds
    return all(lowest <= each <= highest for each in whole)


def _dtypes_of(values: Any, computed: tuple[str, ...]) -> tuple[str, ...]:
    """Returns those of the `computed` dtypes that fit the given values.

    The float dtypes fit if any value is a float or there are no values, bool if every value is a bool, and otherwise
    the integer dtypes.
    """
    leaves = list(_leaves(values))
    if not leaves or any(isinstance(leaf, float) for leaf in leaves):
        family: tuple[str, ...] = FLOATS
    elif all(isinstance(leaf, bool) for leaf in leaves):
        family = ("bool",)
    else:
        family = INTEGERS
    return tuple(dtype for dtype in computed if dtype in family)


def _leaves(value: Any) -> Any:
    if isinstance(value, list):
        for each in value:
            yield from _leaves(each)
    elif value is not None:
        yield value


def _law(name: str, fields: Fields, computed: tuple[str, ...]) -> Law:
    law = fields.record(Law, name=name, dtypes=_named(fields) or computed)
    if not set(law.dtypes) <= set(computed):
        raise fields.error(f"expected only dtypes {', '.join(computed)}, got {', '.join(law.dtypes)}")
    _check_expression(fields, "holds", law.holds)
    return law


def _check_expression(fields: Fields, key: str, text: str) -> None:
    try:
        compile(text, key, "eval")
    except SyntaxError as problem:
        raise fields.error(f"expected {key} to be an expression, got a syntax error: {problem.msg}") from problem


def _bench(fields: Fields) -> dict[str, Any]:
    """Returns the field `bench`, whose entries tests/cases/cases.py describes."""
    bench = fields.mapping("bench")
    for name in bench:
        if name not in BENCH_FIELDS:
            raise fields.error(f"bench: expected one of {', '.join(BENCH_FIELDS)}, got {name!r}")
    return bench


def _fallback(fields: Fields) -> str:
    fields.choice("fallback", ("cpu",))
    why: str = fields.text("why")
    fields.finish()
    return why


def _check_arguments(fields: Fields, names: list[str]) -> None:
    if len(set(names)) < len(names):
        twice = max(names, key=names.count)
        raise fields.error(f"expected distinct names of inputs and parameters, got {twice!r} twice; rename one")
    reserved = sorted(set(names) & set(RESERVED))
    if reserved:
        raise fields.error(f"expected inputs and parameters not named {', '.join(RESERVED)}, got {reserved[0]!r}")


def _check(fields: Fields, contract: Contract) -> None:
    """Checks the rules that involve several fields."""
    if contract.kind.has_kernels and len(contract.inputs) + 1 > FACTS.abi["max_operands"]:
        raise fields.error(f"expected at most {FACTS.abi['max_operands'] - 1} inputs, got {len(contract.inputs)}")
    seen_optional = False
    for each in contract.inputs:
        if seen_optional and not each.optional:
            raise fields.error(f"expected required inputs first, got {each.name!r} after an optional one; move it up")
        seen_optional = each.optional
    if not contract.internal and not contract.example:
        raise fields.error("expected an example, got none; add doctest lines that call the operation (lw is imported)")
    _check_positions(fields, contract.parameters)
    _check_facts(fields, contract)
    several = contract.returns != "Tensor"
    if several and contract.reference:
        raise fields.error("expected no reference for several results, got a reference; compare with NumPy in laws")
    for dtype in contract.computed:
        text = contract.expression(dtype)
        if not (text or several or contract.internal or contract.kind.name in ("creation", "composed")):
            raise fields.error(f"expected a reference for {dtype}, got none; add one")
        _check_expression(fields, "reference", text or "0")


def _check_positions(fields: Fields, parameters: tuple[Parameter, ...]) -> None:
    """Requires positional parameters to precede the keyword-only ones."""
    keyword_only = None
    for each in parameters:
        if not each.positional:
            keyword_only = each.name
        elif keyword_only:
            raise fields.error(f"expected positional parameters first, got {each.name!r} after {keyword_only!r}")


def _check_facts(fields: Fields, contract: Contract) -> None:
    """Checks that the kind allows each field of OPTIONAL that is set. Also compares refuses_empty and takes_number with
    the rows of `special`: no row may contradict them, and a flag that is set requires a row that shows it."""
    kind = contract.kind.name
    for fact, kinds in OPTIONAL.items():
        if getattr(contract, fact) and kind not in kinds:
            raise fields.error(f"expected {fact} only in contracts of kind {', '.join(kinds)}, got kind {kind}")
    if kind in OPTIONAL["refuses_empty"]:
        rows = [each for each in contract.special if each.inputs and all(it == [] for it in each.inputs.values())]
        refused = [each.raises == "ShapeError" for each in rows if each.raises in (None, "ShapeError")]
        _check_fact(fields, "refuses_empty", contract.refuses_empty, refused, "{x: [], raises: ShapeError}")
    if kind in OPTIONAL["takes_number"]:
        rows = [each for each in contract.special if not any(isinstance(it, list) for it in each.inputs.values())]
        accepted = [each.raises is None for each in rows if each.raises in (None, "ShapeError")]
        _check_fact(fields, "takes_number", contract.takes_number, accepted, "{x: 2.0, out: ...}")


def _check_fact(fields: Fields, fact: str, value: bool, shown: list[bool], example: str) -> None:
    if value and not shown:
        raise fields.error(f"expected a special row that demonstrates {fact}, got none; add one such as {example}")
    if (not value) in shown:
        shows, says = ("false", "true") if value else ("true", "false")
        raise fields.error(f"expected {fact}: {shows}, as a special row demonstrates, got {says}")


def _check_names(contracts: tuple[Contract, ...]) -> None:
    owners: dict[str, str] = {}
    for contract in contracts:
        for name in (*contract.names, *(stem for stem in contract.stems if stem != contract.operation)):
            if not NAME.match(name):
                raise contract.error(f"expected lower-case names, got {name!r}")
            if name in owners:
                raise contract.error(
                    f"expected each name once, got {name!r}, already a name of {owners[name]}; rename one"
                )
            owners[name] = contract.operation


def _check_lenders(contracts: tuple[Contract, ...]) -> None:
    lenders = {each.operation: each for each in contracts}
    for contract in contracts:
        lender = lenders.get(contract.lender) if contract.lender else None
        if contract.lender and not (lender and _has_same_operands(contract, lender)):
            raise contract.error(
                "expected field 'kernels' to name an operation with the same dtypes, inputs and kernel parameters, "
                f"got {contract.lender!r}"
            )


def _has_same_operands(contract: Contract, lender: Contract) -> bool:
    parameters = [[each.type for each in one.kernel_parameters] for one in (contract, lender)]
    inputs = [[each.dtype for each in one.inputs] for one in (contract, lender)]
    return (
        set(contract.kernel_names) <= {kernel.name for kernel in lender.kernels}
        and parameters[0] == parameters[1]
        and inputs[0] == inputs[1]
    )
