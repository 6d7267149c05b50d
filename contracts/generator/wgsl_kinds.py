"""Fills in the templates of webgpu/kinds: one function for each kind of operation returns a kernel's WGSL module."""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import Template

from .wgsl_module import COMPONENTS, ITEMS, WEBGPU, Module
from .wgsl_tiles import attention_tiles, window_tiles

__all__ = ["EMITTERS"]

_SCALARS = ("f32", "i32", "u32", "bool")  # accumulators other than structs and vectors


def _elementwise(module: Module) -> str:
    parameters = module.parameters(ITEMS[module.kernel.dtype].value)
    loads = (module.load(position) for position in range(len(module.contract.inputs)))
    text = _each_element(module, f"{module.function()}({', '.join([*loads, *parameters])})")
    return text + _vectors(module, parameters) if module.has_vectors else text


def _vectors(module: Module, parameters: list[str]) -> str:
    """Returns the entry point for contiguous operands."""
    names = [each.name for each in module.contract.inputs]
    loads = "".join(f"        let {name} = lw_load_four_{name}(i);\n" for name in names)
    values = []
    for component in COMPONENTS:
        value = f"{module.function()}({', '.join([*(f'{name}.{component}' for name in names), *parameters])})"
        values.append(module.item(value))
    template = _template("elementwise_words" if module.out.packed else "elementwise_vectors")
    text = Template(template).substitute(
        loads=loads.strip(),
        values=", ".join(values),
        element=module.out.element,
        component=COMPONENTS[len(names)],
    )
    return module.vectors() + text


def _each_element(module: Module, value: str) -> str:
    """Returns a module that stores `value` in each element `i` of the result; `at` has the byte offsets of operands."""
    template = _template("elementwise_packed" if module.out.packed else "elementwise")
    text = Template(template).substitute(
        item=module.item(value),
        store=_indent(module.store(value, "item" if module.out.packed else None), template),
        component=COMPONENTS[len(module.contract.inputs)],
        per_word=f"{32 // module.out.bits}u",
        item_bits=f"{module.out.bits}u",
        item_bytes=f"{module.out.bits // 8}u",
    )
    return module.bindings() + module.loads() + text


def _reduction(module: Module) -> str:
    identity = module.function("_identity")
    accumulator = module.library.result(identity)
    loads = [module.load(position) for position in range(len(module.contract.inputs))]
    index = ["i"] if module.contract.kind.name == "index_reduction" else []
    parameters = module.parameters("f32")
    template = _template("reduction")
    finished = f"{module.function('_finish')}({', '.join(['result', 'lw.length', *parameters])})"
    text = Template(template).substitute(
        accumulator=accumulator,
        identity=f"{identity}()",
        map=f"{module.function('_map')}({', '.join([*loads, *index])})",
        combine=module.function("_combine"),
        store=_indent(module.store(finished), template),
    )
    text = module.bindings(scratch=accumulator) + module.loads() + text
    has_vectors = len(module.contract.inputs) == 1 and not index and module.operands[0][1].bits == 32
    return text + _reduction_vectors(module, accumulator, finished) if has_vectors else text


def _reduction_vectors(module: Module, accumulator: str, finished: str) -> str:
    """Returns the entry point for contiguous rows."""
    name, item = module.operands[0]
    template = _template("reduction_vectors")
    map_ = module.function("_map")

    def load(number: int) -> str:
        return f"let v{number} = {name}_vectors[first + i / 4u + {16 * number}u];"

    def combine_vector(number: int) -> str:
        values = (item.load.replace("$item", f"v{number}.{component}") for component in COMPONENTS)
        return "\n".join(f"p{k} = lw_join(p{k}, {map_}({value}));" for k, value in enumerate(values))

    combined = list(map(combine_vector, range(8)))
    if accumulator not in _SCALARS:  # SwiftShader takes minutes to inline so many functions
        loaded = ", ".join(f"v{number}" for number in range(8))
        combined = [f"var loaded = array<vec4<{item.element}>, 8>({loaded});"]
        combined += ["for (var j = 0u; j < 8u; j += 1u) {", "let v0 = loaded[j];", combine_vector(0), "}"]
    unrolled = ["for (; i + 64u * 7u + 4u <= length; i += 64u * 8u) {", *map(load, range(8)), *combined, "}"]
    values = {f"map_{component}": f"{map_}(v0.{component})" for component in COMPONENTS[:3]}
    text = Template(template).substitute(
        accumulator=accumulator,
        identity=f"{module.function('_identity')}()",
        unrolled="\n".join(unrolled),
        load_one=load(0),
        combine_one=combine_vector(0).replace("\n", "\n        "),
        store=_indent(module.store(finished), template),
        **values,
    )
    return f"@group(0) @binding(0) var<storage, read> {name}_vectors: array<vec4<{item.element}>>;\n" + text


