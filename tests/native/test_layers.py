"""Tests that native/extension/ has layers without a cycle: a file includes and uses only what lower layers define.

The text of the files is tested, and so are the symbols of their object files, which also have what macros and inline
functions use. A file may always include and use the header of its own name.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from native import build, compiler
from native.targets import host

EXTENSION = build.ROOT / "native" / "extension"

# The layers from the bottom up: what a layer is for, and its files.
LAYERS: tuple[tuple[str, str], ...] = (
    (
        "descriptions that other files fill in: devices, operations, the module's functions",
        "device.h operation.h module.h",
    ),
    ("facts about dtypes and shaders; errors are raised", "dtype.h shader.h errors.h errors.c"),
    ("Python's objects and hooks; the backends, one of which is current", "python.h python.c backends.h backends.c"),
    ("memory of the host and of devices", "storage.h storage.c"),
    ("tensors: memory with a shape, strides and a dtype", "tensor.h tensor.c"),
    ("single numbers; what is exchanged with other libraries", "number.h number.c exchange.h"),
    (
        "inputs of a call, whatever their Python type; parameters of a call",
        "operand.h operand.c arguments.h arguments.c",
    ),
    ("inputs are read from buffers; how calls and launches are made", "buffer.c call.h devices.h"),
    ("plans: what a call runs, worked out before anything runs", "plan.h plan.c"),
    ("what calls cost, and the decisions that depend on it", "cost.h cost.c"),
    ("kernels run on the host or on a device", "run.h run.c device.c"),
    ("kernels run on web workers", "workers.h workers.c"),
    ("calls move to a GPU", "offload.h offload.c"),
    ("launches wait in chains", "chain.h chain.c"),
    ("chains run on the host", "host_chain.c"),
    ("dispatches are recorded for WebGPU", "recorder.h recorder.c"),
    ("launches on WebGPU become dispatches", "webgpu_launch.h webgpu_launch.c"),
    (
        "the dispatches of each kind",
        "webgpu_chain.c webgpu_layouts.c webgpu_matrix.c webgpu_parts.c webgpu_sort.c webgpu_strided.c",
    ),
    ("the device of WebGPU", "webgpu.c"),
    ("plans are executed", "execute.h execute.c"),
    ("resolvers, which complete a plan, for kinds that others are composed of", "elementwise.c gather.c"),
    (
        "resolvers for the other kinds",
        "attention.c eigen.c matrix.c reduction.c rotation.c rows.c search.c sort.c window.c",
    ),
    (
        "tensors are created: by random numbers, casts, constants, lists, DLPack",
        "uniform.c cast.c creation.c sequence.c dlpack.c",
    ),
    ("frequent calls of operations that Python composes", "composed.c"),
    ("tensors are made from any object and given to other libraries", "exchange.c"),
    ("tensors that share another's memory; x[key]", "view.c index.c"),
    ("calls of operations, which use the resolver of the operation's kind", "call.c"),
    ("Python's operators, which call operations", "operators.c"),
    ("the type Tensor, with the slots of operators, index and exchange", "type.c"),
    ("the module, with the functions of all files", "module.c"),
)
LEVELS = {name: level for level, (_, names) in enumerate(LAYERS) for name in names.split()}

# what is not code of interest here: comments, strings, and attributes, which may stand before a definition
IGNORED = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|__attribute__\(\(\w+\)\)\s*', re.DOTALL)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
# At the start of a line, and not static: `type name(parameters) {`, `type name[...] = {` or `type name, other;`.
FUNCTION = re.compile(r"^(?!static\b|typedef\b)[a-zA-Z_][^;={}()]*?\b(lw_\w+)\([^;{}]*\) \{", re.MULTILINE)
DATA = re.compile(
    r"^(?!static\b|extern\b|typedef\b|return\b)[a-zA-Z_][\w *]*?\b(lw_\w+(?:\[[^\]]*\])?(?:, \*?lw_\w+)*)(?: = |;)",
    re.MULTILINE,
)


def includes(text: str) -> set[str]:
    """Returns the names of the headers that a file includes with quotation marks."""
    return {Path(each).name for each in INCLUDE.findall(text)}


def code_of(text: str) -> str:
    """Returns a file without comments, strings and attributes."""
    return IGNORED.sub("", text)


def definitions(text: str) -> set[str]:
    """Returns the functions and data, named lw_*, that a .c file defines for other files."""
    code = code_of(text)
    data = (name for match in DATA.findall(code) for name in re.findall(r"\blw_\w+", re.sub(r"\[[^\]]*\]", "", match)))
    return {*FUNCTION.findall(code), *data}


def uses(text: str) -> set[str]:
    """Returns all names lw_* in the code of a file."""
    return set(re.findall(r"\blw_\w+", code_of(text)))


def is_allowed(user: str, used: str, levels: Mapping[str, int]) -> bool:
    return levels[used] < levels[user] or user == f"{Path(used).stem}.c"


def upward_includes(texts: Mapping[str, str], levels: Mapping[str, int]) -> list[str]:
    """Returns a message for each #include of a file that is not in a lower layer. The texts are by file name."""
    return [
        f"{user} includes {used}"
        for user, text in texts.items()
        for used in sorted(includes(text))
        if used in levels and not is_allowed(user, used, levels)
    ]


