"""JAX on the CPU: every operation is compiled, and every call waits for its result."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from tests.bench.peers import Batch, Call, Peer, on_threads, to_numpy
from tests.cases.cases import Case, Viewed
from tests.cases.inputs import HostArray


class JaxPeer(Peer):
    """Computes with the functions of _functions(), or those of the same name in jax.numpy or jax.nn."""

    name = "jax"
    lacks = ("bfloat16", "int64", "uint64", "float64")  # it would convert those of 64 bits to 32

    def __init__(self, threads: int) -> None:
        if "jax" not in sys.modules:  # which reads these variables when it is imported
            os.environ.setdefault("JAX_PLATFORMS", "cpu")
            os.environ["NPROC"] = str(threads)  # the size of XLA's thread pool
        import jax

        # Run operations on the calling thread, because a small one takes less time than waking up another thread.
        jax.config.update("jax_cpu_enable_async_dispatch", False)
        self._jax = jax
        self._named = _functions(jax)
        self.settings = f"jax {jax.__version__}, {on_threads(threads)}, jit"

    def function(self, case: Case) -> Callable[..., Any] | None:
        """Returns JAX's function, unless there is nothing to compute (a view, or a constant) or it cannot be compiled,
        because the shape of the result depends on the data."""
        name = case.operation.name
        if case.operation.kind == "view" or not case.inputs or name == "nonzero":
            return None
        found = self._named.get(name) or getattr(self._jax.numpy, name, None) or getattr(self._jax.nn, name, None)
        return found if callable(found) else None

    def call(self, case: Case) -> Call | Batch | None:
        """Returns a call of the function, compiled for the shapes of the arguments."""
        call = super().call(case)
        if not isinstance(call, Call):
            return call
        function, arguments = call.function, call.arguments
        literals = [argument for argument in arguments if isinstance(argument, bool | int | float | str | tuple)]
        compiled = self._jax.jit(lambda *given: function(*given, *literals, **case.keywords))
        arrays = arguments[: len(arguments) - len(literals)]
        return Call(lambda *given: self._jax.block_until_ready(compiled(*given)), arrays)

    def array(self, value: HostArray | Viewed) -> Any:
        """Returns an array of JAX."""
        return self._jax.numpy.asarray(to_numpy(value))


def _functions(jax: Any) -> Mapping[str, Callable[..., Any]]:
    jnp, lax = jax.numpy, jax.lax

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
        "layer_norm": lambda x, weight, bias: jax.nn.standardize(x, epsilon=1e-5) * weight + bias,
        "rms_norm": lambda x, weight: x * lax.rsqrt(jnp.square(x).mean(axis=-1, keepdims=True) + 1e-5) * weight,
        "norm_l2": jnp.linalg.norm,
        "scaled_dot_product_attention": attention,
        "linear": lambda x, weight, bias: x @ weight.T + bias,
        "conv2d": conv2d,
        "max_pool2d": max_pool2d,
        "take": lambda x, indices: jnp.take(x, indices, mode="wrap"),
    }
