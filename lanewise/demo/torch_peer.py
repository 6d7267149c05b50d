"""The network in PyTorch, for comparing predictions and speed.

This module needs torch, which the demo does not require: command.py imports it only if torch is installed.
"""

from __future__ import annotations

import torch
from torch.nn import functional

from lanewise.demo.digits import SIZE, Digits


def use_one_thread() -> None:
    """Limits torch to one thread and turns gradients off in the calling thread, both permanently."""
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)


class TorchNetwork:
    """The same network as network.Network, with torch's layers."""

    def __init__(self, digits: Digits) -> None:
        self.weights = {
            name: torch.tensor(weight.values.tolist()).reshape(weight.shape) for name, weight in digits.weights.items()
        }

    def logits(self, images: torch.Tensor) -> torch.Tensor:
        """Returns a score per class, (count, 10), for images (count, 1, 8, 8)."""
        weights, x = self.weights, images
        for layer in ("conv1", "conv2"):
            x = functional.conv2d(x, weights[f"{layer}.weight"], weights[f"{layer}.bias"], padding=1)
            x = functional.max_pool2d(functional.relu(x), 2)
        return functional.linear(x.flatten(1), weights["linear.weight"], weights["linear.bias"])

    def __call__(self, images: torch.Tensor) -> torch.Tensor:
        """Returns the probability of each class, (count, 10)."""
        return torch.softmax(self.logits(images), -1)


def tensor(digits: Digits) -> torch.Tensor:
    """Returns the digits as the network's input."""
    return torch.tensor(digits.brightness().tolist()).reshape(-1, 1, SIZE, SIZE)
