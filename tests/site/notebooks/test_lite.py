"""Tests JupyterLite in Chromium: Lanewise is installed, %pip uses the site's own index, and no request leaves the
site."""

from __future__ import annotations

import hashlib
import http.client
import json
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

import build
import lanewise

FIRST = "import lanewise\nprint(lanewise.__version__)"
BACKEND = "import lanewise\nprint(lanewise.__version__, lanewise.ones(1).backend)"
INSTALLED = f"{lanewise.__version__} relaxed_simd"
# Removes the package that the kernel has loaded at its start, and prints its version and what then can be imported
REMOVE = """
import importlib.metadata, importlib.util, micropip
print(importlib.metadata.version("lanewise"))
micropip.uninstall("lanewise")
print(importlib.util.find_spec("lanewise"))
"""


def reinstalled(visit: Visit) -> bool:
    """Returns whether `%pip install lanewise` keeps the package of an open lab's new kernel, and installs it again
    after it was removed."""
    cells = ["%pip install lanewise", REMOVE, "%pip install lanewise", BACKEND]
    _, removed, _, backend = lab.run_cells(visit, "removed.ipynb", cells)
    return removed.split() == [lanewise.__version__, "None"] and backend.strip() == INSTALLED


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
    assert reinstalled(visit)
    wheels = [urlsplit(url).path for url in visit.requests]
    assert any("/lanewise-" in path and path.endswith(".whl") for path in wheels)


def test_a_notebook_with_an_error_fails(visit: Visit) -> None:
    """Such as one that asks for a package that the site lacks."""
    lab.open_lab(visit)
    with pytest.raises(lab.NotebookError, match=r"cell 1 raised \S*PiplitePyPIDisabled: .*PyPI fallback is disabled"):
        lab.run_cells(visit, "absent.ipynb", ["1 + 1", "%pip install no-such-package-for-lanewise", "1 / 1"])
    visit.errors.clear()  # the kernel also writes the exception to the console


def test_the_index_has_the_wheel_of_one_tag(site: Path) -> None:
    """JupyterLite's kernel lists a wheel once per tag, and its build stops at a second entry."""
    index = site / "lite" / "pypi" / "all.json"
    ((release,),) = json.loads(index.read_text())["lanewise"]["releases"].values()
    assert release["filename"].endswith(f"-{build.LAB_TAG}_wasm32.whl")
    digest = hashlib.sha256((index.parent / release["filename"]).read_bytes()).hexdigest()
    assert digest == release["digests"]["sha256"]


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


def test_a_published_site_loads_pyodide_from_its_server(
    published: tuple[Path, str], release: str, browser: Any
) -> None:
    folder, _ = published
    assert [path.name for path in (folder / "pyodide").iterdir()] == [distribution.LOCK]
    with serving(folder) as address, closing(Visit(browser.new_context(), address)) as visit:
        lab.open_lab(visit)
        assert reinstalled(visit)
        assert any("/lite/pypi/lanewise-" in each for each in visit.requests)
        assert visit.errors == []
        assert {each for each in visit.foreign if not each.startswith(release)} == set()
        assert release + "pyodide.asm.wasm" in visit.foreign
