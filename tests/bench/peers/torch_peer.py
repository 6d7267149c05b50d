"""PyTorch on the CPU as a peer, in inference mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch.nn import functional

from tests.bench.cases import Case
from tests.bench.inputs import HostArray
from tests.bench.peers import Call, Peer, convert


def open(threads: int) -> Peer:
    """Sets the number of threads, and turns inference mode on until the peer is freed."""
    torch.set_num_threads(threads)
    return TorchPeer(threads)


class TorchPeer:
    """Computes with the functions of _FUNCTIONS, or those of the same name in torch."""

    name = "torch"

    def __init__(self, threads: int) -> None:
        self.settings = f"torch {torch.__version__}, {threads} thread{'s' * (threads > 1)}, inference mode"
        self._mode = torch.inference_mode()  # kept, because the mode ends when this object is freed
        self._mode.__enter__()

    def call(self, case: Case) -> Call | None:
        """Returns a call of PyTorch's function on PyTorch's tensors."""
        function = _FUNCTIONS.get(case.operation.name) or getattr(torch, case.operation.name, None)
        if not callable(function):
            return None
        arguments = convert(case.arguments, _array)
        if case.operation.name == "astype":
            arguments = (arguments[0], getattr(torch, arguments[1]))
        keywords = dict(case.keywords)
        if "dtype" in keywords:
            keywords["dtype"] = getattr(torch, str(keywords["dtype"]))
        return Call(function, arguments, keywords)

    def numbers(self, result: Any, positions: Sequence[int]) -> list[float]:
        """Returns some elements as Python floats; several tensors are joined."""
        parts = result if isinstance(result, tuple) else (result,)
        joined = torch.cat([part.reshape(-1).double() for part in parts])
        values: list[float] = joined[list(positions)].tolist()
        return values


def _array(value: HostArray) -> torch.Tensor:
    dtype = getattr(torch, value.dtype)
    return torch.frombuffer(bytearray(value.data), dtype=dtype).reshape(value.shape).clone()


def _layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return functional.layer_norm(x, x.shape[-1:], weight, bias)


def _take(x: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    return torch.index_select(x, 0, indices)


def _softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, -1)


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "astype": torch.Tensor.to,
    "matvec": torch.mv,
    "norm_l2": torch.linalg.vector_norm,
    "fma": lambda x1, x2, x3: torch.addcmul(x3, x1, x2),
    "equal": torch.eq,
    "not_equal": torch.ne,
    "leaky_relu": functional.leaky_relu,
    "silu": functional.silu,
    "gelu": functional.gelu,
    "softplus": functional.softplus,
    "mish": functional.mish,
    "elu": functional.elu,
    "hardswish": functional.hardswish,
    "softmax": _softmax,
    "layer_norm": _layer_norm,
    "linear": functional.linear,
    "embedding": functional.embedding,
    "flip": lambda x: torch.flip(x, tuple(range(x.ndim))),
    "log_softmax": lambda x: torch.log_softmax(x, -1),
    "rms_norm": lambda x, weight: functional.rms_norm(x, x.shape[-1:], weight, 1e-5),
    "tile": lambda x, count: torch.tile(x, (count,)),
    "conv2d": functional.conv2d,
    "scaled_dot_product_attention": functional.scaled_dot_product_attention,
    "max_pool2d": functional.max_pool2d,
    "avg_pool2d": functional.avg_pool2d,
    "var": partial(torch.var, correction=0),
    "std": partial(torch.std, correction=0),
    "max": torch.amax,
    "min": torch.amin,
    "take": _take,
    "permute_dims": torch.permute,
}
