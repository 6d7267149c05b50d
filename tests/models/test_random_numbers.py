"""Tests rand and randn against NumPy models, which compute the bits of every random number from the seed."""

import numpy as np
import pytest

import lanewise as lw
from lanewise.functions import creation
from tests.models.comparison import agree
from tests.models.random_numbers import MODELS, quantile, words

TASK = 1 << 15  # roughly the elements per task (threads share the tasks of a large call); kernels compute 256 at once
COUNTS = [1, 2, 3, 4, 5, 255, 256, 257, 1000, TASK - 1, TASK, TASK + 1, 3 * TASK + 259]
SEEDS = [0, 1, -1, 12345678901, 2**32 - 1, 2**32, 2**63 - 1, -(2**63)]
# Around the sizes of a Philox block (4 words), a batch of a kernel (256) and a task, and where the number of the block
# exceeds 32 bits.
OFFSETS = [0, 1, 2, 3, 4, 255, 256, 257, TASK - 1, 4 * 2**32 - 7, 4 * 2**32, 2**62 + 1, 2**63 - 1]


@pytest.mark.parametrize("operation", MODELS)
class TestStreams:
    def test_counts(self, operation):
        for count in COUNTS:
            agree(operation, count, seed=7)
            agree(operation, count, seed=7, offset=3)

    def test_seeds(self, operation):
        for seed in SEEDS:
            agree(operation, (5, 7, 30), seed=seed)

    def test_offsets(self, operation):
        for offset in OFFSETS:
            agree(operation, 600, seed=-5, offset=offset)

    def test_many_numbers(self, operation):
        agree(operation, 1 << 18, seed=2024, offset=11)

    def test_split_calls(self, operation):
        """Calls of any length continue the stream if `offset` is the count of earlier numbers."""
        whole = MODELS[operation](100_000, 9)
        at = 0
        for count in (1, 2, 3, 250, 255, 256, 257, 7, TASK - 5, TASK, 1021):
            part = np.asarray(getattr(lw, operation)(count, seed=9, offset=at))
            assert part.tobytes() == whole[at : at + count].tobytes(), (at, count)
            at += count

    def test_the_stream_of_the_process(self, operation, monkeypatch):
        """Calls without a seed continue one stream, whose seed is 7 random bytes."""
        monkeypatch.setattr(creation, "_stream", creation._Stream())
        monkeypatch.setattr(creation.os, "urandom", lambda count: bytes(range(250 - count, 250)))
        seed = int.from_bytes(bytes(range(243, 250)), "little")
        at = 0
        for shape in (3, (5, 7), 0, 1000, (2, TASK), 1):
            expected = MODELS[operation](shape, seed, at)
            assert np.asarray(getattr(lw, operation)(shape)).tobytes() == expected.tobytes(), at
            at += expected.size


def test_tails(host):
    """rand and randn use the same random word at a position, so the results of rand next to 0 and 1 mark the positions
    where randn is beyond 3.1 standard deviations: one in 512. For most of them, randn uses its polynomial for tails."""
    count = 1 << 24
    uniform = np.asarray(lw.rand(count, seed=1))
    positions = np.flatnonzero((uniform < 2.0**-10) | (uniform >= 1 - 2.0**-10)).astype("u8")
    assert len(positions) > 32_000
    assert np.asarray(lw.randn(count, seed=1))[positions].tobytes() == quantile(words(positions, 1)).tobytes()


def test_known_answers():
    """Random123, the library of Philox's authors, publishes these words of Philox4x32-10 for counter 0 and key 0."""
    assert words(np.arange(4, dtype="u8"), 0).tolist() == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
