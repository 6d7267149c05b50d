"""Fixtures for the CUDA plugin, a shared library of CUDA kernels. Without nvcc, all tests are skipped, or fail if
LANEWISE_REQUIRE names cuda-compile or cuda. Without a GPU, tests that run kernels are skipped, or fail if
LANEWISE_REQUIRE names cuda."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), *(str(ROOT / each) for each in ("contracts", "tests", "tests/sweep", "tests/cuda"))]

import oracle_file  # noqa: E402
from generator import oracle as generated  # noqa: E402
from generator import table  # noqa: E402
from generator.schema import all_kernels  # noqa: E402
from plugin import CONTRACTS, LAUNCHED, Plugin  # noqa: E402

UNOPTIMIZED = ("-O0", "-Xcicc=-O0", "-Xptxas=-O0")  # host code, and both steps of the compilation for GPUs
REQUIRED = set(os.environ.get("LANEWISE_REQUIRE", "").split(","))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs tests with an argument `contract` once for each contract that the plugin implements."""
    if "contract" in metafunc.fixturenames:
        chosen = [each for each in CONTRACTS if each.kind.name in LAUNCHED]
        metafunc.parametrize("contract", chosen, ids=[each.operation for each in chosen])


@pytest.fixture(scope="session")
def library() -> Path:
    """The plugin's file, compiled if it is out of date. It is not optimized, which takes less than half of the time:
    only a GPU runs kernels."""
    from native.cuda import build

    if build.find_nvcc() is None:
        (pytest.fail if {"cuda", "cuda-compile"} & REQUIRED else pytest.skip)("nvcc is not on the PATH")
    return build.compile_library(build.LIBRARY.parent / "unoptimized" / build.LIBRARY.name, UNOPTIMIZED)


def opened(library: Path) -> Plugin:
    return Plugin(library, [kernel.name for kernel in all_kernels(CONTRACTS)])


@pytest.fixture(scope="session")
def plugin(library: Path) -> Plugin:
    """The plugin, loaded; this needs no GPU."""
    return opened(library)


@pytest.fixture(scope="session")
def gpu(plugin: Plugin) -> Plugin:
    """The plugin as it is built for users, on a machine with a GPU."""
    reason = plugin.missing_gpu()
    if reason:
        (pytest.fail if "cuda" in REQUIRED else pytest.skip)(f"no CUDA device: {reason}")
    from native.cuda import build

    return opened(build.compile_library())


@pytest.fixture
def oracle(contract, tmp_path: Path) -> oracle_file.Oracle:
    """The contract's oracle: cases with their inputs and the results that are expected of them."""
    path = tmp_path / "oracle.bin"
    path.write_bytes(generated.encode(contract, table.signature(CONTRACTS)))
    return oracle_file.read(path)
