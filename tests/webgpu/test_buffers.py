"""Tests when a pool frees its unused buffers, on a fake device that only records their sizes. Needs no adapter."""

from __future__ import annotations

import itertools

import pytest

from lanewise.errors import OutOfMemoryError
from lanewise.webgpu.buffers import Pool, size_class
from lanewise.webgpu.device import Limits

MIB = 1024**2
MAX_UNUSED = 256 * MIB


class CountingDevice:
    """A fake device, whose buffers are numbers. `sizes` maps each buffer that is not destroyed to its size."""

    limits = Limits(buffer=2 * MAX_UNUSED, binding=2 * MAX_UNUSED, groups=65_535)

    def __init__(self) -> None:
        self.sizes: dict[int, int] = {}
        self._numbers = itertools.count()

    def buffer(self, size: int) -> int:
        number = next(self._numbers)
        self.sizes[number] = size
        return number

    def destroy(self, buffer: int) -> None:
        del self.sizes[buffer]


def opened(budget: int | None) -> tuple[Pool, CountingDevice, list[int]]:
    """Returns a pool with a budget of bytes, its device, and a list. Whenever the pool asks for commands to be
    submitted, the number of existing buffers is appended to the list."""
    device, settled = CountingDevice(), []
    return Pool(device, budget, lambda: settled.append(len(device.sizes))), device, settled


def check(pool: Pool, device: CountingDevice, used: int) -> None:
    pool._collect()
    assert pool.allocated == sum(device.sizes.values())
    assert pool.allocated - pool.unused == used


def test_unused_buffers_make_room_within_the_budget() -> None:
    pool, device, settled = opened(4 * MIB)
    kept = pool.allocate(MIB)
    pool.allocate(2 * MIB).release()
    check(pool, device, MIB)
    other = pool.allocate(3 * MIB)
    assert settled == [2]  # commands were submitted once, when both buffers still existed
    check(pool, device, 4 * MIB)
    with pytest.raises(OutOfMemoryError, match="cannot allocate"):
        pool.allocate(256)
    other.release()
    kept.release()
    check(pool, device, 0)


def test_a_pool_without_a_budget_keeps_a_limited_number_of_unused_bytes() -> None:
    pool, device, settled = opened(None)
    for size in (MAX_UNUSED, MIB):
        pool.allocate(size).release()
        check(pool, device, 0)
    assert (pool.unused, settled) == (MAX_UNUSED + MIB, [])
    kept = pool.allocate(2 * MIB)
    assert (pool.unused, settled) == (0, [2])
    check(pool, device, kept.capacity)


def test_a_buffer_of_the_same_class_is_reused_without_freeing() -> None:
    pool, device, settled = opened(MIB)
    pool.allocate(MIB).release()
    again = pool.allocate(MIB - 1)
    assert (list(device.sizes), settled) == ([again.handle], [])
    check(pool, device, MIB)


def test_memory_up_to_the_budget_is_not_freed() -> None:
    pool, device, settled = opened(4 * MIB)
    kept = pool.allocate(MIB)
    pool.allocate(MIB).release()
    other = pool.allocate(2 * MIB)
    assert (settled, pool.unused, pool.allocated) == ([], MIB, 4 * MIB)
    check(pool, device, kept.capacity + other.capacity)


def test_trimming_frees_what_was_just_dropped() -> None:
    pool, device, _ = opened(None)
    kept = pool.allocate(MIB)
    pool.allocate(2 * MIB)
    pool.trim()
    assert list(device.sizes) == [kept.handle]
    check(pool, device, MIB)
    again = pool.allocate(2 * MIB)
    assert again.handle in device.sizes


@pytest.mark.parametrize(("buffer", "binding"), [(1003, 2000), (2000, 1001), (1000, 1000)])
def test_a_buffer_has_at_most_the_whole_words_of_both_limits(
    monkeypatch: pytest.MonkeyPatch, buffer: int, binding: int
) -> None:
    monkeypatch.setattr(CountingDevice, "limits", Limits(buffer, binding, groups=1))
    pool, _, _ = opened(None)
    assert pool.allocate(1000).capacity == 1000
    with pytest.raises(OutOfMemoryError, match=r"expected a tensor of at most 1000 bytes, .*, got 1001 bytes"):
        pool.allocate(1001)


@pytest.mark.parametrize(
    ("size", "rounded"),
    [
        (0, 256),
        (1, 256),
        (256, 256),
        (257, 512),
        (4096, 4096),
        (4097, 4608),
        (8191, 8192),
        (8192, 8192),
        (8193, 9216),
        (MIB + 1, MIB * 9 // 8),
        (MIB * 2 - 1, MIB * 2),
    ],
)
def test_sizes_are_rounded_up_to_one_of_eight_per_power_of_two(size: int, rounded: int) -> None:
    assert size_class(size) == rounded
