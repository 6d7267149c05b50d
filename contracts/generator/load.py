"""Reads contracts/*.yaml and kinds.yaml into the data of schema.py, or says what is wrong with them and where."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .fields import ContractError, Fields, read_yaml
from .schema import (
    BACKENDS,
    BENCH_FIELDS,
    CARRIED,
    COMPLEXITIES,
    DTYPES,
    FAMILIES,
    FLOATS,
    INTEGERS,
    PARAMETER_TYPES,
    Bound,
    Contract,
    Input,
    Kind,
    Law,
    Limits,
    Parameter,
    Range,
    Shapes,
    Special,
    Tolerance,
    Variants,
)  # fmt: skip

LAYOUTS = ("lw_layout", "lw_matrix_layout", "lw_window_layout", "lw_attention_layout")
RESERVED = ("out", "device", "self", "module", "op", "lw", "np")  # mean something else beside an input's name
NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
MAX_OPERANDS = 5  # LW_MAX_OPERANDS
FACTS = {  # fact -> the kinds whose contracts may state it
    "is_short": ("elementwise", "cast"),
    "refuses_empty": ("reduction", "index_reduction", "rows"),
    "takes_number": ("rows",),
}

SHARED = ("kinds.yaml", "coming_from.yaml")  # about several operations; every other file of the folder is a contract


def load_kinds(folder: Path) -> dict[str, Kind]:
    """kinds.yaml."""
    path = folder / "kinds.yaml"
    kinds = {}
    for name, raw in read_yaml(path).items():
        fields = Fields(raw, "kinds.yaml", str(name))
        layout = fields.text("layout", default=None)
        if layout is not None and layout not in LAYOUTS:
            raise fields.error(f"unknown layout {layout!r}; one of {', '.join(LAYOUTS)}")
        in_place = fields.text("in_place", default="none")
        if in_place not in ("any", "first", "none"):
            raise fields.error(f"in_place is {in_place!r}; any, first or none is wanted")
        backends = fields.mapping("backends")
        if set(backends) != set(FAMILIES) or not set(backends.values()) <= set(CARRIED):
            raise fields.error(f"expected backends {', '.join(FAMILIES)}, each {' or '.join(CARRIED)}, got {backends}")
        kinds[str(name)] = Kind(
            name=str(name),
            summary=fields.text("summary"),
            layout=layout,
            has_kernels=layout is not None,
            has_out=fields.flag("out"),
            in_place=in_place,
            backends=backends,
            inner=fields.text("inner"),
            result=fields.text("result"),
            errors={str(key): str(value) for key, value in fields.mapping("errors").items()},
        )
        fields.finish()
    return kinds


def load_contracts(folder: Path) -> tuple[Contract, ...]:
    """Every contract of the folder, by name of operation."""
    kinds = load_kinds(folder)
    paths = sorted(path for path in folder.glob("*.yaml") if path.name not in SHARED)
    contracts = tuple(sorted((load_contract(path, kinds) for path in paths), key=lambda each: each.operation))
    _check_names(contracts)
    _check_lenders(contracts)
    return contracts


def load_contract(path: Path, kinds: Mapping[str, Kind]) -> Contract:
    """One contract."""
    fields = Fields(read_yaml(path), f"contracts/{path.name}")
    operation = fields.name("operation")
    if path.name != f"{operation}.yaml":
        raise fields.error(f"describes operation {operation!r}; rename the file to {operation}.yaml")
    kind = kinds[fields.choice("kind", tuple(kinds))]
    inputs = tuple(_input(name, each) for name, each in fields.sections("inputs"))
    parameters = tuple(_parameter(name, each) for name, each in fields.sections("parameters"))
    moves, dtypes = _dtypes(fields, kind)
    variants = _variants(fields, operation, parameters)
    if variants and kind.name != "elementwise":
        raise fields.error("only elementwise operations have variants")
    computed = tuple(dtypes) or DTYPES
    _check_arguments(fields, [each.name for each in inputs] + [each.name for each in parameters])
    webgpu = fields.section("webgpu")
    contract = Contract(
        operation=operation,
        kind=kind,
        path=path,
        summary=fields.sentence("summary"),
        formula=fields.text("formula", default=""),
        source=fields.text("source", default=""),
        inputs=inputs,
        parameters=parameters,
        variants=variants,
        dtypes=dtypes,
        moves=moves,
        complexity=fields.choice("complexity", COMPLEXITIES),
        reproducible=fields.flag("reproducible"),
        reference=_by_dtype(fields, "reference", computed),
        domain=_domain(fields, inputs, computed),
        cases=tuple(_case(each, inputs, parameters) for each in fields.rows("cases")),
        special=tuple(_special(each, inputs, parameters, computed) for each in fields.rows("special")),
        tolerance=_tolerance(fields),
        laws=tuple(_law(name, each, operation, computed) for name, each in fields.sections("laws", any_name=True)),
        aliases=fields.names("aliases"),
        example=fields.text("example", default=""),
        fallback=_fallback(webgpu) if webgpu else None,
        internal=fields.flag("internal", default=False),
        method=fields.flag("method", default=kind.name != "creation"),
        has_out=fields.flag("out", default=kind.has_out),
        device=fields.flag("device", default=False),
        is_short=fields.flag("is_short", default=False),
        refuses_empty=fields.flag("refuses_empty", default=False),
        takes_number=fields.flag("takes_number", default=False),
        returns=fields.text("returns", default="Tensor"),
        bench=_bench(fields),
        lender=fields.text("kernels", default=None),
        result_shape=fields.text("result", default=""),
        result_dtype=fields.text("result_dtype", default=""),
        errors={str(name): str(when) for name, when in fields.mapping("errors").items()},
    )
    fields.finish()
    _check(fields, contract)
    return contract


def _input(name: str, fields: Fields) -> Input:
    default = fields.text("default", default=None)
    if default not in (None, "lowest", "highest"):
        raise fields.error(f"default is {default!r}; lowest or highest")
    result = Input(
        name=name,
        doc=fields.text("doc"),
        dtype=fields.choice("dtype", DTYPES) if "dtype" in fields else None,
        optional=fields.flag("optional", default=False),
        default="lowest" if default == "lowest" else "highest" if default == "highest" else None,
        sequence=fields.flag("sequence", default=False),
        ndim=int(fields.number("ndim")) if "ndim" in fields else None,
    )
    if result.default and not result.optional:
        raise fields.error("has a default, so it must be optional: true")
    fields.finish()
    return result


def _parameter(name: str, fields: Fields) -> Parameter:
    kind = fields.choice("type", PARAMETER_TYPES)
    choices = fields.names("choices")
    required = "default" not in fields
    default = None if required else fields.value("default")
    if (kind == "choice") != bool(choices):
        raise fields.error("choices go with type: choice, and only with it")
    if choices and not required and default not in choices:
        raise fields.error(f"default is {default!r}; one of {', '.join(choices)}")
    expected = {"float": (int, float), "int": (int,), "bool": (bool,), "keepdims": (bool,), "pair": (int,)}.get(kind)
    if expected and default is not None and (not isinstance(default, expected) or
                                             (isinstance(default, bool) and bool not in expected)):  # fmt: skip
        raise fields.error(f"default is {default!r}, which is no {kind}")
    result = Parameter(
        name=name,
        type=kind,
        doc=fields.text("doc"),
        required=required,
        default=float(default) if kind == "float" and isinstance(default, (int, float)) else default,
        positional=fields.flag("positional", default=False),
        optional=fields.flag("optional", default=False),
        host=fields.flag("host", default=False),
        choices=choices,
        limits=_limits(fields, kind),
    )
    if result.limits and default is not None and not result.limits.low <= float(default) <= result.limits.high:
        raise fields.error(f"default is {default!r}, which is not {result.limits.says}")
    fields.finish()
    return result


def _limits(fields: Fields, kind: str) -> Limits | None:
    """`at_least` or `above`, and `at_most`."""
    given = {name: fields.number(name) for name in ("at_least", "above", "at_most") if name in fields}
    if kind not in ("float", "int"):
        if given:
            raise fields.error(f"{next(iter(given))} goes with type: float or int")
        return None
    if "at_least" in given and "above" in given:
        raise fields.error("at_least and above are the same limit; name one")
    largest = sys.float_info.max if kind == "float" else math.inf
    low = math.nextafter(given["above"], math.inf) if "above" in given else given.get("at_least", -largest)
    words = " and ".join(f"{name.replace('_', ' ')} {number:.17g}" for name, number in given.items())
    return Limits(low, given.get("at_most", largest), words)


def _dtypes(fields: Fields, kind: Kind) -> tuple[bool, dict[str, str]]:
    """Whether it moves data whatever its dtype, and else the result dtype of each computed one."""
    raw = fields.mapping("dtypes")
    if kind.name == "cast":
        if raw != {"any": "chosen"}:
            raise fields.error("dtypes of a cast are {any: chosen}")
        return False, {}
    if raw == {"any": "same"}:
        return True, {}
    for name in (*raw.keys(), *raw.values()):
        if name not in DTYPES:
            raise fields.error(f"dtypes names {name!r}; one of {', '.join(DTYPES)}, or 'any: same' alone")
    if not raw:
        raise fields.error("dtypes is empty; write {float32: float32} or so")
    return False, {dtype: str(raw[dtype]) for dtype in DTYPES if dtype in raw}


def _variants(fields: Fields, operation: str, parameters: tuple[Parameter, ...]) -> Variants | None:
    raw = fields.mapping("variants")
    if not raw:
        return None
    parameter = raw.pop("parameter", None)
    chosen = next((each for each in parameters if each.name == parameter and each.type == "choice"), None)
    if chosen is None:
        raise fields.error(f"variants.parameter is {parameter!r}; name a parameter of type choice")
    if set(raw) != set(chosen.choices):
        raise fields.error(f"variants must name each choice of {parameter!r} once: {', '.join(chosen.choices)}")
    stems = tuple(str(raw[choice]) for choice in chosen.choices)
    for stem in stems:
        if stem != operation and not stem.startswith(operation + "_"):
            raise fields.error(f"variant {stem!r}: kernels are named {operation} or {operation}_<something>")
    return Variants(chosen.name, stems)


def _by_dtype(fields: Fields, key: str, computed: tuple[str, ...]) -> dict[str, str]:
    raw = fields.value(key) if key in fields else {}
    if isinstance(raw, str):
        return {"": raw}
    if not isinstance(raw, Mapping) or not set(raw) <= set(computed):
        raise fields.error(f"{key} is an expression, or one for each of {', '.join(computed)}")
    return {str(dtype): str(text) for dtype, text in raw.items()}


def _domain(fields: Fields, inputs: tuple[Input, ...], computed: tuple[str, ...]) -> dict[str, dict[str, Range]]:
    raw = fields.mapping("domain")
    unknown = set(raw) - {each.name for each in inputs}
    if unknown:
        raise fields.error(f"domain names {min(unknown)!r}, which is no input")
    result = {}
    for name, value in raw.items():
        per_dtype = isinstance(value, Mapping) and bool(set(value) & set(DTYPES))
        if per_dtype and not set(value) <= set(computed):
            raise fields.error(f"domain of {name!r}: not among the dtypes {', '.join(computed)}")
        ranges = value if per_dtype else {"": value}
        result[str(name)] = {dtype: _range(fields, str(name), each) for dtype, each in ranges.items()}
    return result


def _range(fields: Fields, name: str, raw: Any) -> Range:
    if isinstance(raw, list) and len(raw) == 2:
        raw = {"low": raw[0], "high": raw[1]}
    if not isinstance(raw, Mapping):
        raise fields.error(f"domain of {name!r} is {raw!r}; write [low, high] or {{low: , high: , ...}}")
    each = Fields(raw, fields.where, f"domain of {name!r}")
    result = Range(each.number("low"), each.number("high"), each.flag("exclude_zero", default=False),
                   each.flag("whole", default=False))  # fmt: skip
    each.finish()
    if not result.low < result.high:
        raise fields.error(f"domain of {name!r}: {result.low} is not below {result.high}")
    return result


def _case(fields: Fields, inputs: tuple[Input, ...], parameters: tuple[Parameter, ...]) -> Shapes:
    shapes = {each.name: _shape(fields, each) for each in inputs if each.name in fields or not each.optional}
    settings = {each.name: fields.value(each.name) for each in parameters if each.name in fields}
    fields.finish()
    missing = [each.name for each in parameters if each.required and each.name not in settings]
    if missing:
        raise fields.error(f"gives no {missing[0]!r}")
    return Shapes(shapes, settings)


def _shape(fields: Fields, each: Input) -> Any:
    value = fields.value(each.name)
    shapes = value if each.sequence else [value]
    if not isinstance(shapes, list) or not all(isinstance(shape, list) for shape in shapes):
        raise fields.error(f"{each.name} is {value!r}; must be a shape, [2, 3]")
    return value


def _special(
    fields: Fields, inputs: tuple[Input, ...], parameters: tuple[Parameter, ...], computed: tuple[str, ...]
) -> Special:
    raises = fields.text("raises", default=None)
    out = None if raises else fields.value("out")
    given = {each.name: fields.value(each.name) for each in inputs if each.name in fields}
    settings = {each.name: fields.value(each.name) for each in parameters if each.name in fields}
    unless = {str(key): str(why) for key, why in fields.mapping("unless").items()}
    listed = fields.names("dtypes")
    fields.finish()
    for leaf in _leaves([*given.values(), out]):
        if not isinstance(leaf, (bool, int, float)):
            raise fields.error(f"{leaf!r} is no number; YAML wants a point and a signed exponent, 1.0e+6")
    missing = [each.name for each in inputs if each.name not in given and not each.optional]
    if missing:
        raise fields.error(f"gives no {missing[0]!r}")
    for backend in unless:
        if backend not in BACKENDS:
            raise fields.error(f"unless names {backend!r}; one of {', '.join(BACKENDS)}")
    free = [given[each.name] for each in inputs if each.dtype is None and each.name in given]
    if not listed and not inputs and settings.get("dtype") in computed:
        listed = (settings["dtype"],)
    dtypes = listed or _dtypes_of(free, computed)
    if not dtypes or not set(dtypes) <= set(computed):
        raise fields.error(f"fits none of the dtypes {', '.join(computed)}: write 1.0 for floats, 1 for integers")
    return Special(given, settings, out, raises, dtypes, unless)


def _dtypes_of(values: Any, computed: tuple[str, ...]) -> tuple[str, ...]:
    """Floats speak of the float dtypes, integers of the integer ones, truth values of bool."""
    leaves = list(_leaves(values))
    if not leaves or any(isinstance(leaf, float) for leaf in leaves):
        wanted: tuple[str, ...] = FLOATS
    elif all(isinstance(leaf, bool) for leaf in leaves):
        wanted = ("bool",)
    else:
        wanted = INTEGERS
    return tuple(dtype for dtype in computed if dtype in wanted)


def _leaves(value: Any) -> Any:
    if isinstance(value, list):
        for each in value:
            yield from _leaves(each)
    elif value is not None:
        yield value


def _tolerance(fields: Fields) -> Tolerance:
    section = fields.section("tolerance")
    if section is None:
        return Tolerance(Bound(), {})
    backends = {}
    for name, raw in section.mapping("backends").items():
        each = Fields(raw, fields.where, f"tolerance of {name}")
        if name not in BACKENDS:
            raise each.error(f"no such backend; one of {', '.join(BACKENDS)}")
        backends[str(name)] = _bound(each, why=each.text("why"))
    return Tolerance(_bound(section, why=""), backends)


def _bound(fields: Fields, why: str) -> Bound:
    bound = Bound(
        ulp=fields.number("ulp", default=0.0),
        absolute=fields.number("absolute", default=0.0),
        relative=fields.number("relative", default=0.0),
        magnitude=fields.number("magnitude", default=0.0),
        why=why,
    )
    fields.finish()
    return bound


def _law(name: str, fields: Fields, operation: str, computed: tuple[str, ...]) -> Law:
    if not NAME.match(name) and not re.fullmatch(rf"FALSIFY-{operation.upper()}-\d{{3}}", name):
        raise fields.error(f"expected a lower-case identifier as the law's name, got {name!r}; write e.g. commutes")
    law = Law(name, fields.text("says"), fields.text("holds"), fields.names("dtypes") or computed)
    fields.finish()
    if not set(law.dtypes) <= set(computed):
        raise fields.error(f"dtypes are not among {', '.join(computed)}")
    try:
        compile(law.holds, name, "eval")
    except SyntaxError as problem:
        raise fields.error(f"holds is no Python expression: {problem.msg}") from problem
    return law


def _bench(fields: Fields) -> dict[str, Any]:
    """tests/bench/cases.py says what its fields mean."""
    bench = fields.mapping("bench")
    for name in bench:
        if name not in BENCH_FIELDS:
            raise fields.error(f"bench: expected fields of {', '.join(BENCH_FIELDS)}, got {name!r}")
    return bench


def _fallback(fields: Fields) -> str:
    fields.choice("fallback", ("cpu",))
    why: str = fields.text("why")
    fields.finish()
    return why


def _check_arguments(fields: Fields, names: list[str]) -> None:
    if len(set(names)) < len(names):
        raise fields.error("an input and a parameter have the same name")
    taken = sorted(set(names) & set(RESERVED))
    if taken:
        raise fields.error(f"{taken[0]!r} cannot be the name of an input or parameter")


def _check(fields: Fields, contract: Contract) -> None:
    """What no field can know by itself."""
    if contract.kind.has_kernels and len(contract.inputs) + 1 > MAX_OPERANDS:
        raise fields.error(f"{len(contract.inputs)} inputs; with the result at most {MAX_OPERANDS} operands fit")
    seen_optional = False
    for each in contract.inputs:
        if seen_optional and not each.optional:
            raise fields.error(f"input {each.name!r} is required but follows an optional one")
        seen_optional = each.optional
    if not contract.internal and not contract.example:
        raise fields.error("has no example; write doctest lines that show the operation (lw is imported)")
    _check_positions(fields, contract.parameters)
    _check_facts(fields, contract)
    several = contract.returns != "Tensor"
    if several and contract.reference:
        raise fields.error("has a reference, but returns several tensors: compare them with NumPy's in its laws")
    for dtype in contract.computed:
        text = contract.expression(dtype)
        if not (text or several or contract.internal or contract.kind.name in ("creation", "composed")):
            raise fields.error(f"has no reference for {dtype}")
        try:
            compile(text or "0", "reference", "eval")
        except SyntaxError as problem:
            raise fields.error(f"reference is no Python expression: {problem.msg}") from problem


def _check_positions(fields: Fields, parameters: tuple[Parameter, ...]) -> None:
    """Requires positional parameters to precede the keyword-only ones."""
    keyword_only = None
    for each in parameters:
        if not each.positional:
            keyword_only = each.name
        elif keyword_only:
            raise fields.error(f"expected positional parameters first, got {each.name!r} after {keyword_only!r}")


def _check_facts(fields: Fields, contract: Contract) -> None:
    """Requires a special row for each fact that such a row can show, and none that contradicts it."""
    kind = contract.kind.name
    for fact, kinds in FACTS.items():
        if getattr(contract, fact) and kind not in kinds:
            raise fields.error(f"expected {fact} only in contracts of kind {', '.join(kinds)}, got kind {kind}")
    if kind in FACTS["refuses_empty"]:
        rows = [each for each in contract.special if each.inputs and all(it == [] for it in each.inputs.values())]
        refused = [each.raises == "ShapeError" for each in rows if each.raises in (None, "ShapeError")]
        _check_fact(fields, "refuses_empty", contract.refuses_empty, refused, "{x: [], raises: ShapeError}")
    if kind in FACTS["takes_number"]:
        rows = [each for each in contract.special if not any(isinstance(it, list) for it in each.inputs.values())]
        taken = [each.raises is None for each in rows if each.raises in (None, "ShapeError")]
        _check_fact(fields, "takes_number", contract.takes_number, taken, "{x: 2.0, out: ...}")


def _check_fact(fields: Fields, fact: str, value: bool, shown: list[bool], example: str) -> None:
    if value and not shown:
        raise fields.error(f"expected a special row that shows {fact}, got none; add {example}")
    if (not value) in shown:
        shows, says = ("false", "true") if value else ("true", "false")
        raise fields.error(f"expected {fact}: {shows}, as a special row shows, got {says}")


def _check_names(contracts: tuple[Contract, ...]) -> None:
    owners: dict[str, str] = {}
    for contract in contracts:
        for name in (*contract.names, *(stem for stem in contract.stems if stem != contract.operation)):
            if not NAME.match(name):
                raise ContractError(f"contracts/{contract.path.name}: {name!r} is no lower-case name")
            if name in owners:
                raise ContractError(f"contracts/{contract.path.name}: {name!r} belongs to {owners[name]} already")
            owners[name] = contract.operation


def _check_lenders(contracts: tuple[Contract, ...]) -> None:
    lenders = {each.operation: each for each in contracts}
    for contract in contracts:
        lender = lenders.get(contract.lender) if contract.lender else None
        if contract.lender and not (lender and _takes_the_same(contract, lender)):
            raise ContractError(
                f"contracts/{contract.path.name}: kernels are those of {contract.lender!r}; only an operation whose "
                "kernels take as many inputs of the same dtypes, and the same parameters, may lend them"
            )


def _takes_the_same(contract: Contract, lender: Contract) -> bool:
    parameters = [[each.type for each in one.kernel_parameters] for one in (contract, lender)]
    inputs = [[each.dtype for each in one.inputs] for one in (contract, lender)]
    return (
        set(contract.kernel_names) <= {kernel.name for kernel in lender.kernels}
        and parameters[0] == parameters[1]
        and inputs[0] == inputs[1]
    )
