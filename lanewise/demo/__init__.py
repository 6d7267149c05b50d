"""The demo: real handwritten digits, read by a small convolutional network on every backend of the machine.

    digits.py        the data set, its split and the weights, from data/
    network.py       the network
    numpy_peer.py    the same in NumPy
    torch_peer.py    the same in PyTorch
    command.py       `python -m lanewise demo`
    plot.py          --plot
    train.py         how the weights came about (needs torch and scikit-learn; never run by the rest)

NOTICE says where the digits come from.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """The command `python -m lanewise demo`."""
    from lanewise.demo.command import main as command

    return command(argv)
