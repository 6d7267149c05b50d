"""Fills in the templates of webgpu/kinds: one function for each kind of operation returns a kernel's WGSL module."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from string import Template

from .wgsl_matrix import matrix
from .wgsl_module import COMPONENTS, ITEMS, Module, indented, read_template
from .wgsl_sort import sort
from .wgsl_tiles import attention_tiles, window_tiles

__all__ = ["EMITTERS"]


def _elementwise(module: Module) -> str:
    parameters = module.parameters(ITEMS[module.kernel.dtype].value)
    loads = (module.load(position) for position in range(len(module.contract.inputs)))
    text = _each_element(module, f"{module.function()}({', '.join([*loads, *parameters])})")
    return text + _vectors(module, parameters) if module.has_vectors else text


def _vectors(module: Module, parameters: list[str]) -> str:
    """Returns the entry point for vectors."""
    names = [each.name for each in module.contract.inputs]
    loads = "".join(f"        let {name} = lw_load_four_{name}(at.{COMPONENTS[k]});\n" for k, name in enumerate(names))
    values = []
    for component in COMPONENTS:
        value = f"{module.function()}({', '.join([*(f'{name}.{component}' for name in names), *parameters])})"
        values.append(module.item(value))
    return _vectors_of(module, loads.strip(), ", ".join(values))


def _vectors_of(module: Module, loads: str, values: str) -> str:
    """Returns the entry point for vectors, which stores `values` after `loads`."""
    template = read_template("elementwise_words" if module.out.packed else "elementwise_vectors")
    component = COMPONENTS[len(module.contract.inputs)]
    text = Template(template).substitute(loads=loads, values=values, element=module.out.element, component=component)
    return module.vectors() + text


def _each_element(module: Module, value: str, four: str = "") -> str:
    """Returns a module that stores `value` in each element `i` of the result; `at` has the byte offsets of operands. If
    given, `four` is stored instead: a vector of the four elements with the offsets at0 .. at3."""
    template = read_template("elementwise_packed" if module.out.packed else "elementwise")
    per_word = 32 // module.out.bits
    words = []
    for word in range(4 // per_word if module.out.packed else 0):
        merged = (f"(items.{COMPONENTS[word * per_word + k]} << {module.out.bits * k}u)" for k in range(per_word))
        stored = f"lw_store_word(place + {word}u, {' | '.join(merged)}, rest - {word * per_word}u);"
        words.append(f"if (rest > {word * per_word}u) {{ {stored} }}" if word else stored)
    item_bytes, mask = module.out.bits // 8, (1 << module.out.bits) - 1
    loads, kept = [], []
    for k in range(per_word if module.out.packed else 0):
        i, shift = f"(first + {k * item_bytes}u) / {item_bytes}u", module.out.bits * k
        loads.append(f"let i{k} = {i}; let j{k} = min(i{k}, length - 1u);")
        loads.append(f"let item{k} = lw_item(row * length + j{k}, start + j{k} * step);")
        kept.append(f"if (i{k} < length) {{ items |= item{k} << {shift}u; mask |= {hex(mask << shift)}u; }}")
    places = [f"let is{k} = place.along + {k}u * quarter < lw.length;" for k in range(4)]
    places += [f"let at{k} = place.at + select(0u, {k}u, is{k}) * apart;" for k in range(4)]
    items = [f"let item{k} = lw_item(i + {k}u * quarter, at{k});" for k in range(4)]  # creation has one dimension
    if four:
        items = [f"let four = {four};", *(f"let item{k} = four.{component};" for k, component in enumerate(COMPONENTS))]
    own = f"fn lw_item(i: u32, at: vec4<u32>) -> {module.out.element} {{\n    return {module.item(value)};\n}}\n"
    at_once = range(4 // per_word if module.out.packed else 0)
    computed = [f"let word{k} = lw_compute_word(min(i + {k}u * apart, words - 1u), length);" for k in at_once]
    guarded = [f"if (i + {k}u * apart < words) {{ lw_merge_word(word{k}); }}" for k in at_once]
    text = Template(template).substitute(
        words_at_once=f"{len(at_once)}u",
        compute_words=_lines(computed, 3),
        merge_words=_lines(guarded, 3),
        element=module.out.element,
        store=indented(module.store(value, "item"), template),
        store_words=_lines(words, 1),
        each_item=_lines([*loads, *kept], 1),
        places=_lines(places, 2),
        items=_lines(items, 2),
        stores=_lines([f"if (is{k}) {{ lw_store_item(at{k}, item{k}); }}" for k in range(4)], 2),
        component=COMPONENTS[len(module.contract.inputs)],
        per_word=f"{per_word}u",
        item_bits=f"{module.out.bits}u",
    )
    return module.bindings() + module.loads() + ("" if four else own) + text


def _reduction(module: Module) -> str:
    identity = module.function("_identity")
    accumulator = module.library.result(identity)
    index = ["i"] if module.contract.kind.name == "index_reduction" else []
    parameters = module.parameters("f32")
    names = {each: f"lw_{each}" for each in ("reduce_block", "reduce_team")}
    names |= {"combine_blocks": "lw_join", "scale": "", "separate": "workgroupBarrier();"}
    template = read_template("reduction")
    if f"lw_{module.stem}_scale" in module.library.texts:
        names = {"reduce_block": "lw_reduce_elements", "reduce_team": "lw_reduce_vectors", "scale": "scale: f32, "}
        names |= {each: module.function(f"_{each}") for each in ("combine_blocks", "block")}
        names |= {"scale_of": module.function("_scale"), "separate": ""}  # workgroupUniformLoad has barriers
        template += read_template("reduction_scaled")
    finished = f"{module.function('_finish')}({', '.join(['result', 'lw.length', *parameters])})"
    names |= {"accumulator": accumulator, "identity": f"{identity}()"}

    adds = f"lw_{module.stem}_add" in module.library.texts

    def mapped(k: int) -> str:
        loads = [module.load(position, f"at{k}") for position in range(len(module.contract.inputs))]
        loads = [f"lw_rounded({load} * scale)" if names["scale"] else load for load in loads]
        given = ", ".join([*loads, *(f"{each}{k}" for each in index)])
        return given if adds else f"{module.function('_map')}({given})"

    def combined(partials: int) -> str:
        """Returns the lines that combine eight elements with so many partial results."""
        own, lines = 8 // partials, []
        if adds:
            lines = ["let turn = f32((i - first - member) / (8u * step));"]
            lines += [f"let share{j} = 1.0 / (turn * {own}.0 + {j + 1}.0);" for j in range(own)]
        for k in eight:
            p = f"p{k % partials}"
            value = f"{module.function('_add')}({p}, x{k}, share{k // partials})" if adds else f"lw_join({p}, x{k})"
            lines.append(f"if (i{k} < end) {{ {p} = {value}; }}")
        return _lines(lines, 3)

    eight = range(8)
    positions = [f"let i{k} = i + {k}u * step;" for k in eight]
    positions += [f"var at{k} = row + min(i{k}, end - 1u) * stride;" for k in eight]
    offsets = [f"at{k} = row + lw_element_offsets(min(i{k}, end - 1u), lw.outer, lw.ndim);" for k in eight]
    text = Template(template).substitute(
        names,
        combine=module.function("_combine"),
        partials=_lines([f"var p{k} = {identity}();" for k in eight], 1),
        positions=_lines(positions, 2),
        offsets=_lines(offsets, 3),
        load=_lines([f"let x{k} = {mapped(k)};" for k in eight], 2),
        combine_two=combined(2),
        combine_eight=combined(8),
        halves=_lines([f"p{k} = lw_join(p{k}, p{k + half});" for half in (4, 2, 1) for k in range(half)], 1),
        store=indented(module.store(finished), template),
    )
    text = module.bindings(scratch=accumulator) + module.loads() + text
    has_vectors = len(module.contract.inputs) == 1 and module.operands[0][1].bits in (8, 32)
    return text + _reduction_vectors(module, names, finished) if has_vectors else text


def _lines(lines: list[str], depth: int) -> str:
    """Returns lines that a template indents so often."""
    return ("\n" + 4 * depth * " ").join(lines)


def _reduction_vectors(module: Module, names: dict[str, str], finished: str) -> str:
    """Returns the entry point for contiguous rows. Only 8 vectors at once are never scaled."""
    name, item = module.operands[0]
    template = read_template("reduction_vectors")

    def load(number: int) -> str:
        i = f"first + i / 4u + {16 * number}u"
        if module.narrow:
            words = f"{name}_vectors[({i}) >> lw_narrow]"
            return f"let v{number} = lw_elements_{module.kernel.dtype}({words}, ({i}) << (4u - lw_narrow));"
        return f"let v{number} = {module.four(name, item, i)};"

    def mapped(number: int, k: int) -> str:
        index = [f"start + i + {64 * number + k}u"] if module.contract.kind.name == "index_reduction" else []
        return f"{module.function('_map')}({', '.join([f'v{number}.{COMPONENTS[k]}', *index])})"

    def combine_vector(number: int) -> str:
        return "\n".join(f"p{k} = lw_join(p{k}, {mapped(number, k)});" for k in range(4))

    combined = list(map(combine_vector, range(8)))
    if names["accumulator"] in module.library.texts:  # a struct: SwiftShader takes minutes to inline so many functions
        loaded = ", ".join(f"v{number}" for number in range(8))
        combined = [f"var loaded = array<vec4<{item.value}>, 8>({loaded});"]
        combined += ["for (var j = 0u; j < 8u; j += 1u) {", "let v0 = loaded[j];", combine_vector(0), "}"]
    only = "scale == 1.0 && " if names["scale"] else ""
    unrolled = [f"for (; {only}i + 64u * 7u + 4u <= length; i += 64u * 8u) {{", *map(load, range(8)), *combined, "}"]
    values = {f"map_{component}": mapped(0, k) for k, component in enumerate(COMPONENTS[:3])}
    load_one = load(0)
    if names["scale"]:
        load_one = load_one.replace("= ", "= lw_scaled_four(").replace(";", ", scale);")
        template += read_template("reduction_vectors_scaled")
    text = Template(template).substitute(
        names,
        unrolled="\n".join(unrolled),
        load_one=load_one,
        combine_one=combine_vector(0).replace("\n", "\n        "),
        vector_shift="(4u - lw_narrow)" if module.narrow else f"{4 if item.bits == 32 else 2}u",
        store=indented(module.store(finished), template),
        **values,
    )
    if item.bits != 32:
        return text
    element = "u32" if module.narrow else item.element
    return f"@group(0) @binding(0) var<storage, read> {name}_vectors: array<vec4<{element}>>;\n" + text


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
    name = module.contract.inputs[0].name
    at = f"at.x + {position} * lw.scalars.y"
    text = _each_element(module, f"lw_load_{name}({at})")
    if not module.has_vectors:
        return text
    values = (module.item(f"four.{component}") for component in COMPONENTS)
    return text + _vectors_of(module, f"let four = lw_load_four_{name}({at});", ", ".join(values))


def _creation(module: Module) -> str:
    """Returns a module whose function receives the position of an element, and the bits of the parameters. If there is
    another for four elements, `vectors` calls it."""
    parameters = [f"lw.number_{COMPONENTS[position]}" for position in range(len(module.contract.kernel_parameters))]
    text = _each_element(module, f"{module.function()}({', '.join(['i', *parameters])})")
    if f"lw_{module.stem}_four" in module.library.texts:
        return text + _vectors_of(module, "", f"{module.function('_four')}({', '.join(['i', *parameters])})")
    if not module.has_vectors:
        return text
    places = (", ".join([f"4u * i + {k}u", *parameters]) for k in range(4))
    values = (module.item(f"{module.function()}({place})") for place in places)
    return text + _vectors_of(module, "", ", ".join(values))


def _search(module: Module) -> str:
    row = module.contract.inputs[0].name
    element = f"lw_load_{row}(lw.offsets.x + (position.# + half - 1u) * lw.scalars.y)"
    before = f"{module.function()}({element}, #, lw.scalars.z != 0u)"
    search = Template(read_template("search")).substitute(
        value=module.operands[1][1].value,
        row=row,
        steps=_lines([f"position.{each} += select(0u, half, {before.replace('#', each)});" for each in COMPONENTS], 2),
    )
    values = ", ".join(module.load(1, f"at{k}") for k in range(4))
    return search + _each_element(module, "", f"lw_search_four({values})")


def _rows(module: Module) -> str:
    library, stem = module.library, f"lw_{module.stem}"
    if f"{stem}_advance" in library.texts:
        return _scan(module)
    names = [name for name, _ in module.operands]
    value, parameters = module.function("_value"), module.parameters("f32")
    values = {f"map_{component}": f"{module.function('_map')}(four.{component})" for component in COMPONENTS}
    total, scale = [], []
    if f"{stem}_term" in library.texts:
        values |= {f"term_{component}": f"{stem}_term(four.{component}, summary)" for component in COMPONENTS}
        total = ["total"]
    if f"{stem}_value_of_term" in library.texts:
        value = f"{stem}_value_of_term"
    if f"{stem}_scale" in library.texts:
        values["scale_of"] = f"{stem}_scale({', '.join(['summary', *parameters])})"
        scale = ["scale"]
    for component in COMPONENTS:
        others = [f"lw_load_{other}({component}.{COMPONENTS[k]})" for k, other in enumerate(names[1:-1], 1)]
        values[f"value_{component}"] = f"{value}({', '.join([f'four.{component}', *others, 'numbers'])})"
    elements = [f"lw_load_{names[0]}(row.x + min(i + {k}u * lw_team, last) * stride)" for k in range(4)]
    values |= {
        "summary": library.result(module.function("_identity")),
        "identity": f"{module.function('_identity')}()",
        "combine": module.function("_combine"),
        "numbers": f"{module.function('_numbers')}({', '.join(['summary', *total, *scale, 'lw.length', *parameters])})",
        "numbers_type": library.result(module.function("_numbers")),
        "own_four": module.four_at(f"{names[0]}_buffer", "at"),
        "out_four": module.four_at("out_buffer", "at", is_out=True),
        "input": names[0],
        "elements": ", ".join(elements),
        "component": COMPONENTS[len(names) - 1],
    }
    totals = Template(read_template("rows_total")).substitute(values) if total else ""
    text = Template(read_template("rows")).substitute(values, total=totals)
    keeps_terms = value.endswith("_of_term")
    text += "".join(_rows_entry(name, values, bool(total), bool(scale), keeps_terms) for name in ("main", "blocks"))
    vectors = (names[0], names[-1])
    return module.bindings(values["summary"], vectors) + module.loads(vectors=vectors) + text


def _rows_entry(name: str, values: Mapping[str, str], has_terms: bool, has_scale: bool, keeps_terms: bool) -> str:
    """Returns an entry point of rows: `main`, or `blocks`, which has loops along the row or a part of it. The steps are
    written out."""
    is_long = name == "blocks"

    def each(step: str) -> list[str]:
        """Returns the lines that do `step` with each vector `v` of an invocation, at `i` in the row."""
        steps = []
        for j in range(8):
            text = step.replace("$v", f"v{j}").replace("$i", f"i + {j}u * step")
            steps.append(f"if (vectors > {j}u && i + {j}u * step < end) {{ {text} }}")
        return steps

    def along(*lines: str, is_first: bool = False) -> list[str]:
        """Returns what does so along a row. Registers hold all of it, or a block."""
        if is_long:
            return ["for (var i = first; i < end; i += vectors * step) {", *load, *lines, "}"]
        return ["{", "let i = first;", *(load if is_first else []), *lines, "}"]

    def of_parts(stage: int, lines: list[str], read: str, region: int) -> list[str]:
        """Returns `lines`, or from a stage on what instead does `read` with `part`, which the stage before wrote."""
        if not is_long:
            return lines
        at = f"scratch_buffer[{region}u * units + r * lw.blocks + i]"
        parts = f"for (var i = member; i < lw.blocks; i += lw_team) {{ {read.replace('part', at)} }}"
        return [f"if (lw.teams < {stage}u) {{", *lines, "} else {", parts, "}"]

    def keep(stage: int, value: str, region: int) -> list[str]:
        """Returns what writes the value of a part, and ends a stage."""
        stored = f"if (member == 0u && unit < units) {{ scratch_buffer[{region}u * units + unit] = {value}; }}"
        return [f"if (lw.teams == {stage}u) {{", stored, "continue;", "}"] if is_long else []

    load = [f"if (vectors > {j}u) {{ v{j} = lw_load_four(row, i + {j}u * step); }}" for j in range(8)]
    combine_part = "summary = $combine(summary, part);"
    rescale, add_up = [], []
    if has_scale:
        scaled = along(*each("summary = lw_summarize_four(summary, lw_scaled_four($v, scale), $i);"))
        rescale = ["scale = $scale_of;", "if (lw_is_any(scale != 1.0, invocation)) {", "summary = $identity;"]
        rescale += of_parts(3, scaled, combine_part, 1)
        rescale += ["summary = lw_combine_summaries(summary, invocation);"]
        rescale += ["} else if (lw.teams == 2u) {", "summary = scratch_buffer[min(unit, units - 1u)];"] * is_long
        rescale += ["}", *keep(2, "summary", 1)]
    if has_terms:
        kept = " $v = terms;" if keeps_terms else ""
        step = f"let terms = lw_terms_of_four($v, summary, $i); sum += dot(terms, vec4<f32>(1.0));{kept}"
        add_up = ["var sum = 0.0;", *of_parts(3, along(*each(step)), "sum += part;", 1)]
        add_up += ["let total = lw_combine_totals(sum, invocation);", *keep(2, "total", 1)]
    if not rescale and not add_up:
        rescale = ["if (lw.teams == 2u) { continue; }"] * is_long
    again = each("$v = lw_terms_of_four($v, summary, $i);") if keeps_terms and is_long else []
    summarize = along(*each("summary = lw_summarize_four(summary, $v, $i);"), is_first=True)
    begin, end = "0u", "lw.length"
    if is_long:
        begin, end = "unit % lw.blocks * lw.team", "min(lw.length, begin + lw.team)"
    template = Template(read_template("rows_entry")).safe_substitute(
        name=name,
        row="unit / lw.blocks" if is_long else "unit",
        part=_lines([f"let begin = {begin};", f"let end = {end};"], 2),
        variables=_lines([f"var v{j} = vec4<f32>();" for j in range(8)], 2),
        summarize=_lines(of_parts(2, summarize, combine_part, 0), 2),
        keep_summary=_lines(keep(1, "summary", 0), 2),
        rescale=_lines(rescale, 2),
        add_up=_lines(add_up, 2),
        store_row=_lines(along(*again, *each("lw_store_four(row, $i, $v, numbers);")), 3),
    )
    return Template(template).substitute(values)


def _scan(module: Module) -> str:
    zero, join = f"{module.function('_zero')}()", module.function("_join")
    fours, names = range(4), [name for name, _ in module.operands]
    rows = [f"let r{j} = start + column + lw.pitch * ((own + {j}u) / lw.team);" for j in fours]
    rows += [f"let row{j} = lw.offsets + lw_element_offsets(min(r{j}, lw.count - 1u), 0u, lw.outer);" for j in fours]
    rows += [f"let end{j} = select(0u, lw.length, r{j} < lw.count);" for j in fours]
    scan = [f"let i{j} = begin + (own + {j}u) % lw.team * lw_tile + 4u * member;" for j in fours]
    scan += [f"var x{j} = lw_scan_four(row{j}, i{j}, end{j});" for j in fours]
    keep = [f"lw_sums[first + own + {j}u] = {module.function('_advance')}({zero}, x{j}.w);" for j in fours]
    store = [f"lw_store_four(row{j}, i{j}, end{j}, x{j}, lw_before(before, first + own + {j}u));" for j in fours]
    select, count = [], []
    if module.kernel.dtype == "int32":
        select = ["if ((lw_row_vectors & 2u) != 0u) {", "let from_x = lw.strides[lw.outer].x;"]
        for k, component in enumerate(COMPONENTS):
            is_set = f"i + {k}u < end && {module.load(0, 'row').replace('row.x', f'row.x + (i + {k}u) * from_x')} != 0"
            place = f"row.y + (bitcast<u32>(values.{component}) - 1u) * stride"
            select.append(f"if ({is_set}) {{ lw_store_one({place}, i32(i + {k}u)); }}")
        select += ["return;", "}"]
        is_last = "(lw_row_vectors & 2u) != 0u && invocation == 0u && unit == lw.blocks - 1u"
        count = [f"if ({is_last}) {{ lw_store_one(lw.offsets.y + lw.length * lw.strides[lw.outer].y, sum); }}"]
    text = Template(read_template("scan")).substitute(
        select=_lines(select, 1),
        store_count=_lines(count, 2),
        item=module.out.value,
        own_four=module.four_at(f"{names[0]}_buffer", "at"),
        out_four=module.four_at("out_buffer", "at", is_out=True),
        input=names[0],
        sum=module.library.result(module.function("_zero")),
        zero=zero,
        identity=f"{module.function('_identity')}()",
        join=join,
        values=", ".join(f"{module.function('_value')}(x.{component}, before)" for component in COMPONENTS),
        rows=_lines(rows, 1),
        scan=_lines(scan, 2),
        keep=_lines(keep, 3),
        store=_lines(store, 3),
    )
    vectors = (names[0], names[-1])
    scratch = module.library.result(module.function("_zero"))
    return module.bindings(scratch, vectors) + module.loads(vectors=vectors) + text


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
    inputs, combine = module.contract.inputs, module.function("_combine")
    has_weight = len(inputs) > 1
    size = "lw.kernel_size.x * lw.kernel_size.y"
    finish = [module.load(2)] if has_weight else ["inside", size, *module.parameters("f32")]
    loads = []
    for k in range(8):
        taps = [f"let is{k} = lw_taps_at_once > {k}u && q + {k}u < lw.kernel_size.y && y < lw.in_size.x",
                f"corner.y + (q + {k}u) * lw.dilation.y < lw.in_size.y;"]  # fmt: skip
        load = module.load(0).replace("at.x", f"at.x + {k}u * x_step")
        loads += [" && ".join(taps), f"var x{k} = 0.0;", f"if (lw_taps_at_once > {k}u) {{ x{k} = {load}; }}"]
    values = {
        "component": COMPONENTS[len(inputs)],
        "result": f"{len(inputs)}u",
        "finish": f"{module.function('_finish')}({', '.join(['acc', *finish])})",
        "identity": f"{module.function('_identity')}()",
        "parts": "",
        "weight": "",
        "at_weight": "0u",
        "load": _lines(loads, 5),
        "combine": _lines([f"if (is{k}) {{ acc.x = {combine}(acc.x, x{k}); inside += 1u; }}" for k in range(8)], 5),
        "next": "",
        "store": "lw_finish(place, acc.x, inside);",
    }
    if not has_weight:
        return module.bindings() + module.loads(numbers=False) + Template(read_template("window")).substitute(values)
    add, store = [], []
    for tap, (k, component) in product(range(8), enumerate(COMPONENTS)):
        weight = f"lw_load_{inputs[1].name}(at.y + {tap}u * lw.strides[1].w + {k}u * lw.strides[1].x)"
        added = f"acc.{component} = {combine}(acc.{component}, select(0.0, x{tap}, is{tap}), {weight});"
        add.append(f"if (lw_outputs > {k}u && q + {tap}u < lw.kernel_size.y && lw_taps_at_once > {tap}u) {{ {added} }}")
    for k, component in enumerate(COMPONENTS):
        stored = f"lw_finish_part(place + vec4<u32>(0u, {k}u, 0u, 0u), acc.{component}, part);"
        store.append(f"if (lw_outputs > {k}u && channel + {k}u < lw.outputs) {{ {stored} }}")
    values |= {
        "parts": read_template("window_parts"),
        "weight": "let at_first = lw.offsets.y + place.y * lw.strides[1].x;",
        "at_weight": "at_first + c * lw.strides[1].y + p * lw.strides[1].z",
        "combine": _lines(add, 5),
        "next": "at.y += lw_taps_at_once * lw.strides[1].w;",
        "store": _lines(store, 2),
    }
    text = Template(read_template("window")).substitute(values)
    text += window_tiles(read_template("window_tiles"), values, [f"lw_load_{each.name}" for each in inputs])
    return module.bindings(scratch="f32") + module.loads(numbers=False) + text


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
