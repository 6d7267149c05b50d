"""Makes the WGSL module of a chain of elementwise kernels from its key, which native/extension/webgpu/webgpu_chain.c
defines.

An invocation computes four elements. The contracts' functions are called one after another; what is stored is bit for
bit what kernels launched one by one would store, because intermediate results are rounded as if they were stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from lanewise._facts import DTYPES
from lanewise.webgpu import shaders

__all__ = ["compose"]

FLAT, SINGLE, STRIDED = range(3)  # patterns of buffers
BUFFER: Final = 32  # added to the number of a buffer
NUMBER: Final = 255
FOUR: Final = ("u32", "vec2<u32>", "vec4<u32>", "vec4<u32>")  # four items, or two of 8 bytes, by the logarithm of size
ITEM: Final = ("u32", "u32", "u32", "vec2<u32>")
# integers of 1 and 2 bytes, which conversions take and return as i32: their bits, and whether they have a sign
NARROW: Final = {name: (8 * size, kind == "i") for name, size, kind, *_ in DTYPES if kind in "iu" and size < 4}

_FRAME: Final = """\
struct Layout {{
count: u32,
words: array<vec4<u32>, 15>,
}}
struct Results {{
{results}
}}
{bindings}
fn element({items}) -> Results {{
{body}
}}
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {{
for (var i = id.x; 4u * i < lw.count; i += groups.x * 256u) {{
{places}
{loads}
{calls}
{stores}
}}
}}
"""


@dataclass
class _Buffer:
    size: int  # the binary logarithm of an item's size in bytes
    pattern: int
    offset: str
    strides: list[str] = field(default_factory=list)


def compose(key: bytes) -> shaders.Shader:
    """Returns the module for a key. Its inputs are the buffers that it reads, its outputs those that it writes."""
    words = (f"lw.words[{i // 4}][{i % 4}]" for i in count())
    buffers = [_Buffer(byte & 15, byte >> 4, "") for byte in key[2 : 2 + key[0]]]
    for buffer in buffers:
        buffer.offset = next(words)
    extents = [next(words) for _ in range(key[1])]
    for buffer in buffers:
        buffer.strides = [next(words) for _ in extents] if buffer.pattern == STRIDED else []
    lines = _strided(buffers)
    values: list[tuple[str, str]] = []  # the name and type of the result of each node
    stored = []  # the value and the size of each result that is stored
    rest = iter(key[2 + key[0] :])
    for low in rest:
        function = shaders.function(low + 256 * next(rest))
        flags, parameters = next(rest), next(rest)
        arguments = []
        source, target = _converts(function)
        for reference, kind in zip([next(rest) for _ in range(function.inputs)], function.arguments, strict=False):
            if reference < BUFFER:
                arguments.append(_argument(*values[reference], kind, source))
            elif reference == NUMBER:
                number = f"vec2<u32>({next(words)}, {next(words)})" if kind == ITEM[3] else next(words)
                arguments.append(_argument(number, ITEM[3] if kind == ITEM[3] else "u32", kind, source))
            else:
                size = buffers[reference - BUFFER].size
                arguments.append(_argument(f"b{reference - BUFFER}", ITEM[size], kind, source))
        given = [next(words) for _ in range(parameters)]
        for position, kind in zip(function.parameters, function.arguments[function.inputs :], strict=True):
            arguments.append(f"bitcast<{kind}>({given[position]})")
        call = f"{function.name}({', '.join(arguments)})"
        result = function.result
        if target in NARROW:
            call, result = f"bitcast<u32>({call}) & {hex((1 << NARROW[target][0]) - 1)}u", "u32"
        rounded = f"lw_rounded({call})" if result == "f32" else call
        name = f"n{len(values)}"
        lines.append(f"let {name} = {rounded};")
        values.append((name, result))
        if flags >> 4:
            stored.append((_converted(name, result, ITEM[flags & 15]), flags & 15))
    lines.append(f"return Results({', '.join(value for value, _ in stored)});")
    text = _module(buffers, extents, lines, [size for _, size in stored])
    return shaders.Shader(f"a chain of {len(values)} kernels", shaders.assembled(text), len(buffers), len(stored))


def _strided(buffers: list[_Buffer]) -> list[str]:
    """Returns the lines that read an element of the buffers that are not flat."""
    lines = []
    for number, buffer in enumerate(buffers):
        if buffer.pattern != FLAT:
            steps = "".join(f" + at{axis} * {stride}" for axis, stride in enumerate(buffer.strides))
            lines.append(f"let o{number} = {buffer.offset}{steps};")
            lines.append(f"let b{number} = {_item(number, buffer.size)};")
    return lines


def _place(extents: list[str]) -> list[str]:
    """Returns the lines that find the position of element 4 i along each axis."""
    lines = ["var rest = 4u * i;"] if extents else []
    for axis in reversed(range(1, len(extents))):
        lines.append(f"var at{axis} = rest % {extents[axis]};")
        lines.append(f"rest /= {extents[axis]};")
    return [*lines, "var at0 = rest;"] if extents else []


def _next_place(extents: list[str]) -> list[str]:
    """Returns the lines that step to the next element: a division would take most of the time."""
    lines = [f"at{len(extents) - 1} += 1u;"] if extents else []
    for axis in reversed(range(1, len(extents))):
        lines.append(f"at{axis - 1} += select(0u, 1u, at{axis} == {extents[axis]});")
        lines.append(f"at{axis} = select(at{axis}, 0u, at{axis} == {extents[axis]});")
    return [*lines, f"at0 = min(at0, {extents[0]} - 1u);"] if extents else []


def _item(number: int, size: int) -> str:
    """Returns the item at a byte offset of a buffer of words."""
    word = f"in{number}[o{number} >> 2u]"
    if size == 3:
        return f"vec2<u32>({word}, in{number}[(o{number} >> 2u) + 1u])"
    bits = 8 << size
    return word if size == 2 else f"({word} >> (o{number} % 4u * 8u)) & {hex((1 << bits) - 1)}u"


def _converts(function: shaders.Function) -> tuple[str, str]:
    """Returns the dtypes that a conversion reads and writes; of another function, two empty names."""
    name, *dtypes = function.name.removeprefix("lw_").split("_")
    return (dtypes[0], dtypes[1]) if name == "astype" else ("", "")


def _argument(value: str, before: str, kind: str, source: str) -> str:
    """Converts a value to the type of an argument. A conversion from integers of 1 or 2 bytes gets them as i32."""
    bits, is_signed = NARROW.get(source, (32, False))
    value = _converted(value, before, kind)
    return f"(({value} << {32 - bits}u) >> {32 - bits}u)" if is_signed else value


def _converted(value: str, before: str, after: str) -> str:
    """Converts a value between the type of its item and those that functions use."""
    if before == after:
        return value
    if before == "bool":
        return f"select(0u, 1u, {value})"
    return f"({value} != 0u)" if after == "bool" else f"bitcast<{after}>({value})"


def _module(buffers: list[_Buffer], extents: list[str], body: list[str], stored: list[int]) -> str:
    flat = [(number, buffer) for number, buffer in enumerate(buffers) if buffer.pattern == FLAT]
    kinds = [("read", f"in{n}", FOUR[b.size] if b.pattern == FLAT else "u32") for n, b in enumerate(buffers)]
    kinds += [("read_write", f"out{number}", FOUR[size]) for number, size in enumerate(stored)]
    bindings = [
        f"@group(0) @binding({place}) var<storage, {access}> {name}: array<{kind}>;"
        for place, (access, name, kind) in enumerate(kinds)
    ]
    bindings.append(f"@group(0) @binding({len(kinds)}) var<uniform> lw: Layout;")
    loads = []
    for number, buffer in flat:
        first = f"({buffer.offset} >> {min(buffer.size, 2) + 2}u) + i"
        if buffer.size == 3:
            first = f"({buffer.offset} >> 4u) + 2u * i"
            loads.append(f"let w{number} = in{number}[{first} + 1u];")
        loads.append(f"let v{number} = in{number}[{first}];")
    calls, places = [], [f"at{axis}" for axis in range(len(extents))]
    for c in range(4):
        items = [_component(f"v{number}", f"w{number}", buffer.size, c) for number, buffer in flat]
        calls += _next_place(extents) if c else []
        calls.append(f"let e{c} = element({', '.join([*places, *items])});")
    return _FRAME.format(
        results="\n".join(f"r{number}: {ITEM[size]}," for number, size in enumerate(stored)),
        bindings="\n".join(bindings),
        items=", ".join(
            [f"{at}: u32" for at in places] + [f"b{number}: {ITEM[buffer.size]}" for number, buffer in flat]
        ),
        places="\n".join(_place(extents)),
        body="\n".join(body),
        loads="\n".join(loads),
        calls="\n".join(calls),
        stores="\n".join(line for number, size in enumerate(stored) for line in _stores(number, size)),
    )


def _component(first: str, second: str, size: int, c: int) -> str:
    """Returns item c of four that are in one vector, or if they have 8 bytes, in two."""
    if size == 3:
        return f"{(first, second)[c // 2]}.{('xy', 'zw')[c % 2]}"
    if size == 2:
        return f"{first}[{c}]"
    word = f"{first}[{c // 2}]" if size == 1 else first
    bits = 8 << size
    return f"({word} >> {c * bits % 32}u) & {hex((1 << bits) - 1)}u"


def _stores(number: int, size: int) -> Iterator[str]:
    items = [f"e{c}.r{number}" for c in range(4)]
    if size == 3:
        yield f"out{number}[2u * i] = vec4<u32>({items[0]}, {items[1]});"
        yield f"out{number}[2u * i + 1u] = vec4<u32>({items[2]}, {items[3]});"
    elif size == 2:
        yield f"out{number}[i] = vec4<u32>({', '.join(items)});"
    elif size == 1:
        yield f"out{number}[i] = vec2<u32>({items[0]} | ({items[1]} << 16u), {items[2]} | ({items[3]} << 16u));"
    else:
        yield f"out{number}[i] = {' | '.join(f'({item} << {8 * c}u)' for c, item in enumerate(items))};"
