"""The demo: a small convolutional network that reads handwritten digits on every backend of the machine.

    digits.py        the held-out digits and the weights, from data/
    network.py       the network
    numpy_peer.py    the same network in NumPy
    torch_peer.py    the same network in PyTorch
    command.py       `python -m lanewise demo`
    plot.py          --plot
    train.py         trains the weights; needs torch and scikit-learn; no other module imports it

NOTICE names the source of the digits.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs `python -m lanewise demo` and returns its exit status."""
    from lanewise.demo.command import main as command

    return command(argv)