def _matrix(module: Module) -> str:
    template = _template("matrix")
    loads = [module.load(position) for position in range(len(module.contract.inputs))]
    finished = f"{module.function()}({', '.join(['product', *loads[2:], *module.parameters(module.out.value)])})"
    text = Template(template).substitute(
        item=module.out.value, load_a=loads[0], load_b=loads[1], store=_indent(module.store(finished), template)
    )
    text = module.bindings(scratch=module.out.value) + module.loads(numbers=False) + text
    if module.out.element != "f32":
        return text
    names = dict(zip("ab", (each.name for each in module.contract.inputs), strict=False))
    return text + _matrix_tiles(module) + _matrix_dots(module, names, finished) + _matrix_columns(module, finished)


def _matrix_dots(module: Module, names: Mapping[str, str], finished: str) -> str:
    """Returns the entry point for few rows or columns, of contiguous rows of A and columns of B."""
    template = _template("matrix_dots")
    places = [f"i + {64 * j}u" for j in range(8)]
    loads = [f"let a{j} = {names['a']}_vectors[a_place + {place}];" for j, place in enumerate(places)]
    adds = [f"sum{j % 2} += a{j} * {names['b']}_vectors[b_place + {place}];" for j, place in enumerate(places)]
    return Template(template).substitute(
        names, load_eight="\n".join(loads), add_eight="\n".join(adds), store=_indent(module.store(finished), template)
    )


def _matrix_columns(module: Module, finished: str) -> str:
    """Returns the entry point for few rows of A, and contiguous rows of B."""
    template = _template("matrix_columns")
    a, b = (each.name for each in module.contract.inputs[:2])

    def sums(count: int) -> str:
        lines = [f"sum0 += lw_load_{a}(a + {j}u * a_step) * b{j};" for j in range(count)]
        lines.append("if (lw.m > 1u) {")
        for j in range(count):
            for row, other in enumerate("xyz", 1):
                lines.append(f"    sum{row} += lw_load_{a}(a + others.{other} + {j}u * a_step) * b{j};")
        return margin.join([*lines, "}"])

    margin = "\n" + 16 * " "
    return Template(template).substitute(
        a=a,
        b=b,
        row_loads=margin.join(f"let b{j} = {b}_vectors[(b + {j}u * b_step) >> 4u];" for j in range(8)),
        row_sums=sums(8),
        one_sums=sums(1),
        store=_indent(module.store(finished), template),
    )


def _matrix_tiles(module: Module) -> str:
    """Returns the entry points for matrices with contiguous rows. The steps along k are written out."""
    inputs = [each.name for each in module.contract.inputs]
    template = _template("matrix_tiles")
    a, b = inputs[:2]
    finish = []
    for component in range(4):
        loads = [
            f"lw_tile_{name}(at.{COMPONENTS[position]} + {component}u * lw.column_strides.{COMPONENTS[position]})"
            for position, name in enumerate(inputs[2:], 2)
        ]
        arguments = [f"products.{COMPONENTS[component]}", *loads, *module.parameters(module.out.value)]
        finish.append(f"{module.function()}({', '.join(arguments)})")
    text = Template(template).substitute(
        a=a,
        b=b,
        load_a=Template(_template("matrix_vectors")).substitute(name=a).strip(),
        load_b=Template(_template("matrix_vectors")).substitute(name=b).strip(),
        out_binding=len(inputs),
        scratch_binding=len(inputs) + 1,
        rows="\n    ".join(f"r{row}{half}: vec4<f32>," for row in range(8) for half in range(2)),
        store_rows=_tile_rows("lw_store_four(base"),
        store_parts=_tile_rows("lw_store_part(i"),
        put_0=_put_strip(0),
        put_1=_put_strip(1),
        multiply_0=_multiply_strip(0),
        multiply_1=_multiply_strip(1),
        finish=f"let value = vec4<f32>({', '.join(finish)});",
        component=COMPONENTS[len(inputs)],
    )
    return module.loads(numbers=False, results=False, first=2, stem="lw_tile") + text


