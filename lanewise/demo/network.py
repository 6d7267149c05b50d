"""The network that reads the digits: two convolutions and a linear layer.

numpy_peer.py and torch_peer.py implement the same layers in other libraries.
"""

from __future__ import annotations

import lanewise as lw
from lanewise.demo.digits import SIZE, Digits


class Network:
    """The trained network. Construct and call it on the same backend."""

    def __init__(self, digits: Digits) -> None:
        self.weights = {
            name: lw.reshape(lw.asarray(weight.values), weight.shape) for name, weight in digits.weights.items()
        }

    def logits(self, images: lw.Tensor) -> lw.Tensor:
        """Returns a score per class, (count, 10), for images (count, 1, 8, 8) with values from 0 to 1."""
        weights = self.weights
        x = lw.relu(lw.conv2d(images, weights["conv1.weight"], weights["conv1.bias"], padding=1))
        x = lw.max_pool2d(x, kernel_size=2)
        x = lw.relu(lw.conv2d(x, weights["conv2.weight"], weights["conv2.bias"], padding=1))
        x = lw.max_pool2d(x, kernel_size=2)
        x = lw.reshape(x, (x.shape[0], -1))
        return lw.linear(x, weights["linear.weight"], weights["linear.bias"])

    def __call__(self, images: lw.Tensor) -> lw.Tensor:
        """Returns the probability of each class, (count, 10)."""
        return lw.softmax(self.logits(images))


def tensor(digits: Digits) -> lw.Tensor:
    """Returns the digits as the network's input."""
    return lw.reshape(lw.asarray(digits.brightness()), (-1, 1, SIZE, SIZE))
