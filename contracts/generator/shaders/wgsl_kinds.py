"""Fills in the templates of webgpu/kinds: one function for each kind of operation returns a kernel's WGSL module."""

from __future__ import annotations

from string import Template

from .wgsl_matrix import matrix
from .wgsl_module import COMPONENTS, ITEMS, Module, indented, read_template
from .wgsl_sort import sort
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
    return _vectors_of(module, loads.strip(), ", ".join(values))


def _vectors_of(module: Module, loads: str, values: str) -> str:
    """Returns the entry point for contiguous operands, which stores `values` after `loads`."""
    template = read_template("elementwise_words" if module.out.packed else "elementwise_vectors")
    component = COMPONENTS[len(module.contract.inputs)]
    text = Template(template).substitute(loads=loads, values=values, element=module.out.element, component=component)
    return module.vectors() + text


def _each_element(module: Module, value: str) -> str:
    """Returns a module that stores `value` in each element `i` of the result; `at` has the byte offsets of operands."""
    template = read_template("elementwise_packed" if module.out.packed else "elementwise")
    text = Template(template).substitute(
        item=module.item(value),
        store=indented(module.store(value, "item" if module.out.packed else None), template),
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
    template = read_template("reduction")
    names = {each: f"lw_{each}" for each in ("reduce_block", "reduce_team")}
    names |= {"combine_blocks": "lw_join", "scale": "", "separate": "workgroupBarrier();"}
    if f"lw_{module.stem}_scale" in module.library.texts:
        names = {"reduce_block": "lw_reduce_elements", "reduce_team": "lw_reduce_vectors", "scale": "scale: f32, "}
        names |= {each: module.function(f"_{each}") for each in ("combine_blocks", "block")}
        names |= {"scale_of": module.function("_scale"), "separate": ""}  # workgroupUniformLoad has barriers
        loads = [f"lw_rounded({load} * scale)" for load in loads]
    finished = f"{module.function('_finish')}({', '.join(['result', 'lw.length', *parameters])})"
    names |= {"accumulator": accumulator, "identity": f"{identity}()"}
    text = Template(template).substitute(
        names,
        map=f"{module.function('_map')}({', '.join([*loads, *index])})",
        combine=module.function("_combine"),
        store=indented(module.store(finished), template),
    )
    text = module.bindings(scratch=accumulator) + module.loads() + text
    has_vectors = len(module.contract.inputs) == 1 and not index and module.operands[0][1].bits == 32
    return text + _reduction_vectors(module, names, finished) if has_vectors else text


def _reduction_vectors(module: Module, names: dict[str, str], finished: str) -> str:
    """Returns the entry point for contiguous rows. Only 8 vectors at once are never scaled."""
    name, item = module.operands[0]
    template = read_template("reduction_vectors")
    map_ = module.function("_map")

    def load(number: int) -> str:
        return f"let v{number} = {name}_vectors[first + i / 4u + {16 * number}u];"

    def combine_vector(number: int) -> str:
        values = (item.load.replace("$item", f"v{number}.{component}") for component in COMPONENTS)
        return "\n".join(f"p{k} = lw_join(p{k}, {map_}({value}));" for k, value in enumerate(values))

    combined = list(map(combine_vector, range(8)))
    if names["accumulator"] not in _SCALARS:  # SwiftShader takes minutes to inline so many functions
        loaded = ", ".join(f"v{number}" for number in range(8))
        combined = [f"var loaded = array<vec4<{item.element}>, 8>({loaded});"]
        combined += ["for (var j = 0u; j < 8u; j += 1u) {", "let v0 = loaded[j];", combine_vector(0), "}"]
    only = "scale == 1.0 && " if names["scale"] else ""
    unrolled = [f"for (; {only}i + 64u * 7u + 4u <= length; i += 64u * 8u) {{", *map(load, range(8)), *combined, "}"]
    values = {f"map_{component}": f"{map_}(v0.{component})" for component in COMPONENTS[:3]}
    load_one = load(0)
    if names["scale"]:
        load_one = load_one.replace("= ", "= lw_scaled_four(").replace(";", ", scale);")
        template += read_template("reduction_scaled")
    text = Template(template).substitute(
        names,
        unrolled="\n".join(unrolled),
        load_one=load_one,
        combine_one=combine_vector(0).replace("\n", "\n        "),
        store=indented(module.store(finished), template),
        **values,
    )
    return f"@group(0) @binding(0) var<storage, read> {name}_vectors: array<vec4<{item.element}>>;\n" + text


def _gather(module: Module) -> str:
    """Returns a module whose scalars are the extent of the indexed axis and its stride in bytes."""
    is_put = module.contract.operation == "put"
    name = "lw_put_position" if is_put else "lw_take_position"
    position = f"{name}({module.load(1)}, bitcast<i32>(lw.scalars.x))"
    if is_put:
        template = read_template("put")
        store = indented(module.store(module.load(0)), template)
        text = Template(template).substitute(position=position, store=store)
        return module.bindings(scratch="atomic<u32>") + module.loads() + text
    return _each_element(module, f"lw_load_{module.contract.inputs[0].name}(at.x + {position} * lw.scalars.y)")


def _creation(module: Module) -> str:
    """Returns a module whose function receives the position of an element, and the bits of the parameters. If there is
    another for four elements, `vectors` calls it."""
    parameters = (f"lw.number_{COMPONENTS[position]}" for position in range(len(module.contract.kernel_parameters)))
    given = ", ".join(["i", *parameters])
    text = _each_element(module, f"{module.function()}({given})")
    if f"lw_{module.stem}_four" not in module.library.texts:
        return text
    return text + _vectors_of(module, "", f"{module.function('_four')}({given})")


def _search(module: Module) -> str:
    row = module.contract.inputs[0].name
    search = Template(read_template("search")).substitute(
        value=module.operands[1][1].value, row=row, is_before=module.function()
    )
    return search + _each_element(module, f"lw_search({module.load(1)})")


def _rows(module: Module) -> str:
    library, stem = module.library, f"lw_{module.stem}"
    loads = [module.load(position) for position in range(len(module.contract.inputs))]
    if f"{stem}_advance" in library.texts:
        return _scan(module, loads[0])
    template, total = read_template("rows"), []
    if f"{stem}_term" in library.texts:
        template = template.replace("@compute", read_template("rows_total") + "\n@compute")
        total = ["$total"]
    parameters = module.parameters("f32")
    rescale, scale, element = "", [], loads[0]
    if f"{stem}_scale" in library.texts:
        rescale = f"scale = {stem}_scale({', '.join(['summary', *parameters])});"
        rescale += "\nif (scale != 1.0) {\n    $again\n}"
        scale, element = ["scale"], f"lw_rounded({loads[0]} * scale)"  # see lw_scaled_four in pair.wgsl
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
        store=indented(module.store("value"), template),
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
    text = Template(read_template("rows_vectors")).substitute(
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
    template = read_template("scan")
    zero = module.function("_zero")
    text = Template(template).substitute(
        item=module.out.value,
        zero=f"{zero}()",
        identity=f"{module.function('_identity')}()",
        load=load,
        value=f"{module.function('_value')}(lw_scanned[invocation], before)",
        advance=f"{module.function('_advance')}(before, lw_scanned[lw_tile - 1u])",
        join=module.function("_join"),
        store=indented(module.store("value"), template),
    )
    return module.bindings(scratch=module.library.result(zero)) + module.loads() + text


def _rotation(module: Module) -> str:
    name = module.contract.inputs[0].name
    text = Template(read_template("rotation")).substitute(
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
    text = Template(read_template("window")).substitute(
        values,
        identity=f"{module.function('_identity')}()",
        combine=f"{module.function('_combine')}({', '.join(combine)})",
        skip="" if len(inputs) > 1 else "if (!is_inside) { continue; }",
    )
    text = module.bindings() + module.loads(numbers=False) + text
    if len(inputs) > 1:
        text += window_tiles(read_template("window_tiles"), values, [f"lw_load_{each.name}" for each in inputs])
    return text


def _attention(module: Module) -> str:
    names = [each.name for each in module.contract.inputs]
    loads = dict(zip(("query", "key", "value", "mask"), (f"lw_load_{name}" for name in names), strict=True))
    functions = {name: module.function(f"_{name}") for name in ("score", "weight", "rescale", "reciprocal")}
    values = loads | functions
    values |= {"maximum": "lw_maximum_float32", "lowest": "lw_from_bits(lw_SIGN_BIT | lw_INFINITY_BITS)"}
    text = Template(read_template("attention")).substitute(values)
    text += attention_tiles(read_template("attention_tiles"), values, names[:3])
    tiled = names[:3]  # a binding has one type: that of the rows of tiles
    head = module.bindings(scratch="vec4<f32>", vectors=tiled) + module.loads(vectors=tiled)
    return head + text


EMITTERS = {
    "elementwise": _elementwise,
    "cast": _elementwise,
    "reduction": _reduction,
    "index_reduction": _reduction,
    "matrix": matrix,
    "gather": _gather,
    "creation": _creation,
    "search": _search,
    "rows": _rows,
    "sort": sort,
    "rotation": _rotation,
    "window": _window,
    "attention": _attention,
}