def _put_strip(strip: int) -> str:
    """Returns the statements that put the vectors of an invocation into a strip, transposed if they are along k."""
    along = [f"lw_tile_a[{strip}][t % 2u * 4u + {c}u][t / 8u][t / 2u % 4u] = a[{c}];" for c in range(4)]
    lines = ["if ((lw_transposed & 2u) == 0u) {", *along, "} else {", f"lw_tile_a[{strip}][t / 16u][t % 16u] = a;", "}"]
    plain = [f"lw_tile_b[{strip}][t / 32u + {4 * j}u][t % 32u] = b{j};" for j in range(2)]
    along = [
        f"lw_tile_b[{strip}][t % 2u * 4u + {c}u][t / 8u + {16 * j}u][t / 2u % 4u] = b{j}[{c}];"
        for j in range(2)
        for c in range(4)
    ]
    lines += ["if ((lw_transposed & 1u) == 0u) {", *plain, "} else {", *along, "}"]
    return "\n".join(lines)


def _multiply_strip(strip: int) -> str:
    """Returns the statements that add the products of a strip to the 8 x 8 elements of an invocation."""
    lines = []
    for k in range(8):
        names = [f"a{k}x", f"a{k}y", f"b{k}x", f"b{k}y"]
        places = [f"lw_tile_a[{strip}][{k}][y]", f"lw_tile_a[{strip}][{k}][y + 8u]"]
        places += [f"lw_tile_b[{strip}][{k}][x]", f"lw_tile_b[{strip}][{k}][x + 16u]"]
        lines += [f"let {name} = {place};" for name, place in zip(names, places, strict=True)]
        for row in range(8):
            element = f"{names[row // 4]}.{COMPONENTS[row % 4]}"
            lines += [f"c.r{row}{half} += {element} * {names[2 + half]};" for half in range(2)]
    return "{\n" + "\n".join(lines) + "\n}"


def _tile_rows(store: str) -> str:
    """Returns the statements that store the 8 x 8 elements of an invocation: 4 + 4 rows of 4 + 4 columns."""
    return "\n".join(
        f"{store}, row + {row % 4 + row // 4 * 32}u, column + {64 * half}u, c.r{row}{half});"
        for row in range(8)
        for half in range(2)
    )


def _gather(module: Module) -> str:
    """Returns a module whose scalars are the extent of the indexed axis and its stride in bytes."""
    position = f"lw_take_position({module.load(1)}, bitcast<i32>(lw.scalars.x))"
    if module.contract.operation == "put":
        template = _template("put")
        store = _indent(module.store(module.load(0)), template)
        text = Template(template).substitute(position=position, store=store)
        return module.bindings(scratch="atomic<u32>") + module.loads() + text
    return _each_element(module, f"lw_load_{module.contract.inputs[0].name}(at.x + {position} * lw.scalars.y)")


def _creation(module: Module) -> str:
    """Returns a module whose function receives the position of an element, and the bits of the parameters."""
    parameters = (f"lw.number_{COMPONENTS[position]}" for position in range(len(module.contract.kernel_parameters)))
    return _each_element(module, f"{module.function()}({', '.join(['i', *parameters])})")


def _search(module: Module) -> str:
    row = module.contract.inputs[0].name
    search = Template(_template("search")).substitute(
        value=module.operands[1][1].value, row=row, is_before=module.function()
    )
    return search + _each_element(module, f"lw_search({module.load(1)})")


def _rows(module: Module) -> str:
    library, stem = module.library, f"lw_{module.stem}"
    loads = [module.load(position) for position in range(len(module.contract.inputs))]
    if f"{stem}_advance" in library.texts:
        return _scan(module, loads[0])
    template, total = _template("rows"), []
    if f"{stem}_term" in library.texts:
        template = template.replace("@compute", _template("rows_total") + "\n@compute")
        total = ["$total"]
    parameters = module.parameters("f32")
    rescale, scale, element = "", [], loads[0]
    if f"{stem}_scale" in library.texts:
        rescale = f"scale = {stem}_scale({', '.join(['summary', *parameters])});"
        rescale += "\nif (scale != 1.0) {\n    $again\n}"
        scale, element = ["scale"], f"lw_rounded({loads[0]} * scale)"  # see lw_scaled_four in rows_vectors.wgsl
    numbers = ", ".join(["summary", *total, *scale, "lw.length", *parameters])
    values = {
        "summary": library.result(module.function("_identity")),
        "identity": f"{module.function('_identity')}()",
        "combine": module.function("_combine"),
        "numbers": f"{module.function('_numbers')}({numbers})",
    }
    again = rescale.replace("$again", "summary = lw_summarize(row, scale, invocation);")
    text = Template(template).substitute(
        values,
        numbers=values["numbers"].replace("$total", "lw_add_up(row, summary, invocation)"),
        map=f"{module.function('_map')}({element})",
        rescale=again.replace("\n", "\n        "),
        term=f"{stem}_term({loads[0]}, summary)",
        value=f"{module.function('_value')}({', '.join([*loads, 'numbers'])})",
        store=_indent(module.store("value"), template),
    )
    text = module.bindings() + module.loads() + text
    has_vectors = module.operands[0][1].element == module.out.element == "f32"
    return text + _rows_vectors(module, values, rescale) if has_vectors else text


