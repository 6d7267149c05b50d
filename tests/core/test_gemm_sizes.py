"""Tests that the blocks of matrix products fit the caches that the host reports, and that there are enough for all
threads, on every instruction set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import c_programs
import pytest

KIB, MIB = 2**10, 2**20
RUNS = [run for run in c_programs.RUNS if run.command[:1] != ("qemu-x86_64",)]  # sizes do not depend on the processor


def _lines(run: c_programs.Run, folder: Path) -> list[dict[str, Any]]:
    """Returns what gemm_sizes.c prints."""
    c_programs.skip_unless_possible(run)
    return [json.loads(line) for line in c_programs.output(run, c_programs.HERE / "gemm_sizes.c", folder).splitlines()]


def _rows(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the lines that have sizes."""
    return [line for line in lines if "rows" in line]


@pytest.fixture(scope="module", params=RUNS, ids=[run.name for run in RUNS])
def run(request) -> c_programs.Run:
    return request.param


@pytest.fixture(scope="module")
def lines(run, tmp_path_factory) -> list[dict[str, Any]]:
    """What gemm_sizes.c prints."""
    return _lines(run, tmp_path_factory.mktemp("sizes"))


@pytest.fixture
def printed(run, lines) -> tuple[bool, dict[str, int], list[dict[str, Any]]]:
    """Whether the host may report caches, the instruction set's constants, and the sizes for each product and
    processor."""
    return run.triple != c_programs.WASM, lines[0], _rows(lines)


def _sizes(row: dict[str, Any]) -> tuple[int, ...]:
    return tuple(row[name] for name in ("rows", "columns", "depth", "block", "task_columns"))


def _call(row: dict[str, Any]) -> tuple[int, ...]:
    return tuple(row[name] for name in ("threads", "m", "n", "k"))


def test_every_thread_gets_a_block(lines):
    """256 x 256 is enough work for 8 threads, and 512 x 512 for 16."""
    grids = [line for line in lines if "is_grid" in line]
    assert [(line["n"], line["threads"]) for line in grids] == [(256, 8), (512, 16)]
    for line in grids:
        assert line["is_grid"] and line["tasks"] % line["threads"] == 0


def test_caches_do_not_change_the_order_of_sums(printed):
    _, constants, rows = printed
    for row in rows:
        blocks = -(-row["k"] // constants["KC"])
        assert row["depth"] == -(-row["k"] // blocks)


def test_large_and_unknown_caches_give_the_same_sizes(printed):
    knows_caches, _, rows = printed
    unknown = {_call(row): _sizes(row) for row in rows if row["l2"] == row["cache"] == 0}
    large = [row for row in rows if row["l2"] >= MIB and row["cache"] >= 16 * MIB]
    assert len(large) == 4 * len(unknown)
    for row in large if knows_caches else rows:
        assert _sizes(row) == unknown[_call(row)]


def test_blocks_fit_small_caches(printed):
    """What should stay in a cache takes at most its share, unless that is less than a panel: half of L2, and of the
    last-level cache a quarter for A and half for B."""
    knows_caches, constants, rows = printed
    smaller = dict.fromkeys(("rows", "columns", "block", "task_columns"), 0)
    unknown = {_call(row): row for row in rows if row["l2"] == row["cache"] == 0}
    for row in rows if knows_caches else ():
        bytes_per = 4 * row["depth"]
        parts = {
            "rows": (row["cache"] / 4, constants["MC"]),
            "columns": (row["cache"] / 2, constants["NR"]),
            **({"block": (row["l2"] / 2, constants["MR"])} if row["is_divided"] else {}),
            **({"task_columns": (row["l2"] / 2, constants["NR"])} if row["is_long"] else {}),
        }
        for name, (room, least) in parts.items():
            assert row[name] * bytes_per <= room or row[name] == least or room == 0, (name, row)
            assert row[name] % (constants["NR"] if "columns" in name else constants["MR"]) == 0
            smaller[name] += row[name] < unknown[_call(row)][name]
        if row["threads"] == 1 and not (row["is_divided"] or row["is_long"]):  # L2 holds all of A
            assert row["m"] * bytes_per <= row["l2"] / 2 or row["l2"] == 0
    has_long = any(row["is_long"] for row in rows)
    assert all(smaller[name] or (name == "task_columns" and not has_long) for name in smaller) == knows_caches


def test_sizes_of_avx512(tmp_path: Path) -> None:
    """Half of 512 KB of L2 holds 128 columns of 512 floats, and half of 8 MB of L3 2048."""
    rows = _rows(_lines(next(run for run in RUNS if run.isa == "avx512"), tmp_path))
    found = {(row["l2"], row["cache"]): row for row in rows if row["threads"] == 1 and row["k"] == 4096}
    columns = [found[l2, 0]["task_columns"] for l2 in (32 * KIB, 256 * KIB, 512 * KIB, MIB, 2 * MIB)]
    assert columns == [32, 64, 128, 256, 256]
    assert [found[0, cache]["columns"] for cache in (2 * MIB, 8 * MIB, 16 * MIB)] == [512, 2048, 4096]
    assert [found[0, cache]["rows"] for cache in (2 * MIB, 8 * MIB, 16 * MIB)] == [192, 960, 2016]
