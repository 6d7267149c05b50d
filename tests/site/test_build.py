"""Tests site/build.py: what it writes, what it refuses, and that a failure leaves nothing behind. Tests what
site/serve.py refuses."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import commands
import distribution
import notebooks_app
import pytest
import serve
import virtual_environment
from commands import SiteError
from served import running

import build
from wasm import releases

SITE = Path(__file__).parents[2] / "site"
WHEEL = "lanewise-1-py3-none-any.whl"


def write_site(folder: Path, *, text: str) -> None:
    """Writes the files by which site/build.py recognizes a site, and one with a text."""
    (folder / "wheels").mkdir(parents=True)
    (folder / "wheels" / WHEEL).touch()
    (folder / "config.json").write_text(json.dumps({"wheel": WHEEL}))
    (folder / "index.html").write_text(text)


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes build() write a site of three files instead of a real one."""
    monkeypatch.setattr(build, "_build", lambda made, *_: write_site(made, text="new"))


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Returns a function that runs site/build.py with arguments, and returns the message with which it ends."""

    def run(*arguments: object) -> str:
        monkeypatch.setattr(sys, "argv", ["build.py", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            build.main()
        return str(ended.value.code)

    return run


def unreachable(*_: object, **__: object) -> None:
    raise AssertionError("not reached")


def test_a_second_build_has_the_same_files(
    site: Path, published: tuple[Path, str], release: str, tmp_path: Path
) -> None:
    """It is in another folder, where it replaced a site, and strings have other hashes. Its settings name another
    Pyodide; the first site's copy of Pyodide is made once more here. The build announces its steps. If LANEWISE_SITE
    names the first site, that must be a build of this checkout with --support tests/site/matrix.md."""
    dist, printed = published
    assert list(dist.parent.iterdir()) == [dist]
    first, second = files(site), files(dist)
    (wheel,) = (dist / "wheels").iterdir()
    distribution.copy_release(tmp_path / "pyodide", wheel, f"../wheels/{wheel.name}")
    copied = {f"pyodide/{name}": content for name, content in files(tmp_path / "pyodide").items()}
    second = {name: content for name, content in second.items() if not name.startswith("pyodide/")} | copied
    assert sorted(first) == sorted(second)
    different = [name for name in first if first[name] != second[name]]
    assert sorted(different) == ["config.json", "lite/jupyter-lite.json"]
    config, lab = (json.loads(second[name]) for name in sorted(different))
    settings = lab["jupyter-config-data"]["litePluginSettings"][notebooks_app.KERNEL]
    assert (config["pyodide"], settings["pyodideUrl"]) == (release, release + "pyodide.js")
    config["pyodide"], settings["pyodideUrl"] = "pyodide/", "./../pyodide/pyodide.js"
    del settings["loadPyodideOptions"]["lockFileURL"]
    settings["loadPyodideOptions"]["packages"][-1] = "lanewise"
    for name, content in (("config.json", config), ("lite/jupyter-lite.json", lab)):
        assert json.dumps(content) == json.dumps(json.loads(first[name]))
    steps = [f"downloading {distribution.LOCK} of {release}"]
    steps += ["building the wheel; compiling takes one to three minutes", "building the lab's wheel"]
    steps += ["building the notebooks", "building the reference"]
    assert [line for line in printed.splitlines() if line in steps] == steps
    assert printed.endswith(f"\n{dist}: serve it with python site/serve.py\n")


def test_the_site_is_small(site: Path) -> None:
    assert sum(map(len, files(site).values())) <= 60 << 20


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("state", ["absent", "empty", "site"])
def test_a_site_replaces_an_empty_folder_or_a_site(tmp_path: Path, state: str) -> None:
    dist = tmp_path / "parent" / "dist"
    if state == "empty":
        dist.mkdir(parents=True)
    elif state == "site":
        write_site(dist, text="old")
        (dist / "removed.html").touch()
    assert build.build(dist) == dist
    assert set(files(dist)) == {"config.json", f"wheels/{WHEEL}", "index.html"}
    assert (dist / "index.html").read_text() == "new"
    assert list(dist.parent.iterdir()) == [dist]


@pytest.mark.parametrize("config", [None, "text", "[]", "{}", '{"wheel": "other.whl"}', '{"wheel": ["."]}'])
def test_a_folder_with_other_files_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., str], config: str | None
) -> None:
    monkeypatch.setattr(build, "_build", unreachable)
    dist = tmp_path / "dist"
    write_site(dist, text="mine")
    if config is None:
        (dist / "config.json").unlink()
    else:
        (dist / "config.json").write_text(config)
    before = files(dist)
    expected = f"expected a new or empty folder, or one with a site, got {dist}; name another one"
    assert command("--dist", dist) == f"site/build.py: --dist: {expected}"
    assert files(dist) == before
    assert list(tmp_path.iterdir()) == [dist]


def test_files_written_during_a_build_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dist = tmp_path / "dist"

    def interfere(made: Path, *_: object) -> None:
        write_site(made, text="new")
        dist.mkdir()
        (dist / "mine.txt").touch()

    monkeypatch.setattr(build, "_build", interfere)
    with pytest.raises(SiteError, match=r"^--dist: expected a new or empty folder"):
        build.build(dist)
    assert set(files(tmp_path)) == {"dist/mine.txt"}


def test_a_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., str]) -> None:
    monkeypatch.setattr(build, "_build", unreachable)
    file = tmp_path / "file.txt"
    file.write_text("mine")
    assert f"or one with a site, got {file}; name another one" in command("--dist", file)
    below = command("--dist", file / "dist")  # its parent cannot be created
    assert below.startswith("site/build.py: ")
    assert str(file) in below
    assert files(tmp_path) == {"file.txt": b"mine"}


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "index.html"), SiteError("stopped")]
)
def test_a_failed_build_keeps_the_older_site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., str], error: Exception
) -> None:
    def fail(made: Path, *_: object) -> None:
        (made / "part").touch()
        raise error

    monkeypatch.setattr(build, "_build", fail)
    dist = tmp_path / "dist"
    write_site(dist, text="old")
    before = files(dist)
    assert command("--dist", dist) == f"site/build.py: {error}"
    assert files(dist) == before
    assert list(tmp_path.iterdir()) == [dist]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("state", ["absent", "site"])
def test_a_site_that_cannot_be_moved_leaves_the_older_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    dist = tmp_path / "dist"
    if state == "site":
        write_site(dist, text="old")
    before = files(tmp_path)
    rename = Path.rename

    def interrupted(source: Path, target: Path) -> Path:
        if source.name == "dist" and source != dist:
            raise KeyboardInterrupt
        return rename(source, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build.build(dist)
    assert files(tmp_path) == before


def test_a_support_matrix_that_does_not_exist_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., str]
) -> None:
    monkeypatch.setattr(build, "_build", unreachable)
    for path in (tmp_path / "absent.md", tmp_path):
        message = command("--dist", tmp_path / "dist", "--support", path)
        assert message.startswith(f"site/build.py: --support: expected a file, got {path}; ")
    assert list(tmp_path.iterdir()) == []


def test_the_reference_gets_the_support_matrix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[tuple[object, ...]] = []
    monkeypatch.setattr(build, "run", lambda _, *words, environment: ran.append(words))
    matrix = tmp_path / "support.md"
    for support in (matrix, None):
        build.build_reference(tmp_path / "reference", Path("python"), support, "0")
    assert [words[-2:] for words in ran] == [("--support", matrix), ("--out", tmp_path / "reference")]


@pytest.mark.usefixtures("quick")
def test_a_site_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "MAX_SITE_BYTES", 10)
    with pytest.raises(SiteError, match=r"^the site: expected at most 0\.0 MiB, got "):
        build.build(tmp_path / "dist")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["not a URL", "http://127.0.0.1:1/a b", "http://127.0.0.1:1/", "absent/", "other/"])
def test_a_wrong_url_of_pyodide_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., str], url: str
) -> None:
    """A text that is not a URL, an invalid URL, a server that does not answer, one without the file, and one with
    another file."""
    monkeypatch.setattr(build, "prepare", unreachable)
    served = tmp_path / "served"
    (served / "other").mkdir(parents=True)
    (served / "other" / distribution.LOCK).write_text("{}")
    parent = tmp_path / "parent"
    with running(serve.make_server(served)) as origin:
        url = f"{origin}/{url}" if url.endswith(("absent/", "other/")) else url
        message = command("--dist", parent / "dist", "--pyodide", url)
    assert re.match(
        r"site/build.py: --pyodide: expected the URL of (a release's folder|Pyodide 0\.27\.7), got ", message
    )
    assert url.rstrip("/") + "/" in message
    assert list(parent.iterdir()) == []


def test_a_failed_download_of_pyodide_is_an_error(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: Callable[..., str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(version: str) -> Path:
        raise releases.ReleaseError(f"{version} is not there")

    monkeypatch.setattr(releases, "fetch", fail)
    monkeypatch.setattr(build, "prepare", lambda: Path("python"))
    monkeypatch.setattr(build, "build_wheel", lambda *_: tmp_path / WHEEL)
    expected = "Pyodide 0.27.7: all downloads failed: 0.27.7 is not there; check the network and try again"
    assert command("--dist", tmp_path / "dist") == f"site/build.py: {expected}"
    assert capsys.readouterr().out == "fetching Pyodide 0.27.7\n"
    assert list(tmp_path.iterdir()) == []


def test_a_failed_command_shows_the_end_of_its_output() -> None:
    program = "import sys; print('middle ' * 1000, flush=True); print('end', file=sys.stderr); sys.exit(3)"
    with pytest.raises(SiteError, match=r"^the step: exit status 3\n") as caught:
        commands.output_of("the step", sys.executable, "-c", program)
    assert str(caught.value).endswith("middle \nend")
    assert len(str(caught.value)) < commands.MAX_OUTPUT_CHARS + 50
    with pytest.raises(SiteError, match=r"^the step: cannot run \S*absent: No such file"):
        commands.output_of("the step", Path(__file__).with_name("absent"))


def test_a_step_is_announced_before_it_runs() -> None:
    """The name of the step is flushed at once, even into a pipe: os._exit() does not flush what is still buffered."""
    program = f"""
