"""Checks the pages of the site's reference: complete, without broken links, and with examples that run."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

import lanewise as lw
from lanewise import other_names
from lanewise.functions import operations
from tests.site import html_pages
from tests.site.event_loop import call_in_thread

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "site" / "reference" / "render.py"
LARGEST = 10 << 20  # bytes


def interpreter() -> str:
    """Returns the Python of the site's environment: LANEWISE_SITE_PYTHON, or the one that site/build.py prepares."""
    if named := os.environ.get("LANEWISE_SITE_PYTHON"):
        return named
    specification = importlib.util.spec_from_file_location("site_build", ROOT / "site" / "build.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return str(module.prepare())


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [interpreter(), str(BUILD), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def reference(site: Path) -> Path:
    return (site / "reference").resolve()


@pytest.fixture(scope="module")
def pages(reference: Path) -> dict[Path, html_pages.Page]:
    return {path: html_pages.read(path) for path in sorted(reference.rglob("*.html"))}


@pytest.fixture(scope="module")
def page(reference: Path, pages: dict[Path, html_pages.Page]):
    return lambda name: pages[reference / f"{name}.html"]


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def contract(name: str) -> dict:
    return yaml.safe_load((ROOT / "contracts" / f"{name}.yaml").read_text(encoding="utf-8"))


def squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("name", sorted(operations.names()))
def test_the_page_of_an_operation(name, page):
    """Signature, formula, example, tolerance and special values are those of the contract and of the function."""
    shown, facts = page(f"operations/{name}"), contract(name)
    text = squeezed(shown.text)
    assert f"lanewise.{name}" in shown.anchors
    for argument in inspect.signature(getattr(lw, name)).parameters.values():
        expected = argument.name if argument.default is argument.empty else f"{argument.name}={argument.default!r}"
        assert expected in text
    assert facts["summary"] in text
    assert squeezed(facts.get("formula", "")) in text
    assert facts["example"].strip() in [block.strip() for block in shown.blocks]
    assert {"Example", "Data types", "Accuracy", "NumPy equivalent", "Cost"} <= set(shown.headings)
    assert ("Special values" in shown.headings) == bool(facts.get("special"))
    assert ("Reproducible: the same bits" in text) == facts.get("reproducible", "tolerance" not in facts)
    for measure, bound in facts.get("tolerance", {}).items():
        if measure != "backends" and bound and facts["kind"] != "elementwise":
            assert f"{bound:g}".replace("e-0", "e-") in text
    for exception in facts.get("tolerance", {}).get("backends", {}).values():
        assert exception["why"] in text
    for row in facts.get("special", []):
        assert row.get("unless", {}).get("wgpu", "") in text
        assert row.get("raises", "") in text
    for law in facts.get("laws", {}).values():
        assert law["says"] in text
        assert squeezed(law["holds"]) in text


def test_accuracy_has_a_row_for_each_group_of_backends(page):
    """tanh has different errors with FMA, without FMA, and on AVX-512. Exceptions have a reason."""
    text = squeezed(page("operations/tanh").text)
    measured = contract("tanh")["measured"]
    assert {"fma", "plain", "avx512"} <= set(measured)
    for group in measured.values():
        assert f"{group['ulp']:g} ulp" in text
    assert "3 ulp, because WGSL allows division an error of 2.5 ulp" in text
    assert "the CPU computes the result: the algorithm is a chain" in squeezed(page("operations/eigh").text)


def test_special_values_are_calls(page):
    text = squeezed(page("operations/softmax").text)
    assert "softmax([-inf, 0.0])" in text
    assert "softmax(3.0, axis=1) raises AxisError" in text
    text = squeezed(page("operations/matmul").text)
    assert "matmul([[0.0, 1.0]], [[inf], [1.0]]) [[nan]] float32, float64 WebGPU: WGSL may assume" in text


def test_numpy_equivalents(page):
    """The reference expression, the functions that it calls, and the expressions of other libraries."""
    blocks = page("operations/softmax").blocks
    assert "softmax(x, axis)\n" in blocks
    assert any(block.startswith("def softmax(") and "np.max(x" in block for block in blocks)
    text = squeezed(page("operations/concat").text)
    assert "np.vstack(arrays) lw.concat(arrays, axis=0)" in text
    assert "torch.cat(arrays, dim=1)" in text


def test_every_public_name_is_described(page, pages):
    """With the docstring of the object that a program sees."""
    text = {name: squeezed(page(f"api/{name}").text) for name in ("tensor", "errors", "backends-and-devices", "memory")}
    anchors = set[str]().union(*(each.anchors for each in pages.values()))
    every = squeezed(" ".join(each.text for path, each in pages.items() if path.parent.name == "api"))
    for name in set(lw.__all__) - set(lw._ext.__all__):
        if inspect.isclass(getattr(lw, name)) or inspect.isfunction(getattr(lw, name)):
            assert f"lanewise.{name}" in anchors
            summary = inspect.getdoc(getattr(lw, name)).partition("\n\n")[0]
            assert squeezed(summary).replace("`", "") in every, name
        else:
            assert f"lw.{name} " in every, name
    for name in dir(lw.ones(1)):
        if not name.startswith("_") and name not in lw._ext.__all__:
            assert f"lanewise.Tensor.{name}" in anchors
            summary = inspect.getdoc(inspect.getattr_static(lw.Tensor, name)).partition("\n\n")[0]
            assert squeezed(summary).replace("`", "") in text["tensor"], name


def test_names_in_other_libraries(page):
    text = squeezed(page("tables/coming-from").text)
    for theirs, ours in other_names.FUNCTIONS.items():
        assert f"{theirs} {ours} " in text
    assert "np.hstack(arrays) lw.concat(arrays, axis=1)" in text
    assert "a.mT for matrices; with more dimensions" in text


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "site" / "docs").glob("*.md")))
def test_written_pages_are_shown(name, page):
    source = (ROOT / "site" / "docs" / f"{name}.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", source, re.MULTILINE)
    assert [heading.replace("`", "") for heading in headings] == page(f"docs/{name}").headings