def _rows_vectors(module: Module, values: dict[str, str], rescale: str) -> str:
    """Returns the entry point for contiguous rows. The steps along a row are written out."""
    library, name = module.library, module.operands[0][0]
    stem = f"lw_{module.stem}"

    def each(step: str) -> list[str]:
        """Returns the lines that do `step` with each vector `v` of an invocation, at `i` in the row."""
        steps = []
        for j in range(8):
            text = step.replace("$v", f"v{j}").replace("$i", f"(member + {j} * team)")
            steps.append(f"if (vectors > {j}u && member + {j} * team < end) {{ {text} }}")
        return steps

    load = [f"var v{j} = vec4<f32>();" for j in range(8)]
    for j in range(8):
        place = f"(row.x >> 4u) + min(member + {j} * team, end - 1u)"
        load.append(f"if (vectors > {j}u) {{ v{j} = lw_load_vector({place}); }}")
    summarize = each("summary = lw_summarize_four(summary, $v);")
    again = [f"summary = {values['identity']};"]
    again += each("summary = lw_summarize_four(summary, lw_scaled_four($v, scale));")
    again += ["lw_combine_summaries(summary, invocation, team);", "summary = lw_summaries[first];"]
    flags = ""
    if rescale:  # if one team has to, all do it, because of the barriers
        flags = "var<workgroup> lw_again: array<u32, 4>;\n"
        flag = "if (invocation % 64u == 0u) { lw_again[invocation / 64u] = u32(scale != 1.0); }\n"
        flag += "let flags = workgroupUniformLoad(&lw_again);\n"
        rescale = rescale.replace("if (scale != 1.0)", flag + "if ((flags[0] | flags[1] | flags[2] | flags[3]) != 0u)")
    add_up, total, value = [], "", module.function("_value")
    if f"{stem}_term" in library.texts:
        components = ", ".join(f"{stem}_term(four.{component}, summary)" for component in COMPONENTS)
        total = f"fn lw_terms_of_four(four: vec4<f32>, summary: {values['summary']}) -> vec4<f32> {{\n"
        total += f"    return vec4<f32>({components});\n}}\n"
        kept = ""
        if f"{stem}_value_of_term" in library.texts:
            kept, value = " $v = terms;", f"{stem}_value_of_term"
        step = f"let terms = lw_terms_of_four($v, summary); sum += dot(terms, vec4<f32>(1.0));{kept}"
        add_up = ["var sum = 0.0;", *each(step)]
        add_up.append("let total = lw_combine_totals(sum, invocation, team);")
    items = []
    for component in COMPONENTS:
        others = [
            f"lw_in_row_{other}({component}.{COMPONENTS[position]})"
            for position, (other, _) in enumerate(module.operands[1:-1], 1)
        ]
        items.append(f"{value}({', '.join([f'four.{component}', *others, 'numbers'])})")
    maps = {f"map_{component}": f"{module.function('_map')}(four.{component})" for component in COMPONENTS}
    margin = "\n        "
    text = Template(_template("rows_vectors")).substitute(
        values | maps,
        load=margin.join(load),
        summarize=margin.join(summarize),
        rescale=rescale.replace("$again", "\n    ".join(again)).replace("\n", margin),
        add_up=margin.join(add_up),
        numbers=values["numbers"].replace("$total", "total"),
        store=margin.join(each("lw_store_four(row, $i, $v, numbers);")),
        total=total,
        numbers_type=library.result(module.function("_numbers")),
        component=COMPONENTS[len(module.contract.inputs)],
        values=(",\n" + 37 * " ").join(items),
    )
    bindings = f"@group(0) @binding(0) var<storage, read> {name}_vectors: array<vec4<f32>>;\n"
    bindings += f"@group(0) @binding({len(module.contract.inputs)}) "
    bindings += "var<storage, read_write> out_vectors: array<vec4<f32>>;\n"
    bindings += "fn lw_load_vector(i: u32) -> vec4<f32> {\n"
    bindings += "    if ((lw_sources & 3u) == 2u) { return out_vectors[i]; }\n"
    bindings += f"    return {name}_vectors[i];\n}}\n"
    return bindings + flags + module.loads(results=False, first=1, stem="lw_in_row") + text


