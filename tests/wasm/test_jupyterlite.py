"""Builds a JupyterLite site with a wheel whose tags name one Pyodide ABI. jupyterlite-pyodide-kernel 0.6 and 0.7 refuse
wheels with several platform tags: they list such a wheel once per tag, and `jupyter lite build` stops at the second
entry ("duplicated definition")."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TAG = "pyodide_2024_0"  # the platform of Pyodide 0.27, which jupyterlite-pyodide-kernel 0.6 loads


def run(*command: str | Path, cwd: Path) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}"


def test_a_site_builds_with_the_wheel_of_one_tag(tmp_path: Path) -> None:
    build = [sys.executable, ROOT / "wasm" / "build.py", "--no-build-isolation", "--dist", tmp_path, "--tag", TAG]
    run(*build, cwd=ROOT)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.endswith(f"-{TAG}_wasm32.whl")
    jupyter = Path(sys.executable).with_name("jupyter-lite")
    run(jupyter, "build", "--apps", "repl", "--no-sourcemaps", "--piplite-wheels", wheel.name, cwd=tmp_path)
    index = tmp_path / "_output" / "pypi" / "all.json"
    ((release,),) = json.loads(index.read_text())["lanewise"]["releases"].values()
    assert release["filename"] == wheel.name
    assert release["digests"]["sha256"] == hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert (index.parent / wheel.name).read_bytes() == wheel.read_bytes()