@pytest.mark.parametrize("name", ["figures", "figures-dtypes", "figures-webgpu", "figures-surface"])
def test_figures_have_a_machine_and_a_date(name, page):
    source = (ROOT / "site" / "docs" / f"{name}.md").read_text(encoding="utf-8")
    headings = re.findall(r"^<!-- python -m tests.bench .*?-->\n\n(.*?)\n", source, re.MULTILINE)
    assert headings
    for heading in headings:
        assert re.match(r"\d{4}-\d\d-\d\d; [^;]*(AMD|Intel|NVIDIA)", heading)
        assert squeezed(heading).strip() in squeezed(page(f"docs/{name}").text)


def test_links_and_anchors(pages, reference):
    assert sum(len(each.links) for each in pages.values()) > 10_000
    assert html_pages.broken_links(pages, reference) == []


def test_broken_links_are_found(tmp_path):
    (tmp_path / "index.html").write_text('<a id="x" href="#x">1</a><a href="#y">2</a><a href="no.html#x">3</a>')
    read = {tmp_path / "index.html": html_pages.read(tmp_path / "index.html")}
    assert html_pages.broken_links(read, tmp_path) == [
        "index.html: #y: the anchor does not exist",
        "index.html: no.html#x: the file does not exist",
    ]


def test_nothing_is_loaded_from_elsewhere(pages, reference):
    for each in pages.values():
        assert each.loaded
        assert html_pages.foreign(each) == []
        assert html_pages.missing_files(each) == []
    for path in reference.rglob("*.css"):
        urls = [first or second for first, second in html_pages.IN_CSS.findall(path.read_text(encoding="utf-8"))]
        assert [url for url in urls if re.match(r"(?!data:)\w+:|/", url)] == []
    for path in reference.rglob("*.js"):
        assert not re.search(r"""(fetch|import|open|src\s*=)\s*\(?\s*["'`]https?:""", path.read_text(encoding="utf-8"))