def upward_uses(
    defined: Mapping[str, Iterable[str]], used: Mapping[str, Iterable[str]], levels: Mapping[str, int]
) -> list[str]:
    """Returns a message for each use of a name whose definition is not in a lower layer. The names are by file name."""
    owners = {name: file for file, names in defined.items() for name in names}
    return [
        f"{user} uses {name} of {owners[name]}"
        for user, names in used.items()
        for name in sorted(names)
        if owners.get(name, user) != user and not is_allowed(user, owners[name], levels)
    ]


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """The texts of the extension's files."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(EXTENSION.rglob("*.[ch]"))}


def test_each_file_is_in_one_layer(texts: dict[str, str]) -> None:
    named = [name for _, names in LAYERS for name in names.split()]
    assert sorted(named) == sorted(texts)


def test_files_include_lower_layers(texts: dict[str, str]) -> None:
    assert sum(len(includes(text) & texts.keys()) for text in texts.values()) > 100
    assert upward_includes(texts, LEVELS) == []


def test_files_use_lower_layers(texts: dict[str, str]) -> None:
    sources = {name: text for name, text in texts.items() if name.endswith(".c")}
    defined = {name: definitions(text) for name, text in sources.items()}
    assert sum(map(len, defined.values())) > 120
    assert upward_uses(defined, {name: uses(text) for name, text in sources.items()}, LEVELS) == []


def symbols(source: Path, folder: Path) -> tuple[set[str], set[str]]:
    """Compiles a file, and returns the names lw_* that its object file defines for others, and those that it lacks."""
    target, using, output = host(), compiler.choose(), folder / f"{source.stem}.o"
    command = using.object(target, source, build.EXTENSION_INCLUDE, output)
    # nm reads no object files of link-time optimization; optimization might remove uses
    command = [word for word in command if not word.startswith(("-flto", "-O"))]
    subprocess.run([*command, "-O0"], check=True, stdin=subprocess.DEVNULL)
    listing = subprocess.run(["nm", "-g", str(output)], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"\b([A-Za-z]) _?(lw_\w+)$", listing, re.MULTILINE)
    return {name for kind, name in found if kind != "U"}, {name for kind, name in found if kind == "U"}


@pytest.mark.skipif(shutil.which("nm") is None, reason="nm is not installed (Debian: binutils)")
def test_object_files_need_lower_layers(texts: dict[str, str], tmp_path: Path) -> None:
    sources = sorted(EXTENSION.rglob("*.c"))
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda source: symbols(source, tmp_path), sources))
    defined = {source.name: names for source, (names, _) in zip(sources, found, strict=True)}
    needed = {source.name: names for source, (_, names) in zip(sources, found, strict=True)}
    assert sum(map(len, needed.values())) > 200
    assert upward_uses(defined, needed, LEVELS) == []
    # what the search in the text takes for definitions
    assert {name: definitions(texts[name]) for name in defined} == defined


MADE_UP = {
    "low.h": '#include "lanewise.h"\nint lw_low(int x);\n',
    "low.c": '#include "low.h"\n#include "high.h"\n\nint lw_low(int x) {\n    return lw_high_count + lw_high(x);\n}\n',
    "beside.c": '#include "low.h"\n\n/* lw_high() */\nint *lw_beside[2] = {0};\nstatic int lw_own;\n',
    "high.h": '#include "low.h"\n',
    "high.c": '#include "high.h"\nint lw_high_count;\nint lw_high(\n    int x) {\n    puts("lw_top");\n}\n',
    "peer.c": "__attribute__((cold)) long lw_peer(void) {\n    return lw_high(1);\n}\n",
}
MADE_UP_LEVELS = {"low.h": 0, "low.c": 0, "beside.c": 1, "high.h": 2, "high.c": 2, "peer.c": 2}


def made_up_names() -> Iterator[tuple[str, set[str], set[str]]]:
    for name, text in MADE_UP.items():
        if name.endswith(".c"):
            yield name, definitions(text), uses(text)


def test_definitions_are_found() -> None:
    assert {name: defined for name, defined, _ in made_up_names()} == {
        "low.c": {"lw_low"},
        "beside.c": {"lw_beside"},
        "high.c": {"lw_high_count", "lw_high"},
        "peer.c": {"lw_peer"},
    }


def test_an_upward_include_is_found() -> None:
    assert upward_includes(MADE_UP, MADE_UP_LEVELS) == ["low.c includes high.h"]


def test_upward_uses_and_uses_within_a_layer_are_found() -> None:
    defined = {name: names for name, names, _ in made_up_names()}
    used = {name: names for name, _, names in made_up_names()}
    assert upward_uses(defined, used, MADE_UP_LEVELS) == [
        "low.c uses lw_high of high.c",
        "low.c uses lw_high_count of high.c",
        "peer.c uses lw_high of high.c",
    ]
