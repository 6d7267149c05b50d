"""The memory of tensors: the cache of freed blocks (native/extension/tensor/storage.c), and estimates for
transformers."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Final, NamedTuple

from lanewise import _ext
from lanewise.backends import discovery, registry, selection
from lanewise.backends.backend import Backend, parse_backend, place_of
from lanewise.backends.devices import GIGABYTE
from lanewise.errors import ArgumentError, OutOfMemoryError, named
from lanewise.functions.arguments import to_int

__all__ = [
    "MemoryEstimate", "default_cache_limit", "empty_cache", "estimate_inference_memory",
    "init_backend_with_memory_check", "initialize", "memory_stats", "reset_peak_memory_stats", "set_cache_limit",
]  # fmt: skip

# On the CPU, launches of results of this size wait in chains. Smaller ones stay in L2.
_CHAIN_BYTES: Final = 1 << 18

_STATS: Final = (
    *("allocated_bytes", "peak_allocated_bytes", "cached_bytes", "reserved_bytes", "cache_limit_bytes"),
    *("num_allocs", "num_cache_hits", "num_alloc_retries", "uploads", "readbacks", "dispatches", "submissions"),
    *("chains_compiled", "chains_run", "chains_kept"),
)


@named("memory_stats")
def memory_stats(device: Backend | str | None = None) -> dict[str, int]:
    """Returns statistics about the memory of tensors on a device: on the CPU by default. Sizes are in bytes.

    `allocated_bytes` are in use now, `peak_allocated_bytes` is their maximum since the last reset. Memory borrowed from
    other libraries does not count; requests under 64 bytes count as 64, others as up to a quarter more. `cached_bytes`
    are freed blocks kept for reuse, at most `cache_limit_bytes`, which set_cache_limit() changes for the CPU only;
    `reserved_bytes` is allocated plus cached bytes.
    Of `num_allocs` allocations, `num_cache_hits` reused cached blocks, and `num_alloc_retries` had to empty the cache.
    `uploads` and `readbacks` count the copies from the CPU to the device, and back; `dispatches` counts the
    kernels that WebGPU was given to run, and `submissions` the batches in which it was. `chains_compiled` counts the
    kernels made of several elementwise operations, and `chains_run` how often several operations ran as one.
    lw.reset() does not reset these six. `chains_kept` kernels of chains are in memory now, at most 128 on a device:
    those that ran last. Without an argument, these seven are sums over all GPUs, and `chains_run` counts those of the
    CPU, too; a CPU backend's are 0.

    >>> import lanewise as lw
    >>> before = lw.memory_stats()["allocated_bytes"]
    >>> x = lw.zeros((1024, 1024))
    >>> lw.memory_stats()["allocated_bytes"] - before
    4194304
    """
    name = None if device is None else selection.open_place(device)
    return dict(zip(_STATS, _ext.memory_stats(name), strict=True))


def reset_peak_memory_stats() -> None:
    """Resets `peak_allocated_bytes` to what is allocated now.

    >>> import lanewise as lw
    >>> lw.reset_peak_memory_stats()
    """
    _ext.reset_peak_memory_stats()


def empty_cache() -> None:
    """Returns all cached memory to the system.

    >>> import lanewise as lw
    >>> lw.empty_cache()
    >>> lw.memory_stats()["cached_bytes"]
    0
    """
    _ext.empty_cache()


@named("set_cache_limit")
def set_cache_limit(limit: int | None) -> int:
    """Limits the memory cache to `limit` bytes, freeing cached blocks if necessary, and returns the previous limit.

    None restores the default: LANEWISE_CACHE_LIMIT, or else a sixteenth of the memory that this process may use. Raises
    ArgumentError unless 0 <= limit < 2**63, and ArgumentTypeError if the limit is not an int.

    >>> import lanewise as lw
    >>> before = lw.set_cache_limit(2**20)
    >>> lw.set_cache_limit(before)
    1048576
    """
    number = default_cache_limit() if limit is None else to_int("limit", limit, minimum=0)
    if number >= 2**63:
        raise ArgumentError(f"expected limit below 2**63, got {number}")
    before = memory_stats()["cache_limit_bytes"]
    _ext.set_cache_limit(number)
    return before


@named("LANEWISE_CACHE_LIMIT")
def default_cache_limit() -> int:
    """Returns the cache's default limit. The extension calls this at the first large allocation or memory_stats()."""
    text = os.environ.get("LANEWISE_CACHE_LIMIT", "").strip()
    if not text:
        from lanewise.backends import hardware  # imported late to keep `import lanewise` fast

        return (hardware.total_memory() or 2**32) // 16
    if not text.isdecimal() or len(text) > 19 or int(text) >= 2**63:  # int() raises ValueError for thousands of digits
        raise ArgumentError(f"expected a number of bytes below 2**63, got {text!r:.60}")
    return int(text)


