"""NumPy with OpenBLAS's kernels for AVX-512, whatever it takes the processor for."""

from __future__ import annotations

from tests.bench.peers import Peer
from tests.bench.peers.elsewhere import Elsewhere
from tests.bench.peers.numpy_peer import FOR_AVX512

NAME = "numpy-skylakex"
PRODUCTS = ("matmul", "matvec", "vecmat", "linear", "dot", "norm_l2", "outer", "conv2d")  # what OpenBLAS computes


def open(threads: int) -> Peer:
    """In a process of its own: OpenBLAS reads the variable when it is loaded."""
    return Elsewhere(NAME, "numpy", threads, FOR_AVX512, PRODUCTS)
