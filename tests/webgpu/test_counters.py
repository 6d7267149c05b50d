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


def test_counters_of_other_devices_and_after_a_reset(fake: FakePlayer) -> None:
    """Without a device, the counters are sums, and the sizes those of the CPU. A reset keeps them."""
    floats(1.0).tolist()
    before = counters("wgpu")
    assert (counters(None), counters("cpu")) == (before, [0] * len(COUNTERS))
    assert lw.memory_stats()["allocated_bytes"] == lw.memory_stats("cpu")["allocated_bytes"]
    lw.reset("wgpu")
    assert counters("wgpu") == before


@pytest.mark.parametrize("name", ["no such device", 3])
def test_other_names_are_refused(fake: FakePlayer, name: object) -> None:
    with pytest.raises(lw.LanewiseError, match="expected a backend"):
        lw.memory_stats(name)  # type: ignore[arg-type]
