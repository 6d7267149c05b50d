"""The network in NumPy, for comparing predictions and speed. command.py imports this only if NumPy is installed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lanewise.demo.digits import SIZE, Digits

Array = npt.NDArray[np.float32]


class NumpyNetwork:
    """The same network as network.Network, as matrix products. Channels are last, which is faster in NumPy."""

    def __init__(self, digits: Digits) -> None:
        weights = {
            name: np.asarray(weight.values, np.float32).reshape(weight.shape) for name, weight in digits.weights.items()
        }
        self.convolutions = [
            (_as_matrix(weights[f"{layer}.weight"]), weights[f"{layer}.bias"]) for layer in ("conv1", "conv2")
        ]
        self.matrix, self.bias = weights["linear.weight"].T, weights["linear.bias"]

    def logits(self, images: Array) -> Array:
        """Returns a score per class, (count, 10), for images (count, 1, 8, 8)."""
        x = np.moveaxis(images, 1, -1)
        for matrix, bias in self.convolutions:
            x = _halve(_convolve(x, matrix, bias))
        flat = np.moveaxis(x, -1, 1).reshape(len(x), -1)
        scores: Array = flat @ self.matrix + self.bias
        return scores

    def __call__(self, images: Array) -> Array:
        """Returns the probability of each class, (count, 10)."""
        logits = self.logits(images)
        powers: Array = np.exp(logits - logits.max(axis=1, keepdims=True))
        powers /= powers.sum(axis=1, keepdims=True)
        return powers


def array(digits: Digits) -> Array:
    """Returns the digits as the network's input."""
    return np.asarray(digits.brightness(), np.float32).reshape(-1, 1, SIZE, SIZE)


def _as_matrix(weight: Array) -> Array:
    """Rearranges a weight (out, in, 3, 3) as a matrix (3 * 3 * in, out)."""
    return np.ascontiguousarray(weight.transpose(2, 3, 1, 0).reshape(-1, len(weight)))


def _convolve(x: Array, matrix: Array, bias: Array) -> Array:
    """Computes relu of a padded 3 x 3 convolution, which is one matrix product."""
    count, height, width, channels = x.shape
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))
    rows = windows.transpose(0, 1, 2, 4, 5, 3).reshape(-1, 9 * channels)
    y = rows @ matrix
    y += bias
    np.maximum(y, 0, out=y)
    return y.reshape(count, height, width, -1)


def _halve(x: Array) -> Array:
    """Returns the maximum of each block of 2 x 2 pixels."""
    rows = np.maximum(x[:, ::2], x[:, 1::2])
    return np.maximum(rows[:, :, ::2], rows[:, :, 1::2])
