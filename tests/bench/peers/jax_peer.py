"""JAX on the CPU: every operation is compiled, and every call waits for its result."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from tests.bench.cases import Case
from tests.bench.inputs import HostArray
from tests.bench.peers import Call, Peer, convert


def open(threads: int) -> Peer:
    """Selects the CPU and the number of threads by environment variables, which JAX reads when it is imported."""
    if "jax" not in sys.modules:
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        os.environ["NPROC"] = str(threads)  # the size of XLA's thread pool
    return JaxPeer(threads)


class JaxPeer:
    """Computes with the functions of _functions(), or those of the same name in jax.numpy or jax.nn."""

    name = "jax"

    def __init__(self, threads: int) -> None:
        import jax

        # Run operations on the calling thread, because a small one takes less time than waking up another thread.
        jax.config.update("jax_cpu_enable_async_dispatch", False)
        self._jax = jax
        self._named = _functions(jax)
        self.settings = f"jax {jax.__version__}, {threads} thread{'s' * (threads > 1)}, jit"

    def call(self, case: Case) -> Call | None:
        """Returns a call of the function, compiled for the shapes of the arguments."""
        name = case.operation.name
        if case.operation.kind == "view" or not case.inputs:  # nothing to compute: a view, or a constant
            return None
        if name == "nonzero":  # cannot be compiled, because the shape of the result depends on the data
            return None
        function = self._named.get(name) or getattr(self._jax.numpy, name, None) or getattr(self._jax.nn, name, None)
        if not callable(function):
            return None
        arguments = convert(case.arguments, self._array)
        literals = [argument for argument in arguments if isinstance(argument, bool | int | float | str | tuple)]
        arrays = arguments[: len(arguments) - len(literals)]
        compiled = self._jax.jit(lambda *given: function(*given, *literals, **case.keywords))

        return Call(lambda *given: self._jax.block_until_ready(compiled(*given)), arrays)

    def numbers(self, result: Any, positions: Sequence[int]) -> list[float]:
        """Returns some elements as Python floats; several arrays are joined."""
        import numpy as np

        parts = [self._jax.device_get(part).reshape(-1) for part in self._jax.tree.leaves(result)]
        return [float(value) for value in np.concatenate(parts)[list(positions)]]

    def _array(self, value: HostArray) -> Any:
        import numpy as np  # installed, because JAX requires it

        return self._jax.numpy.asarray(np.frombuffer(value.data, value.dtype).reshape(value.shape))


def _functions(jax: Any) -> Mapping[str, Callable[..., Any]]:
    jnp, lax = jax.numpy, jax.lax

    def linear(x: Any, weight: Any, bias: Any) -> Any:
        return x @ weight.T + bias

    def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
        return jax.nn.standardize(x, epsilon=1e-5) * weight + bias

    def rms_norm(x: Any, weight: Any) -> Any:
        return x * lax.rsqrt(jnp.square(x).mean(axis=-1, keepdims=True) + 1e-5) * weight

    def attention(query: Any, key: Any, value: Any, is_causal: bool = False) -> Any:
        heads_last = (jnp.swapaxes(each, 1, 2) for each in (query, key, value))
        return jnp.swapaxes(jax.nn.dot_product_attention(*heads_last, is_causal=is_causal), 1, 2)

    def conv2d(x: Any, weight: Any, bias: Any, padding: int = 0) -> Any:
        around = [(padding, padding)] * 2
        return lax.conv_general_dilated(x, weight, (1, 1), around) + bias[:, None, None]

    def max_pool2d(x: Any, kernel_size: int) -> Any:
        window = (1, 1, kernel_size, kernel_size)
        return lax.reduce_window(x, -jnp.inf, lax.max, window, window, "VALID")

    return {
        "fma": lambda x1, x2, x3: x1 * x2 + x3,
        "gelu": partial(jax.nn.gelu, approximate=False),
        "layer_norm": layer_norm,
        "rms_norm": rms_norm,
        "norm_l2": jnp.linalg.norm,
        "scaled_dot_product_attention": attention,
        "linear": linear,
        "conv2d": conv2d,
        "max_pool2d": max_pool2d,
        "take": lambda x, indices: jnp.take(x, indices, mode="wrap"),
    }
