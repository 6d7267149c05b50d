"""Tests what memory_stats() counts: per device, and summed over all GPUs."""

from __future__ import annotations

import pytest
from harness import floats
from recording import FakePlayer

import lanewise as lw

COUNTERS = ("uploads", "readbacks", "dispatches", "submissions", "chains_compiled", "chains_run", "chains_kept")


def counters(device: str | None) -> list[int]:
    stats = lw.memory_stats(device)
    return [stats[name] for name in COUNTERS]


def test_a_device_counts_what_it_was_given_to_do(fake: FakePlayer) -> None:
    before = counters("wgpu")
    x = floats(1.0, 2.0)
    (x + 1).tolist()
    (x + 2).tolist()
    assert [now - then for now, then in zip(counters("wgpu"), before, strict=True)] == [1, 2, 2, 2, 0, 0, 0]


def test_without_a_device_the_counters_are_sums_and_the_sizes_those_of_the_cpu(fake: FakePlayer) -> None:
    floats(1.0).tolist()
    assert counters(None) == counters("wgpu")
    assert lw.memory_stats()["allocated_bytes"] == lw.memory_stats("cpu")["allocated_bytes"]


def test_the_cpu_counts_none(fake: FakePlayer) -> None:
    floats(1.0).tolist()
    assert counters("cpu") == [0] * len(COUNTERS)


def test_a_reset_keeps_the_counts(fake: FakePlayer) -> None:
    floats(1.0).tolist()
    before = counters("wgpu")
    lw.reset("wgpu")
    assert counters("wgpu") == before


@pytest.mark.parametrize("name", ["no such device", 3])
def test_other_names_are_refused(fake: FakePlayer, name: object) -> None:
    with pytest.raises(lw.LanewiseError, match="expected a backend"):
        lw.memory_stats(name)  # type: ignore[arg-type]
