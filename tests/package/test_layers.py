"""Tests that the modules of lanewise/ have layers without a ring: a module imports only what lower layers have, also
inside functions. What only type checkers import does not count, nor does `import lanewise` in a docstring."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import lanewise as lw

PACKAGE = Path(lw.__file__).parent

# The layers from the bottom up: what a layer is for, and its modules. Folders are left out of the names.
LAYERS: tuple[tuple[str, str], ...] = (
    ("facts, errors, and what needs no other module", "_facts _version devices errors results wasm windows compiling"),
    ("dtypes; the processor; files of kernels and shaders", "dtypes hardware libraries"),
    (
        "arguments and what arrays of others look like; names of backends; facts about operations",
        "arguments array_interface backend javascript numerals operations shaders typeinfo workers",
    ),
    ("which backends there are; threads; how values are shown", "chains other_names printing registry threads"),
    ("what was measured, and how to measure", "calibration cffi desktop namespace_info timing"),
    ("which backend runs calls", "selection"),
    ("where tensors are", "placement"),
    ("tensors are made; GPUs and threads are measured", "browser creation offload thread_cost"),
    (
        "functions without a kernel, methods, subscripts; what calibrate() measures; what backends() shows",
        "discovery dispatch indexing methods products provider shaping sorting statistics tuning",
    ),
    ("memory, which the summary of backends describes", "memory"),
    ("the package", "lanewise"),
    ("programs that use the package", "bench demo"),
    ("the command line", "cli"),
    ("python -m lanewise", "__main__"),
)
LEVELS = {name: level for level, (_, names) in enumerate(LAYERS) for name in names.split()}


def label(path: Path) -> str:
    """Returns a module's name in LAYERS: the demo's modules are one, and so is a folder's __init__."""
    folders = path.relative_to(PACKAGE.parent).parts[:-1]
    return "demo" if "demo" in folders else folders[-1] if path.stem == "__init__" else path.stem


def imports(text: str) -> Iterator[tuple[str, str]]:
    """Yields each import of a module's text from lanewise: the module, and what is imported from it."""
    tree = ast.parse(text)
    unseen = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test) and not node.orelse
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((each.name, "") for each in node.names)
        elif isinstance(node, ast.ImportFrom) and id(node) not in unseen:
            assert node.level == 0, "imports are absolute"
            yield from ((node.module or "", each.name) for each in node.names)


def upward(texts: Mapping[str, str], levels: Mapping[str, int]) -> list[str]:
    """Returns a message for each import of a module that is not in a lower layer. The texts are by name."""
    found = []
    for user, text in texts.items():
        for module, name in imports(text):
            used = name if name in levels else module.rpartition(".")[2]
            is_own = module.partition(".")[0] == "lanewise" and name != "_ext" and used in levels and used != user
            if is_own and levels[used] >= levels[user]:
                found.append(f"{user} imports {used}")
    return found


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """The text of each module; that of the demo is the texts of its modules."""
    found: dict[str, str] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.stem != "__init__" or path.parent.name in ("lanewise", "demo"):
            found[label(path)] = found.get(label(path), "") + path.read_text(encoding="utf-8")
    return found


def test_every_module_is_in_one_layer(texts: dict[str, str]) -> None:
    assert sorted(name for _, names in LAYERS for name in names.split()) == sorted(texts)


def test_modules_import_only_lower_layers(texts: dict[str, str]) -> None:
    assert sum(len(list(imports(text))) for text in texts.values()) > 300
    assert upward(texts, LEVELS) == []


def test_a_ring_is_found() -> None:
    ring = {
        "low": "def late():\n    from lanewise.rooms import high\n",
        "high": "from lanewise.rooms.low import late\nfrom lanewise import _ext\nimport typing\n",
    }
    assert upward(ring, {"low": 0, "high": 1, "lanewise": 2}) == ["low imports high"]