def _scan(module: Module, load: str) -> str:
    template = _template("scan")
    zero = module.function("_zero")
    text = Template(template).substitute(
        item=module.out.value,
        zero=f"{zero}()",
        identity=f"{module.function('_identity')}()",
        load=load,
        value=f"{module.function('_value')}(lw_scanned[invocation], before)",
        advance=f"{module.function('_advance')}(before, lw_scanned[lw_tile - 1u])",
        join=module.function("_join"),
        store=_indent(module.store("value"), template),
    )
    return module.bindings(scratch=module.library.result(zero)) + module.loads() + text


def _rotation(module: Module) -> str:
    name = module.contract.inputs[0].name
    text = Template(_template("rotation")).substitute(
        places=module.library.require(module.contract, f"lw_{module.contract.operation}_places"),
        rotate=module.function(),
        first=f"lw_load_{name}(first.x)",
        second=f"lw_load_{name}(second.x)",
    )
    return module.bindings() + module.loads(numbers=False) + text


def _window(module: Module) -> str:
    inputs = module.contract.inputs
    size = "lw.kernel_size.x * lw.kernel_size.y"
    finish = [module.load(2)] if len(inputs) > 1 else ["inside", size, *module.parameters("f32")]
    combine = ["acc", module.load(0)]
    if len(inputs) > 1:
        combine = ["acc", f"select(0.0, {module.load(0)}, is_inside)", module.load(1)]
    values = {
        "finish": f"{module.function('_finish')}({', '.join(['acc', *finish])})",
        "component": COMPONENTS[len(inputs)],
        "result": f"{len(inputs)}u",
    }
    text = Template(_template("window")).substitute(
        values,
        identity=f"{module.function('_identity')}()",
        combine=f"{module.function('_combine')}({', '.join(combine)})",
        skip="" if len(inputs) > 1 else "if (!is_inside) { continue; }",
    )
    text = module.bindings() + module.loads(numbers=False) + text
    if len(inputs) > 1:
        text += window_tiles(_template("window_tiles"), values, [f"lw_load_{each.name}" for each in inputs])
    return text


def _attention(module: Module) -> str:
    names = [each.name for each in module.contract.inputs]
    loads = dict(zip(("query", "key", "value", "mask"), (f"lw_load_{name}" for name in names), strict=True))
    functions = {name: module.function(f"_{name}") for name in ("score", "weight", "rescale", "reciprocal")}
    values = loads | functions
    values |= {"maximum": "lw_maximum_float32", "lowest": "lw_from_bits(lw_SIGN_BIT | lw_INFINITY_BITS)"}
    text = Template(_template("attention")).substitute(values)
    text += attention_tiles(_template("attention_tiles"), values, names[:3])
    head = module.bindings(scratch="vec4<f32>") + module.loads()
    for name in names[:3]:  # a binding has one type: that of the rows of tiles
        head = head.replace(f"{name}_buffer: array<f32>", f"{name}_buffer: array<vec4<f32>>")
        head = head.replace(f"{name}_buffer[at >> 2u]", f"{name}_buffer[at >> 4u][(at >> 2u) & 3u]")
    return head + text


EMITTERS = {
    "elementwise": _elementwise,
    "cast": _elementwise,
    "reduction": _reduction,
    "index_reduction": _reduction,
    "matrix": _matrix,
    "gather": _gather,
    "creation": _creation,
    "search": _search,
    "rows": _rows,
    "rotation": _rotation,
    "window": _window,
    "attention": _attention,
}


def _template(name: str) -> str:
    return (WEBGPU / "kinds" / f"{name}.wgsl").read_text()


def _indent(statement: str, template: str) -> str:
    """Indents the lines after the first as far as the template indents `$store`."""
    margin = re.search(r"^( *)\$store", template, re.M)
    return statement.replace("\n", "\n" + (margin[1] if margin else ""))
