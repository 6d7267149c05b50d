"""The generator of shaders refuses a name declared twice, and reports a missing function, result type or emitter."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from generator.fields import ContractError
from generator.load import load_contracts
from generator.schema import Contract, all_kernels
from generator.shaders import wgsl

CONTRACTS = Path(__file__).resolve().parents[2] / "contracts"


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A folder of WGSL shaders that declare one struct and one function."""
    for name in ("math", "ops", "kinds", "kinds/matrix"):
        (tmp_path / name).mkdir()
    (tmp_path / "kinds" / "matrix" / "matrix_vectors.wgsl").touch()
    (tmp_path / "kinds" / "layout.wgsl").write_text("struct LwLayout {\n    length: u32,\n}\n", encoding="utf-8")
    (tmp_path / "math" / "one.wgsl").write_text("fn lw_one() -> f32 {\n    return 1.0;\n}\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("math/two.wgsl", "const lw_one = 1.0;\n", "lw_one"),
        ("ops/two.wgsl", "fn lw_one() -> f32 {\n    return 1.0;\n}\n", "lw_one"),
        ("ops/two.wgsl", "struct LwLayout {\n    length: u32,\n}\n", "LwLayout"),
    ],
)
def test_names_are_declared_once(library: Path, path: str, text: str, name: str) -> None:
    assert set(wgsl.Library(library).texts) == {"LwLayout", "lw_one"}
    (library / path).write_text(text, encoding="utf-8")
    with pytest.raises(
        ContractError, match=rf"\.wgsl: expected each name once, got {name}, also in .*\.wgsl; rename one$"
    ):
        wgsl.Library(library)


def test_templates_declare_functions_of_each_dtype(library: Path) -> None:
    (library / "functions").mkdir()
    text = "fn lw_${operation}_$dtype(x: $value) -> $value {\n    return $twice;\n}\n"
    (library / "functions" / "double.wgsl").write_text(text, encoding="utf-8")
    operation = library / "ops" / "two.wgsl"
    operation.write_text("template double(int32 float32): twice = lw_$dtype(x);\n", encoding="utf-8")
    texts = wgsl.Library(library).texts
    assert texts["lw_two_int32"] == "fn lw_two_int32(x: i32) -> i32 {\n    return lw_int32(x);\n}"
    assert texts["lw_two_float32"] == "fn lw_two_float32(x: f32) -> f32 {\n    return lw_float32(x);\n}"
    for line, missing in (("double(int32): two = x;", "twice"), ("double(int9): twice = x;", "int9")):
        operation.write_text(f"template {line}\n", encoding="utf-8")
        with pytest.raises(ContractError, match=f"got template double without {missing}; correct it$"):
            wgsl.Library(library)
    operation.write_text("template double(int32): twice = x; thrice = x;\n", encoding="utf-8")
    with pytest.raises(ContractError, match=r"expected only the \$names of template double, got thrice;"):
        wgsl.Library(library)


def test_templates_have_defaults(library: Path) -> None:
    (library / "functions").mkdir()
    text = "fn lw_${operation}_$to($arguments) -> $out {\n    return $result;\n}\n"
    (library / "functions" / "same.wgsl").write_text(text, encoding="utf-8")
    text = "template same(int32): result = x;\n"
    text += "template same(int64) -> bool: operation = not; arguments = y: $value; result = y;\n"
    (library / "ops" / "two.wgsl").write_text(text, encoding="utf-8")
    texts = wgsl.Library(library).texts
    assert texts["lw_two_int32"] == "fn lw_two_int32(x: i32) -> i32 {\n    return x;\n}"
    assert texts["lw_not_bool"] == "fn lw_not_bool(y: vec2<u32>) -> bool {\n    return y;\n}"


def test_functions_return_a_value(library: Path) -> None:
    (library / "math" / "two.wgsl").write_text("fn lw_two(x: f32) {\n    lw_one();\n}\n", encoding="utf-8")
    shaders = wgsl.Library(library)
    assert shaders.result("lw_one") == "f32"
    with pytest.raises(ContractError, match=r"two\.wgsl: expected lw_two to return a value, got no result type; add"):
        shaders.result("lw_two")


def _contracts(folder: Path, kind: str, support: str, *operations: str) -> tuple[Contract, ...]:
    """Copies the contracts of `operations` to `folder`, which already has slant.yaml, and writes a kinds.yaml in which
    the field `webgpu` of `kind` is `support`. Returns the contracts of this kind in the folder."""
    head, body = (CONTRACTS / "kinds.yaml").read_text(encoding="utf-8").split(f"\n{kind}:\n")
    body = re.sub(r"webgpu: \w+", f"webgpu: {support}", body, count=1)
    (folder / "kinds.yaml").write_text(f"{head}\n{kind}:\n{body}", encoding="utf-8")
    for operation in operations:
        shutil.copy(CONTRACTS / f"{operation}.yaml", folder)
    return tuple(each for each in load_contracts(folder) if each.kind.name == kind)


def test_a_kind_that_webgpu_has_needs_an_emitter(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(wgsl.EMITTERS, "rows")
    assert wgsl.emit(_contracts(folder, "rows", "later", "softmax")) == {}
    with pytest.raises(ContractError, match=r"^contracts/kinds.yaml: rows: expected an emitter in wgsl_kinds.py, got"):
        wgsl.emit(_contracts(folder, "rows", "now", "softmax"))
    path = CONTRACTS / "softmax.yaml"
    text = path.read_text(encoding="utf-8") + "webgpu: {fallback: cpu, why: a test}\n"
    (folder / "softmax.yaml").write_text(text, encoding="utf-8")
    assert wgsl.emit(load_contracts(folder)[1:]) == {}


def test_the_table_lists_modules_and_their_scratch_memory() -> None:
    contracts = load_contracts(CONTRACTS)
    modules = wgsl.emit(contracts)
    (table,) = wgsl.emit_table(contracts, modules).values()
    found = re.findall(r"\[LW_KERNEL_(\w+)\] = \{1, (\d+), ([01])\}", table)
    rows = {name: scratch for name, scratch, _ in found}
    assert rows.keys() == modules.keys()
    assert rows["add_float32"] == "0"
    assert rows["sum_float32"] == rows["put_bits8"] == rows["cumulative_sum_int32"] == "4"
    assert rows["argmax_float32"] == rows["cumulative_sum_float32"] == "8"
    assert rows["var_float32"] == "16"
    faster = {name for name, _, has_vectors in found if has_vectors == "1"}
    assert {"add_float32", "sum_float32", "any_bool", "argmax_float32", "matmul_float32"} <= faster
    assert not {"vecdot_float32", "put_bits8", "softmax_float32", "cumulative_sum_float32"} & faster


def test_modules_are_numbered_as_in_the_kernel_table() -> None:
    contracts = load_contracts(CONTRACTS)
    order = [kernel.name for kernel in all_kernels(contracts)]
    for name, text in wgsl.emit(contracts).items():
        assert order[json.loads(text[2 : text.index("\n")])["index"]] == name


def test_functions_may_be_missing_only_where_webgpu_comes_later(folder: Path) -> None:
    """The contract slant, which conftest.py puts into `folder`, has no function in webgpu/ops."""
    message = r"^contracts/slant.yaml: expected function lw_slant_float32 in webgpu/ops/slant.wgsl, got none; write it"
    with pytest.raises(ContractError, match=message):
        wgsl.emit(_contracts(folder, "elementwise", "now", "sqrt"))
    assert list(wgsl.emit(_contracts(folder, "elementwise", "later", "sqrt"))) == ["sqrt_float32"]
