"""NumPy with OpenBLAS's kernels for AVX-512, even on processors for which OpenBLAS selects others."""

from __future__ import annotations

from tests.bench.peers import Peer
from tests.bench.peers.elsewhere import Elsewhere
from tests.bench.peers.numpy_peer import FOR_AVX512

NAME = "numpy-skylakex"
PRODUCTS = ("matmul", "matvec", "vecmat", "linear", "dot", "norm_l2", "outer", "conv2d")  # computed by OpenBLAS


def open(threads: int) -> Peer:
    """Starts a separate process, because OpenBLAS reads its environment variable only when it is loaded."""
    return Elsewhere(NAME, "numpy", threads, FOR_AVX512, PRODUCTS)