import os, sys
sys.path.append({str(SITE)!r})
import commands
try:
    commands.run("the step", "absent-program")
except commands.SiteError:
    os._exit(7)
"""
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run([sys.executable, "-c", program], env=buffered, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("the step\n", "", 7)


@pytest.mark.parametrize("port", ["65536", "99999", "-1", "1.5", "http"])
def test_a_number_that_is_not_a_port_is_refused(
    port: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["serve.py", "--port", port])
    with pytest.raises(SystemExit):
        serve.main()
    assert capsys.readouterr().err.endswith(f"--port: expected a number from 0 to 65535, got {port}\n")


def test_serving_needs_a_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["serve.py", "--dist", str(tmp_path), "--port", "65535"])
    with pytest.raises(SystemExit, match=f"expected a built site in {tmp_path}, found none; run python site/build.py"):
        serve.main()


def test_a_virtual_environment_is_kept_until_its_requirements_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / "made"
    venv.create(made, with_pip=True)  # once, because it takes long; the others are copies
    monkeypatch.setattr(
        virtual_environment.venv, "create", lambda folder, *, with_pip: shutil.copytree(made, folder, symlinks=True)
    )
    folder, requirements = tmp_path / "environment", tmp_path / "requirements.txt"
    requirements.write_text("# none\n")
    python = virtual_environment.create(folder, requirements)
    assert python.exists()
    (folder / "mark").touch()
    assert virtual_environment.create(folder, requirements) == python
    assert (folder / "mark").exists()
    requirements.write_text("./absent-1.0-py3-none-any.whl\n")
    for _ in range(2):  # an incomplete environment is not kept
        with pytest.raises(SiteError, match=r"^pip could not (.|\n)*absent-1\.0"):
            virtual_environment.create(folder, requirements)
        assert not (folder / "mark").exists()
        (folder / "mark").touch()


def test_python_without_venv_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def create(folder: Path, *, with_pip: bool) -> None:
        raise OSError("ensurepip is not available")

    monkeypatch.setattr(virtual_environment.venv, "create", create)
    (tmp_path / "requirements.txt").touch()
    with pytest.raises(SiteError) as caught:
        virtual_environment.create(tmp_path / "environment", tmp_path / "requirements.txt")
    assert str(caught.value) == (
        f"cannot create {tmp_path / 'environment'}: ensurepip is not available\n"
        "install Python's modules venv and ensurepip (Debian: python3-venv)"
    )
