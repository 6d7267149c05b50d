"""Writes the sources of the reference, in Markdown for Sphinx: `python site/reference/sphinx_sources.py --out FOLDER`.

The pages of operations come from contracts/, those of the Python API from docstrings, the others from site/docs, the
READMEs and the reports of the tests. Nothing that is written here is committed. Needs PyYAML; imports neither Lanewise
nor NumPy.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "contracts")]  # for `generator` and, where Python has -P, for the modules beside

import coming_from  # noqa: E402
import operation_pages  # noqa: E402
import python_api  # noqa: E402
import support_matrix  # noqa: E402
import written_pages  # noqa: E402
from generator.load import load_contracts, load_kinds  # noqa: E402
from markup import directive, table  # noqa: E402

REPORT = ROOT / "build" / "reports" / "support.md"
GUIDE = ("coming-from-numpy", "accuracy", "tuning", "dispatch", "versions")
FIGURES = ("figures", "figures-dtypes", "figures-webgpu", "figures-surface")
EXTEND = ("adding-an-operation", "adding-a-backend")


def sources(report: Path = REPORT) -> dict[str, bytes]:
    """Returns the files of the reference's sources by path; `report` is what tests/support.py wrote."""
    contracts = tuple(each for each in load_contracts(ROOT / "contracts", check_measured=False) if not each.internal)
    kinds = {name: kind for name, kind in load_kinds(ROOT / "contracts").items()
             if any(each.kind.name == name for each in contracts)}  # fmt: skip
    rows = coming_from.rows(ROOT)
    elsewhere = coming_from.by_operation(rows, contracts)
    documented = python_api.page_of() | {
        name: operation_pages.path(each.operation) for each in contracts for name in each.names
    }
    pages = {
        operation_pages.path(each.operation): operation_pages.page(each, elsewhere.get(each.operation, []))
        for each in contracts
    }
    pages |= {operation_pages.kind_path(name): operation_pages.kind_page(contracts, kind)
              for name, kind in kinds.items()}  # fmt: skip
    pages["operations/index.md"] = operation_pages.index(contracts, kinds)
    pages |= {group.path: python_api.page(group) for group in python_api.groups()}
    pages["api/tensor.md"] = python_api.tensor_page(contracts)
    pages[coming_from.PATH] = coming_from.page(ROOT, rows, documented)
    text_of_report = report.read_text(encoding="utf-8") if report.exists() else None
    pages[support_matrix.PATH] = support_matrix.page(contracts, text_of_report)
    known = written_pages.places(ROOT)
    for source, place in known.items():
        if source.endswith(".md") and source not in written_pages.SHOWN:
            pages[place] = written_pages.rewritten(ROOT, source, known)
    pages["index.md"] = _start(len(contracts), pages, list(kinds))
    return {name: content.encode() for name, content in pages.items()} | written_pages.images(ROOT)


def _start(count: int, pages: Mapping[str, str], kinds: list[str]) -> str:
    """Returns the start page, whose toctrees are the navigation of all pages."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    example = readme.partition("## Example\n")[2].partition("\n## ")[0].strip()
    kind_pages = [operation_pages.kind_path(name) for name in kinds]
    api = ["api/tensor.md", *(group.path for group in python_api.groups())]
    guide = [f"docs/{name}.md" for name in GUIDE]
    figures = [f"docs/{name}.md" for name in FIGURES]
    extend = [f"docs/{name}.md" for name in EXTEND]
    project = ["project/contributing.md", *sorted({page for page in pages if page.startswith("project/")}
                                                  - {"project/contributing.md"})]  # fmt: skip
    facts = [support_matrix.PATH, coming_from.PATH, *figures]
    listed = {*kind_pages, *api, *guide, *figures, *extend, *project}
    unlisted = sorted(page for page in pages if page.startswith("docs/") and page not in listed)
    rows = [
        ["[Operations by kind](operations/index.md)",
         "a page for each: signature, formula, accuracy on every backend, special values, NumPy equivalent, example"],
        ["[Tensor](api/tensor.md)", "attributes, methods and operators"],
        ["[Coming from NumPy](docs/coming-from-numpy.md)",
         "what differs, and [names in other libraries](tables/coming-from.md)"],
        ["[Threads, memory, GPUs](docs/tuning.md)", "settings, and how to use a GPU"],
        ["[Accuracy](docs/accuracy.md)", "which results have the same bits everywhere, and the bounds of the others"],
        ["[How a call is dispatched](docs/dispatch.md)", "which backend runs a call"],
        ["[Versions and support](docs/versions.md)", "which versions of Python, NumPy and Pyodide, and for how long"],
        ["[Support matrix](tables/support.md)", "which operation passed its tests on which backend"],
        ["[Figures](docs/figures.md)", "the benchmark, with machines and dates"],
        ["[Adding an operation](docs/adding-an-operation.md)", "and [a backend](docs/adding-a-backend.md)"],
    ]  # fmt: skip
    blocks = [
        "# Lanewise",
        f"Array math for Python: {count} operations with the same answers on x86, on ARM, on GPUs and in a browser "
        "tab, where NumPy runs without SIMD or BLAS.",
        _figure("light"),
        _figure("dark"),
        "One thread of Chromium; [all figures](docs/figures.md), and how they were measured.",
        "## Where to look",
        table(["page", "what is there"], rows),
        "## Example",
        example,
        _toctree("Guide", [*guide, *unlisted]),
        _toctree("Operations", ["operations/index.md", *kind_pages]),
        _toctree("Python API", api),
        _toctree("Tables", facts),
        _toctree("Extending Lanewise", [*extend, *project]),
    ]
    return "\n\n".join(blocks) + "\n"


def _figure(scheme: str) -> str:
    alternative = (
        "Matrix products, softmax and exp in a browser tab: Lanewise next to NumPy, TensorFlow.js, ONNX Runtime Web "
        "and jax-js"
    )
    return directive("image", f"docs/speed-{scheme}.svg", options=[f"alt: {alternative}", f"class: only-{scheme}"])


def _toctree(caption: str, pages: list[str]) -> str:
    names = "\n".join(page.removesuffix(".md") for page in pages)
    return f"```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{names}\n```"


def write(files: Mapping[str, bytes], folder: Path) -> None:
    """Writes the sources to an empty or new folder."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="an empty or new folder")
    parser.add_argument("--support", type=Path, default=REPORT, metavar="FILE", help="the support matrix of the tests")
    options = parser.parse_args()
    if options.out.exists() and any(options.out.iterdir()):
        parser.error(f"--out: expected an empty or new folder, got {options.out}; remove what it has")
    write(sources(options.support), options.out)


if __name__ == "__main__":
    main()