def initialize() -> None:
    """Applies LANEWISE_CACHE_LIMIT, and LANEWISE_FUSE to the CPU, when lanewise is imported."""
    if os.environ.get("LANEWISE_CACHE_LIMIT"):
        _ext.set_cache_limit(default_cache_limit())
    with suppress(ArgumentError):  # that is for programs that ask for a GPU
        if not registry.switch("LANEWISE_FUSE", default=True):
            return
    _ext.set_chain_bytes(_CHAIN_BYTES)


class MemoryEstimate(NamedTuple):
    """The bytes of memory that inference needs, by purpose."""

    model_bytes: int
    kv_bytes: int
    activation_bytes: int

    @property
    def total_bytes(self) -> int:
        """The bytes for all purposes."""
        return self.model_bytes + self.kv_bytes + self.activation_bytes

    def total_gb(self) -> float:
        """Returns total_bytes in units of 2^30 bytes."""
        return self.total_bytes / GIGABYTE


@named("estimate_inference_memory")
def estimate_inference_memory(
    hidden_size: int,
    intermediate_size: int,
    n_layers: int,
    vocab_size: int,
    n_heads: int,
    n_kv_heads: int,
    max_seq_len: int,
    dtype_bytes: int = 4,
) -> MemoryEstimate:
    """Estimates the memory that a decoder-only transformer needs for inference with batch size 1.

    With head = hidden / heads, a layer has 2 * hidden^2 weights for queries and output, 2 * hidden * kv_heads * head
    for keys and values, 3 * hidden * intermediate for a gated feed-forward and 2 * hidden for two norms. The model adds
    the embedding, the output matrix and the last norm. For each position, layer and key-value head, a key and a value
    are kept. Activations are estimated as 2 * (hidden + 2 * intermediate) numbers.

    >>> import lanewise as lw
    >>> estimate = lw.estimate_inference_memory(4096, 14336, 32, 32000, 32, 8, 4096, 4)
    >>> estimate.model_bytes, estimate.kv_bytes, estimate.activation_bytes
    (28966928384, 1073741824, 262144)
    >>> estimate.total_bytes, round(estimate.total_gb(), 2)
    (30040932352, 27.98)
    """
    sizes = {
        "hidden_size": hidden_size,
        "intermediate_size": intermediate_size,
        "n_layers": n_layers,
        "vocab_size": vocab_size,
        "n_heads": n_heads,
        "n_kv_heads": n_kv_heads,
        "max_seq_len": max_seq_len,
        "dtype_bytes": dtype_bytes,
    }
    for name, size in sizes.items():
        to_int(name, size, minimum=1)
    if hidden_size % n_heads:
        raise ArgumentError(
            f"expected hidden_size to be a multiple of n_heads, got hidden_size {hidden_size} and n_heads {n_heads}"
        )
    kv_width = n_kv_heads * (hidden_size // n_heads)
    layer = 2 * hidden_size**2 + 2 * hidden_size * kv_width + 3 * hidden_size * intermediate_size + 2 * hidden_size
    model = n_layers * layer + 2 * vocab_size * hidden_size + hidden_size
    cache = 2 * n_layers * max_seq_len * kv_width
    activations = 2 * (hidden_size + 2 * intermediate_size)
    return MemoryEstimate(model * dtype_bytes, cache * dtype_bytes, activations * dtype_bytes)


@named("init_backend_with_memory_check")
def init_backend_with_memory_check(
    backend: Backend | str = Backend.AUTO, required_bytes: int | MemoryEstimate = 0
) -> Backend:
    """Of the backends that `backend` stands for, opens and returns the best one with enough free memory.

    `required_bytes` is an int or a MemoryEstimate. Memory of unknown size counts as enough. Raises OutOfMemoryError if
    none of these backends has enough, and BackendUnavailableError if this machine has none of them.

    >>> import lanewise as lw
    >>> lw.init_backend_with_memory_check("cpu", 1000).is_gpu
    False
    """
    total = required_bytes.total_bytes if isinstance(required_bytes, MemoryEstimate) else required_bytes
    required = to_int("required_bytes", total, minimum=0)
    short: list[str] = []
    request = parse_backend(backend)
    for candidate in selection.available(request):
        device = selection.device_for(request, candidate)
        free = discovery.free_memory_of(candidate, device)
        if free is None or free >= required:
            return selection.init_backend(place_of(candidate, device.index if device else 0))
        short.append(f"{candidate.label} has {free / GIGABYTE:.2f} GB free")
    raise OutOfMemoryError(
        f"expected {required / GIGABYTE:.2f} GB of free memory; {'; '.join(dict.fromkeys(short))}. "
        "Use a smaller model, fewer bytes per weight, or a shorter context"
    )
