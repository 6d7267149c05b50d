"""Tests, on a fake device, when the extension hands over what it has recorded, how it moves bytes, and what it does
with memory. Several threads use the real device."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from harness import Runner, on_gpu, run_threads
from openers import Switch
from recording import BATCH, FakePlayer

import lanewise as lw
from lanewise.errors import OutOfMemoryError

MIB = 1024**2


@pytest.fixture
def limited(switch: Switch) -> Callable[..., FakePlayer]:
    """Returns a function that opens a fake player with limits."""

    def opened(**limits: int) -> FakePlayer:
        player = FakePlayer()
        switch.use(lambda: player.open(**limits))
        return player

    return opened


def test_a_full_batch_is_handed_over(fake: FakePlayer) -> None:
    x = on_gpu(np.zeros(10), np.float32)
    fake.names()
    kept = [-x for _ in range(BATCH - 1)]
    assert "play" not in fake.names()
    kept.append(-x)
    assert fake.names() == ["create", "play"]
    assert [len(batch) for batch in fake.batches] == [BATCH]
    kept += [-x for _ in range(2 * BATCH + 3)]
    assert [len(batch) for batch in fake.batches] == [BATCH] * 3
    kept[-1].tolist()
    assert [len(batch) for batch in fake.batches] == [BATCH] * 3 + [3]
    results = [dispatch.buffers[1] for batch in fake.batches for dispatch in batch]
    assert results == sorted(results) and len(set(results)) == 3 * BATCH + 3  # in the order of the calls


def test_a_read_hands_over_what_is_pending(fake: FakePlayer) -> None:
    x, y = on_gpu([1.0], np.float32), on_gpu([2.0], np.float32)
    z = x + y
    fake.names()
    assert x.tolist() == [1]
    assert fake.names() == ["play", "read"]
    assert (y.tolist(), z.tolist()) == ([2], [0])
    assert fake.names() == ["read", "read"]


def test_synchronize_hands_over_what_is_pending(fake: FakePlayer) -> None:
    kept = -on_gpu([1.0], np.float32)
    fake.names()
    lw.synchronize("wgpu")
    assert [name for name in fake.names() if name != "create"] == ["play", "read"]
    del kept


def test_a_write_hands_over_only_work_that_uses_its_buffer(fake: FakePlayer) -> None:
    (first, busy), (other, idle) = fake.placed(np.zeros(30)), fake.placed(np.zeros(2000))
    result = -first
    fake.names()
    del other
    again, number = fake.placed(np.ones(2000))
    assert (number, fake.names()) == (idle, ["write"])
    del first
    once_more, number = fake.placed(np.ones(30))
    assert (number, fake.names()) == (busy, ["play", "write"])
    assert once_more.tolist() == [1] * 30 and again.shape == (2000,)
    del result


def test_reading_or_writing_nothing_leaves_the_device_alone(fake: FakePlayer) -> None:
    kept = -on_gpu([1.0], np.float32)
    fake.names()
    empty = on_gpu(np.zeros((3, 0)), np.float32)
    assert empty.tolist() == [[], [], []]
    assert not {"read", "write", "play"} & set(fake.names())
    assert kept.tolist() == [0]


@pytest.mark.parametrize(
    ("data", "written"),
    [
        (b"\1", [(0, b"\1\0\0\0")]),
        (b"\1\0\1", [(0, b"\1\0\1\0")]),
        (b"\1\0\1\1", [(0, b"\1\0\1\1")]),
        (b"\1\0\1\1\0\1\1\0\1", [(0, b"\1\0\1\1\0\1\1\0"), (8, b"\1\0\0\0")]),
        (b"\1\0\0\1" * 5, [(0, b"\1\0\0\1" * 5)]),
    ],
)
def test_bytes_are_written_in_whole_words(fake: FakePlayer, data: bytes, written: list[tuple[int, bytes]]) -> None:
    tensor = on_gpu(np.frombuffer(data, np.bool_))
    assert [call[2:] for call in fake.calls if call[0] == "write"] == written
    assert tensor.tobytes() == data


@pytest.mark.parametrize("first", range(6))
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8])
def test_bytes_are_read_in_whole_words(fake: FakePlayer, first: int, size: int) -> None:
    data = np.random.default_rng(1).integers(0, 2, 14).astype(np.bool_)
    tensor = on_gpu(data)
    np.testing.assert_array_equal(np.array(tensor[first : first + size]), data[first : first + size])
    name, _, offset, count = fake.calls[-1]
    assert (name, offset) == ("read", first // 4 * 4)
    assert count == (first + size + 3) // 4 * 4 - offset


def test_released_buffers_are_destroyed_after_the_batch_that_uses_them(fake: FakePlayer) -> None:
    x, number = fake.placed(np.zeros(1000))
    result = -x
    del x
    lw.empty_cache()
    assert "destroy" not in [name for name, *_ in fake.calls]
    assert result.shape == (1000,)
    result.tolist()
    names = [name for name, *_ in fake.calls]
    assert ("destroy", number) in fake.calls
    assert names.index("play") < names.index("destroy")


def test_released_buffers_that_nothing_uses_make_room_at_once(fake: FakePlayer) -> None:
    x, number = fake.placed(np.zeros(1000))
    del x
    lw.empty_cache()
    other, _ = fake.placed(np.zeros(1000))
    assert list(fake.sizes) != [number] and len(fake.sizes) == 1
    del other


def test_numbers_of_buffers_are_not_used_again(fake: FakePlayer) -> None:
    numbers = set()
    for _ in range(10):
        x, number = fake.placed(np.zeros(100))
        del x
        lw.empty_cache()
        numbers.add(number)
    assert len(numbers) == 10


def test_freed_memory_is_kept_up_to_the_limit(limited: Callable[..., FakePlayer]) -> None:
    player = limited(cache=8 * MIB)
    tensors = [on_gpu(np.zeros(MIB // 2), np.float32) for _ in range(8)]
    assert sum(player.sizes.values()) == 16 * MIB
    tensors.clear()
    lw.synchronize("wgpu")
    stats = lw.memory_stats("wgpu")
    assert 6 * MIB <= stats["cached_bytes"] <= 8 * MIB == stats["cache_limit_bytes"]
    assert sum(player.sizes.values()) <= 8 * MIB + 64  # 64: the buffer that synchronize() reads


def test_memory_of_the_host_does_not_count(limited: Callable[..., FakePlayer]) -> None:
    limited()
    kept = np.array(lw.zeros((10_000,)))
    assert lw.memory_stats("wgpu")["reserved_bytes"] == 0
    del kept


def test_out_of_memory_empties_the_cache_first(fake: FakePlayer) -> None:
    fake.capacity = 3 * MIB
    kept, _ = fake.placed(np.zeros(MIB // 4))
    x = -on_gpu(np.zeros(MIB // 4), np.float32)
    del x  # two buffers of one MiB are in the cache
    fake.names()
    large = on_gpu(np.zeros(MIB // 2), np.float32)
    assert fake.names() == ["play", "destroy", "destroy", "create", "write"]
    assert lw.memory_stats("wgpu")["num_alloc_retries"] == 1
    with pytest.raises(OutOfMemoryError, match="cannot allocate 1048576 bytes on wgpu: the fake is full; use smaller"):
        on_gpu(np.zeros(MIB // 4), np.float32)
    del large
    assert on_gpu(np.ones(MIB // 4), np.float32).shape == kept.shape


def test_out_of_memory_for_scratch_memory(fake: FakePlayer) -> None:
    """The launch fails at once, and its result can be computed later."""
    x = on_gpu(np.zeros((3000, 5000)), np.float32)
    out = on_gpu(np.zeros(3000), np.float32)
    fake.capacity = sum(fake.sizes.values()) + 100
    with pytest.raises(OutOfMemoryError, match="the fake is full"):
        lw.sum(x[:, ::-1], axis=1, out=out)
    fake.capacity = float("inf")
    assert not any(out.tolist())
    lw.sum(x[:, ::-1], axis=1, out=out)
    assert [each.entry for each in fake.recorded(out)] == ["main", "combine"]


def test_the_budget_includes_what_is_kept(limited: Callable[..., FakePlayer]) -> None:
    player = limited(budget=4 * MIB)
    kept = on_gpu(np.zeros(MIB // 4), np.float32)
    on_gpu(np.zeros(MIB // 2), np.float32)
    assert sum(player.sizes.values()) == 3 * MIB
    other = on_gpu(np.zeros(3 * MIB // 4), np.float32)
    assert sum(player.sizes.values()) == 4 * MIB
    limit = r"\(the limit is LANEWISE_WGPU_MEMORY, or by default the memory that .* the CPU\)"
    with pytest.raises(OutOfMemoryError, match=rf"it may use {4 * MIB} bytes, of which {4 * MIB} are in use {limit}; "):
        on_gpu([1.0])
    del other
    assert on_gpu([1.0], np.float32).tolist() == [1] and kept.shape == (MIB // 4,)


@pytest.mark.parametrize("size", [900, 1000])
def test_a_tensor_may_fill_the_largest_buffer(limited: Callable[..., FakePlayer], size: int) -> None:
    """The sizes of blocks are rounded up, but not beyond the device's limit."""
    player = limited(buffer=1000)
    assert on_gpu(np.ones(size), np.bool_).shape == (size,)
    assert all(each <= 1000 for each in player.sizes.values())


