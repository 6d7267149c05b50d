"""Tests contracts/generate.py: what it writes, when it writes nothing, and when it stops with an error."""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from generate import write
from generator import docs, oracle, sources, table
from generator.fields import ContractError
from generator.load import load_contracts
from generator.schema import Variants

ROOT = Path(__file__).resolve().parents[2]


def generate(root, *options):
    command = [sys.executable, root / "contracts" / "generate.py", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def repository(tmp_path):
    """A copy of everything that the generator reads."""
    for name in ("contracts", "core/ops", "webgpu"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "lanewise").mkdir()
    shutil.copy(ROOT / "lanewise" / "__init__.py", tmp_path / "lanewise")
    return tmp_path


SLANT_C = "INLINE vf32 op_slant(vf32 x, vf32 slope) { return vf32_select(vf32_gt(x, vf32_set(0)), x, slope * x); }"
SLANT_WGSL = """\
fn lw_slant_float32(x: f32, slope: f32) -> f32 {
    return select(slope * x, x, x > 0.0);
}
"""


def test_an_operation_is_three_files(repository, slant):
    """An operation needs three files, its contract, C header and shader: the generator makes everything else. Once
    the three are deleted, the generator's output is again what it was before they were added."""
    files = {
        repository / "contracts/slant.yaml": slant,
        repository / "core/ops/slant.h": SLANT_C,
        repository / "webgpu/ops/slant.wgsl": SLANT_WGSL,
    }
    out = repository / "build"
    assert generate(repository, "--out", out).returncode == 0
    without = {path.relative_to(out): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
    added = generate(repository, "--out", out, "-v")
    assert added.returncode == 0, added.stderr
    assert f"wrote {out / 'lanewise/_lib/shaders.wgsl'}" in added.stdout
    assert '"kernel":"slant_float32"' in (out / "lanewise/_lib/shaders.wgsl").read_text(encoding="utf-8")
    for name in ("lanewise_table.h", "lanewise_operations.c", "kernels.c", "cuda_kernels.cu", "lanewise/_ext.pyi"):
        assert "slant" in (out / name).read_text(encoding="utf-8"), name
    for path in files:
        path.unlink()
    assert generate(repository, "--out", out).returncode == 0
    assert {path.relative_to(out): path.read_bytes() for path in out.rglob("*") if path.is_file()} == without


def test_only_changed_files_are_written(repository):
    out = repository / "build"
    first = generate(repository, "--out", out, "-v")
    assert first.returncode == 0, first.stderr
    assert f"wrote {out / 'lanewise_table.h'}" in first.stdout
    assert generate(repository, "--out", out, "-v").stdout == ""
    (out / "own.h").touch()  # not generated, so it must not be removed
    path = repository / "contracts" / "relu.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace('summary: "Apply', 'summary: "Use'), encoding="utf-8")
    changed = generate(repository, "--out", out, "-v").stdout
    assert "lanewise_operations.c" in changed
    assert "lanewise_table.h" not in changed
    assert (out / "own.h").exists()


def test_output_is_deterministic(repository):
    outs = [repository / "first", repository / "second"]
    for out in outs:
        assert generate(repository, "--out", out).returncode == 0
    for path in outs[0].rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (outs[1] / path.relative_to(outs[0])).read_bytes()


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("core/ops/relu.h", "contracts/relu.yaml: expected core/ops/relu.h, got no file; write it"),
        (
            "webgpu/ops/relu.wgsl",
            "contracts/relu.yaml: expected webgpu/ops/relu.wgsl, got no file; write it, "
            "or declare webgpu: {fallback: cpu, why: ...}",
        ),
        (
            "contracts/relu.yaml",
            "core/ops/relu.h: expected contracts/relu.yaml, got no file; write it, or remove",
        ),
    ],
)
def test_missing_files_are_errors(repository, missing, message):
    (repository / missing).unlink()
    done = generate(repository, "--out", repository / "build")
    assert done.returncode == 1
    assert message in done.stderr
    with pytest.raises(ContractError, match=re.escape(message)):
        sources.check(load_contracts(repository / "contracts"), repository)


def test_a_declared_fallback_needs_no_shader(repository):
    (repository / "webgpu/ops/floor.wgsl").unlink()
    path = repository / "contracts" / "floor.yaml"
    path.write_text(path.read_text(encoding="utf-8") + "webgpu: {fallback: cpu, why: a test}\n", encoding="utf-8")
    assert generate(repository, "--out", repository / "build").returncode == 0


def test_the_signature_depends_on_what_kernels_are_called_with(folder):
    """On each fact about each operation by itself, on their order, and on nothing else."""
    (slant,) = load_contracts(folder)
    (x,), (slope,) = slant.inputs, slant.parameters
    differ = [
        slant,
        replace(slant, operation="tilt"),
        replace(slant, kind=replace(slant.kind, name="rows")),
        *(replace(slant, inputs=inputs) for inputs in ((), (x, x), (x, x, x))),
        *(replace(slant, inputs=(replace(x, dtype=dtype),)) for dtype in ("bool", "int32", "float32")),
        *(replace(slant, parameters=parameters) for parameters in ((), (slope, slope))),
        replace(slant, parameters=(replace(slope, name="steepness"),)),
        *(replace(slant, parameters=(replace(slope, type=name),)) for name in ("int", "bool")),
        *(replace(slant, parameters=(replace(slope, choices=choices),)) for choices in (("a", "b"), ("b", "a"))),
        *(replace(slant, variants=Variants("slope", stems)) for stems in (("slant", "tilt"), ("tilt", "slant"))),
        *(replace(slant, dtypes={"float32": result}) for result in ("bool", "int32")),
        *(replace(slant, dtypes={"int32": result}) for result in ("float32", "int32")),
        replace(slant, dtypes={"float32": "float32", "int32": "int32"}),
        replace(slant, moves=True),
    ]
    same = [
        replace(slant, summary="another", aliases=("tilt",), accuracies={}, has_out=False, flops=7),
        replace(slant, inputs=(replace(x, name="y", doc="another"),)),
        replace(slant, parameters=(replace(slope, default=0.5, doc="another", positional=True),)),
        replace(slant, parameters=(slope, replace(slope, host=True))),  # kernels do not receive it
    ]
    steep = replace(slant, operation="steep")
    for others in ((), (steep,)):
        signatures = [table.signature((*others, each)) for each in (*differ, *same)]
        assert len(set(signatures)) == len(differ)
        assert {signatures[0]} == set(signatures[len(differ) :])
    assert table.signature((slant, steep)) != table.signature((steep, slant))