def test_a_page_that_loads_what_it_must_not_is_found(tmp_path):
    (tmp_path / "page.html").write_text('<script src="https://example.org/x.js"></script><img src="/x"><img src="y">')
    page = html_pages.read(tmp_path / "page.html")
    assert html_pages.foreign(page) == ["https://example.org/x.js", "/x"]
    assert "y" in html_pages.missing_files(page)


def test_examples_run(pages):
    """As a reader sees them: one after another, page by page, with `lw` imported."""
    count = 0
    for path, each in pages.items():
        source = "\n\n".join(block for block in each.blocks if block.lstrip().startswith(">>>"))
        examples = doctest.DocTestParser().get_doctest(source, {"lw": lw}, path.stem, str(path), 0)
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        assert call_in_thread(runner.run, examples).failed == 0, path
        count += len(examples.examples)
    assert count > len(operations.names())


def test_the_keyboard_reaches_what_scrolls(reference):
    for path in reference.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"<pre>|<div class=\"table-wrapper[^\"]*\">", text)


def test_the_navigation_shows_the_operations_of_one_kind(page):
    links = page("operations/softmax").links
    assert "log_softmax.html" in links
    assert "kinds/elementwise.html" in links
    assert "exp.html" not in links


def test_size(reference):
    assert sum(map(len, files(reference).values())) <= LARGEST


def test_without_results_the_matrix_says_so(tmp_path):
    """In the source of its page."""
    command = [interpreter(), BUILD.with_name("sphinx_sources.py"), "--support", ROOT / "missing.md", "--out", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    text = squeezed((tmp_path / "tables" / "support.md").read_text(encoding="utf-8"))
    assert "made without results of the tests" in text
    assert "✓" not in text
    assert "the algorithm is a chain" in text


def test_the_matrix_has_the_results(site):
    """The site is built with matrix.md."""
    shown = html_pages.read(site / "reference" / "tables" / "support.html")
    text = squeezed(shown.text)
    assert "operation WebGPU AVX2 scalar exp ✓ ✓ ✓ sort ✓ ✗ By dtype" in text
    dtypes = "exp ✓ WebGPU: CPU sort ✓ scalar: ✗ AVX2: not run, scalar: ✗ Computed"
    assert f"operation float32 float64 int8 {dtypes}" in text
    assert "4 of the 5 pairs" in text
    assert "../operations/exp.html" in shown.links


def test_a_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "mine.txt").write_text("text")
    done = run("--out", tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("expected a new or empty folder, or one with a reference, got ")
    assert files(tmp_path) == {"mine.txt": b"text"}


def test_a_link_to_a_file_that_is_not_shown_is_refused(tmp_path):
    program = (
        f"import sys; sys.path.insert(0, {str(BUILD.parent)!r}); import pathlib, written_pages as w\n"
        f"root = pathlib.Path({str(tmp_path)!r})\n"
        "(root / 'a.md').write_text('[a](b.md) [c](https://x.org) `[d](d.md)`')\n"
        "print(w.rewritten(root, 'a.md', {'a.md': 'x/a.md', 'b.md': 'y/b.md'}))\n"
        "w.rewritten(root, 'a.md', {'a.md': 'x/a.md'})\n"
    )
    done = subprocess.run([interpreter(), "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "[a](../y/b.md) [c](https://x.org) `[d](d.md)`\n"
    assert "LookupError: a.md: links to b.md, which the reference does not show" in done.stderr


def test_sphinx_warnings_are_errors(tmp_path):
    """The configuration does not hide any: a page with a dead reference fails."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "index.md").write_text("# Title\n\n[nothing](nothing.md)\n")
    command = [interpreter(), "-m", "sphinx", "-q", "-W", "-c", str(BUILD.parent), str(source), str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode
    assert "cross-reference target not found: 'nothing.md'" in done.stderr