def test_a_larger_tensor_takes_several_buffers(limited: Callable[..., FakePlayer]) -> None:
    """All but the last have the largest size that is a multiple of a block's alignment."""
    player = limited(buffer=1000, cache=0)
    values = np.arange(2000) % 3 == 0
    tensor = on_gpu(values, np.bool_)
    assert sorted(player.sizes.values())[1:] == [768, 768] and sum(player.sizes.values()) >= 2000
    assert np.array_equal(tensor.numpy(), values)
    del tensor
    gc.collect()
    on_gpu([1.0], np.float32).tolist()
    assert all(each <= 256 for each in player.sizes.values())


def test_buffers_too_small_to_be_parts(limited: Callable[..., FakePlayer]) -> None:
    limited(buffer=200)
    with pytest.raises(OutOfMemoryError, match="buffers of this device are too small"):
        on_gpu(np.ones(201), np.bool_)


def test_addresses_do_not_run_out(limited: Callable[..., FakePlayer]) -> None:
    """Buffers of half of all addresses, one after the other, then one of more than there are."""
    player = limited(cache=0)
    with lw.use_backend("wgpu"):
        for _ in range(5):
            with pytest.raises(lw.BackendError, match=r"cannot run this call: .* fewer than 2\^31"):
                lw.full((2**58,), 1.0)
        assert max(call[2] for call in player.calls if call[0] == "create") == 2**60
        with pytest.raises(OutOfMemoryError, match="the host has no memory or addresses left for another buffer"):
            lw.full((2**60 - 2**58,), 1.0)
    assert on_gpu([5.0], np.float32).tolist() == [5]


def count_up(start: int, results: list[Any]) -> None:
    total = on_gpu(np.full(300, start), np.int32)
    for step in range(150):
        total = total + step
        if step % 10 == 0:
            results.append((np.array(total) == start + step * (step + 1) // 2).all())
    results.append(lw.sum(total).item() == 300 * (start + 149 * 75))


def test_threads_keep_their_order_and_results(gpu: Runner) -> None:
    """Each thread launches and reads, also while another one waits for the device."""
    results: list[list[Any]] = [[] for _ in range(6)]
    run_threads(*(partial(count_up, 1000 * i, each) for i, each in enumerate(results)))
    assert results == [[True] * 16] * 6


def test_threads_share_a_tensor(gpu: Runner) -> None:
    """Launches of all threads that change one tensor run one after the other."""
    total = on_gpu(np.zeros(1000), np.int32)

    def add() -> None:
        for _ in range(200):
            lw.add(total, 1, out=total)

    seen: list[float] = []
    run_threads(*4 * [add], lambda: seen.extend(total[0].item() for _ in range(20)))
    assert seen == sorted(seen)
    assert total.tolist() == [800] * 1000