def test_signatures_are_valid_python():
    contracts = {contract.operation: contract for contract in load_contracts(ROOT / "contracts")}
    assert docs.signature(contracts["add"], "$module") == "($module, x1, x2, /, *, out=None)"
    assert docs.signature(contracts["add"], "$self") == "($self, x2, /, *, out=None)"
    assert docs.signature(contracts["clip"], "$module") == "($module, x, /, min=None, max=None, *, out=None)"
    assert docs.signature(contracts["reshape"], "$self") == "($self, /, *shape)"
    assert docs.signature(contracts["gelu"], "$module") == "($module, x, /, *, approximate='none', out=None)"


@pytest.mark.parametrize("contract", load_contracts(ROOT / "contracts"), ids=lambda contract: contract.operation)
def test_docstrings_list_the_errors_that_special_rows_show(contract):
    """All but ArgumentTypeError, which every operation raises for an argument of the wrong type."""
    text = docs.docstring(contract).partition("Raises\n")[2].partition("Example\n")[0]
    listed = set(re.findall(r"^\w+Error$", text, re.MULTILINE))
    shown = {each.raises for each in contract.special if each.raises} - {"ArgumentTypeError"}
    assert shown <= listed
    if contract.kind.name in ("elementwise", "rows"):
        assert ("ShapeError" in listed) == ("ShapeError" in shown or len(contract.inputs) > 1)


def test_metadata_is_json(repository):
    out = repository / "build"
    assert generate(repository, "--out", out).returncode == 0
    content = json.loads((out / "lanewise" / "_lib" / "operations.json").read_text(encoding="utf-8"))
    relu = next(each for each in content["operations"] if each["name"] == "relu")
    dtypes = ("int32", "int64", "uint32", "uint64", "float32", "float64")
    assert relu["dtypes"] == {dtype: dtype for dtype in dtypes}
    assert relu["kernels"] == [{dtype: f"relu_{dtype}" for dtype in dtypes}]
    assert not {"copy", "put"} & {each["name"] for each in content["operations"]}


def test_a_folder_is_required(repository):
    """Without --out and --oracle, nothing would be written; the command fails and says that it needs at least one."""
    done = generate(repository, "--only", "relu")
    assert done.returncode == 2
    assert "error: give --out FOLDER, --oracle FOLDER, or both" in done.stderr


@pytest.mark.parametrize("verbose", [True, False])
def test_each_file_written_or_removed_is_printed_on_request(tmp_path, capsys, verbose):
    def printed(generated):
        write(generated, tmp_path, verbose)
        return capsys.readouterr().out.splitlines()

    listing, first, second = tmp_path / ".written", tmp_path / "first.h", tmp_path / "inner" / "second.h"
    for generated, expected in (
        ({"first.h": "1", "inner/second.h": "2"}, [f"wrote {listing}", f"wrote {first}", f"wrote {second}"]),
        ({"first.h": "1", "inner/second.h": "2"}, []),
        ({"first.h": "1", "inner/second.h": "3"}, [f"wrote {second}"]),
        ({"first.h": "1"}, [f"wrote {listing}", f"removed {second}"]),
    ):
        assert printed(generated) == (expected if verbose else [])
        files = {path.relative_to(tmp_path).as_posix(): path for path in tmp_path.rglob("*") if path.is_file()}
        assert {name: path.read_text() for name, path in files.items() if path != listing} == generated


@pytest.mark.parametrize("verbose", [True, False])
def test_oracles_are_written_where_they_changed(tmp_path, capsys, verbose):
    contracts = load_contracts(ROOT / "contracts")
    folder = tmp_path / "oracle"
    paths = [folder / "negative.bin", tmp_path / "oracle_paths" / "negative.bin"]

    def printed():
        oracle.write(contracts, folder, ["negative"], verbose)
        return capsys.readouterr().out.splitlines()

    lines = printed()
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == sorted(paths)
    content = [path.read_bytes() for path in paths]
    sizes = [f"wrote {path} ({len(data)} bytes)" for path, data in zip(paths, content, strict=True)]
    assert lines == (sizes if verbose else [])
    assert printed() == []
    paths[1].write_bytes(content[1][:-1])
    assert printed() == (sizes[1:] if verbose else [])
    assert [path.read_bytes() for path in paths] == content


def test_oracles_are_made_of_known_operations_only(folder, tmp_path):
    with pytest.raises(ContractError, match=r"^--only: expected operations, got 'slope'$"):
        oracle.write(load_contracts(folder), tmp_path / "oracle", ["slant", "slope"], verbose=False)
    assert not (tmp_path / "oracle").exists()
