"""Tests JupyterLite in Chromium: Lanewise is installed, %pip uses the site's own index, and no request leaves the
site."""

from __future__ import annotations

import http.client
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import distribution
import lab
import notebooks_app
import pytest
import serve
from served import serving
from visit import Visit

import lanewise

FIRST = "import lanewise\nprint(lanewise.__version__)"
BACKEND = "import lanewise\nprint(lanewise.__version__, lanewise.ones(1).backend)"
INSTALLED = f"{lanewise.__version__} relaxed_simd"
WAIT_LATE = """
const waitAsync = Atomics.waitAsync;
Atomics.waitAsync = (memory, index, value) => {
    const end = performance.now() + 100;
    while (performance.now() < end && Atomics.load(memory, index) === value) {}
    return waitAsync(memory, index, value);
};
"""
REMOVE = """
import importlib.util, micropip
micropip.uninstall("lanewise")
print(importlib.util.find_spec("lanewise"))
"""


def test_the_first_cell_imports_lanewise_without_a_network(visit: Visit) -> None:
    lab.open_lab(visit)
    assert visit.page.title().endswith("Lanewise notebooks")
    assert visit.page.get_attribute("meta[name='description' i]", "content") == notebooks_app.DESCRIPTION
    visit.ask(lab.SAVE, ["first.ipynb", [FIRST, "import numpy\nnumpy.asarray(lanewise.ones(3)).tolist()"]], seconds=60)
    lab.open_notebook(visit, "first.ipynb")
    asked = len(visit.requests)
    visit.context.set_offline(True)
    assert [lab.text(cell) for cell in lab.run_all(visit)] == [f"{lanewise.__version__}\n", "[1.0, 1.0, 1.0]"]
    # the site's service worker answers requests of the kernel for files
    assert [url for url in visit.requests[asked:] if not url.endswith("/lite/api/drive")] == []


def test_pip_installs_from_the_site(visit: Visit) -> None:
    lab.open_lab(visit)
    cells = ["%pip install lanewise", BACKEND]
    assert lab.run_cells(visit, "installed.ipynb", cells)[-1].strip() == INSTALLED
    asked = len(visit.requests)
    outputs = lab.run_cells(visit, "removed.ipynb", [REMOVE, *cells])
    assert outputs[0].strip() == "None"
    assert outputs[-1].strip() == INSTALLED
    wheels = [urlsplit(url).path for url in visit.requests[asked:]]
    assert any("/lanewise-" in path and path.endswith(".whl") for path in wheels)


def test_a_notebook_with_an_error_fails(visit: Visit) -> None:
    """Also one that asks for a package that the site lacks."""
    lab.open_lab(visit)
    with pytest.raises(lab.NotebookError, match=r"cell 0 raised \S*PiplitePyPIDisabled: .*PyPI fallback is disabled"):
        lab.run_cells(visit, "absent.ipynb", ["%pip install no-such-package-for-lanewise", "1 / 1"])
    with pytest.raises(lab.NotebookError, match="cell 1 raised ZeroDivisionError"):
        lab.run_cells(visit, "error.ipynb", ["1 + 1", "1 / 0", "2 + 2"])
    visit.errors.clear()  # the kernel also writes the exceptions to the console


def test_isolation_sends_two_headers(site: Path) -> None:
    for isolated in (False, True):
        with serving(site, isolated=isolated) as address:
            parts = urlsplit(address)
            with closing(http.client.HTTPConnection(parts.hostname or "", parts.port)) as connection:
                connection.request("GET", parts.path + "config.json")
                answer = connection.getresponse()
                sent = {name: answer.getheader(name) for name in serve.ISOLATION}
                answer.read()
            assert sent == (serve.ISOLATION if isolated else dict.fromkeys(serve.ISOLATION))


def test_notebooks_run_isolated(site: Path, browser: Any) -> None:
    """Even if the kernel always answers before the page begins to wait, as it may on a busy machine."""
    with serving(site, isolated=True) as address, closing(Visit(browser.new_context(), address)) as visit:
        visit.context.add_init_script(WAIT_LATE)
        lab.open_lab(visit)
        assert visit.page.evaluate("self.crossOriginIsolated") is True
        assert lab.run_cells(visit, "isolated.ipynb", [BACKEND])[0].strip() == INSTALLED
        assert (visit.errors, visit.foreign) == ([], [])


def test_a_published_site_loads_pyodide_from_its_server(
    published: tuple[Path, str], release: str, browser: Any
) -> None:
    folder, _ = published
    assert [path.name for path in (folder / "pyodide").iterdir()] == [distribution.LOCK]
    with serving(folder) as address, closing(Visit(browser.new_context(), address)) as visit:
        lab.open_lab(visit)
        assert lab.run_cells(visit, "published.ipynb", [BACKEND])[0].strip() == INSTALLED
        outputs = lab.run_cells(visit, "index.ipynb", [REMOVE, "%pip install lanewise", BACKEND])
        assert outputs[-1].strip() == INSTALLED
        assert any("/lite/pypi/lanewise-" in each for each in visit.requests)
        assert visit.errors == []
        assert {each for each in visit.foreign if not each.startswith(release)} == set()
        assert release + "pyodide.asm.wasm" in visit.foreign
