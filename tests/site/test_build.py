"""Tests site/build.py: what it writes, what it refuses, and that a failure leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest
import virtual_environment


def test_a_virtual_environment_is_kept_until_its_requirements_change(tmp_path: Path) -> None:
    folder, requirements = tmp_path / "environment", tmp_path / "requirements.txt"
    requirements.write_text("# none\n")
    python = virtual_environment.create(folder, requirements)
    assert python.exists()
    (folder / "mark").touch()
    assert virtual_environment.create(folder, requirements) == python
    assert (folder / "mark").exists()
    requirements.write_text("./absent-1.0-py3-none-any.whl\n")
    for _ in range(2):  # an incomplete environment is not kept
        with pytest.raises(virtual_environment.VirtualEnvironmentError, match=r"^pip could not (.|\n)*absent-1\.0"):
            virtual_environment.create(folder, requirements)
        assert not (folder / "mark").exists()
        (folder / "mark").touch()


def test_python_without_venv_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def create(folder: Path, *, with_pip: bool) -> None:
        raise OSError("ensurepip is not available")

    monkeypatch.setattr(virtual_environment.venv, "create", create)
    (tmp_path / "requirements.txt").touch()
    with pytest.raises(virtual_environment.VirtualEnvironmentError) as caught:
        virtual_environment.create(tmp_path / "environment", tmp_path / "requirements.txt")
    assert str(caught.value) == (
        f"cannot create {tmp_path / 'environment'}: ensurepip is not available\n"
        "install Python's modules venv and ensurepip (Debian: python3-venv)"
    )
