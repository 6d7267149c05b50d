"""PyTorch as a peer, in inference mode, on the CPU or with CUDA."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch.nn import functional

from tests.bench.peers import Batch, Call, Peer, on_threads
from tests.cases.cases import Case, Viewed
from tests.cases.inputs import HostArray


class TorchPeer(Peer):
    """Computes with the functions of _FUNCTIONS, or those of the same name in torch."""

    name = "torch"
    lacks = ()
    operators = True

    def __init__(self, threads: int, *, cuda: bool = False) -> None:
        """With `cuda`, computes on the GPU, without the less precise float32 of tensor cores."""
        torch.set_num_threads(threads)
        place = torch.cuda.get_device_name() if cuda else on_threads(threads)
        self.settings = f"torch {torch.__version__}, {place}, inference mode"
        self._device = "cuda" if cuda else "cpu"
        if cuda:
            torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
            self.finish = lambda _: torch.cuda.synchronize()
        self._mode = torch.inference_mode()  # kept, because the mode ends when this object is freed
        self._mode.__enter__()

    def function(self, case: Case) -> Callable[..., Any] | None:
        """Returns PyTorch's function."""
        found = _FUNCTIONS.get(case.operation.name) or getattr(torch, case.operation.name, None)
        return found if callable(found) else None

    def call(self, case: Case) -> Call | Batch | None:
        """Returns a call with PyTorch's dtypes."""
        call = super().call(case)
        if not isinstance(call, Call):
            return call
        arguments, keywords = call.arguments, dict(call.keywords)
        if not case.inputs:
            keywords["device"] = self._device
        if case.operation.name == "astype":
            arguments = (arguments[0], getattr(torch, arguments[1]))
        if case.operation.name == "take_along_axis":
            arguments = (arguments[0], arguments[1].long())  # it takes no other indices
        if "dtype" in keywords:
            keywords["dtype"] = getattr(torch, str(keywords["dtype"]))
        return Call(call.function, arguments, keywords)

    def array(self, value: HostArray | Viewed) -> Any:
        """Returns a tensor on the peer's device. A reversed view is a copy, because strides are not negative there."""
        if isinstance(value, Viewed):
            backward = [axis for axis, part in enumerate(value.index) if part is not ... and (part.step or 1) < 0]
            tensor = self.array(value.array)
            return torch.flip(tensor, backward) if backward else value.of(tensor, torch.permute)
        tensor = torch.frombuffer(bytearray(value.data), dtype=getattr(torch, value.dtype))
        return tensor.reshape(value.shape).clone().to(self._device)

    def numbers(self, result: Any, positions: Sequence[int]) -> list[float]:
        """Returns some elements as Python floats; several tensors are joined."""
        parts = result if isinstance(result, tuple) else (result,)
        joined = torch.cat([part.reshape(-1).double() for part in parts])
        values: list[float] = joined[list(positions)].tolist()
        return values


_NAMES = ("leaky_relu", "silu", "gelu", "softplus", "mish", "elu", "hardswish", "linear", "embedding", "conv2d",
          "scaled_dot_product_attention", "selu", "softsign", "max_pool2d", "avg_pool2d")  # fmt: skip
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **{name: getattr(functional, name) for name in _NAMES},
    "argsort": lambda x, axis=-1: torch.argsort(x, dim=axis, stable=True),
    "asarray": lambda x, copy=None: x.clone(memory_format=torch.contiguous_format) if copy else x,
    "astype": torch.Tensor.to,
    "bitwise_invert": torch.bitwise_not,
    "cumulative_sum": torch.cumsum,
    "equal": torch.eq,
    "flip": lambda x: torch.flip(x, tuple(range(x.ndim))),
    "fma": lambda x1, x2, x3: torch.addcmul(x3, x1, x2),
    "layer_norm": lambda x, weight, bias: functional.layer_norm(x, x.shape[-1:], weight, bias),
    "log_softmax": lambda x, axis=-1: torch.log_softmax(x, axis),
    "matvec": torch.mv,
    "max": torch.amax,
    "min": torch.amin,
    "nonzero": partial(torch.nonzero, as_tuple=True),
    "norm_l1": partial(torch.linalg.vector_norm, ord=1),
    "norm_l2": torch.linalg.vector_norm,
    "norm_linf": partial(torch.linalg.vector_norm, ord=float("inf")),
    "not_equal": torch.ne,
    "pad": lambda x, width: functional.pad(x, [width] * 2 * x.ndim),
    "repeat": torch.repeat_interleave,
    "rms_norm": lambda x, weight: functional.rms_norm(x, x.shape[-1:], weight, 1e-5),
    "roll": lambda x, shift, axis=None: torch.roll(x, shift, axis),
    "softmax": lambda x, axis=-1: torch.softmax(x, axis),
    "sort": lambda x, axis=-1: torch.sort(x, axis)[0],
    "std": partial(torch.std, correction=0),
    "take": lambda x, indices, axis=0: torch.index_select(x, axis, indices),
    "take_along_axis": lambda x, indices, axis=-1: torch.take_along_dim(x, indices, axis),
    "tile": lambda x, count: torch.tile(x, (count,)),
    "topk": lambda x, k, axis=-1: torch.topk(x, k, axis),
    "var": partial(torch.var, correction=0),
    "vecdot": torch.linalg.vecdot,
    "vecmat": torch.matmul,
    "permute_dims": torch.permute,
}
