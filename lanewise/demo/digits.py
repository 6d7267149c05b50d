"""The demo's data: 540 handwritten digits and the weights of a small network, readable without NumPy.

These are the digits that were held out from training; the other digits of the data set (1,797 in all) are not shipped.
There are three files in data/:

- digits.json describes the other two: `labels` has one character per digit, `positions` the index of each digit in the
  data set, and `weights` the name and shape of each array, in the order of weights.f16.
- images.u4 has images of 8 x 8 pixels, row by row, two pixels per byte, the first in the low half. The data set has
  pixels from 0 to 16; 16 is stored as 15 to fit 4 bits, and the network was trained on these values.
- weights.f16 has the arrays one after another: little-endian IEEE 754 half precision, row-major.

train.py writes them; command.py and network.py read them through this module.
"""

from __future__ import annotations

import json
import struct
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any

from lanewise.errors import LanewiseError

SIZE = 8  # pixels along each side of an image
PIXELS = SIZE * SIZE
DATA_SET = 1797  # number of digits, including those for training
BRIGHTEST = 15  # largest value of a stored pixel

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Weight:
    """One array of the network: float32 values in row-major order."""

    shape: Shape
    values: array[float]


@dataclass(frozen=True)
class Digits:
    """The held-out digits and the trained weights."""

    pixels: bytes  # one byte per pixel, 0 to 15; image i is pixels[64 * i : 64 * i + 64]
    labels: tuple[int, ...]
    positions: tuple[int, ...]  # index of each digit in the data set
    weights: Mapping[str, Weight]

    def image(self, index: int) -> bytes:
        """Returns the 64 pixels of one digit, from 0 (paper) to 15 (ink)."""
        return self.pixels[index * PIXELS : (index + 1) * PIXELS]

    def brightness(self) -> array[float]:
        """Returns the network's input: float32 from 0 to 1, to be reshaped to (count, 1, 8, 8)."""
        return array("f", [pixel / BRIGHTEST for pixel in self.pixels])


class DataError(LanewiseError):
    """The demo's files are missing or damaged."""


def load() -> Digits:
    """Reads the data in the package. Raises DataError if a file is missing or damaged."""
    folder = files("lanewise.demo") / "data"
    try:
        description = json.loads((folder / "digits.json").read_text(encoding="ascii"))
        return Digits(
            pixels=unpack_pixels((folder / "images.u4").read_bytes()),
            labels=tuple(map(int, description["labels"])),
            positions=tuple(description["positions"]),
            weights=unpack_weights(description["weights"], (folder / "weights.f16").read_bytes()),
        )
    except (OSError, ValueError, KeyError, TypeError, struct.error) as error:
        raise DataError(f"demo: the data in {folder} is missing or damaged ({error}); reinstall lanewise") from error


def unpack_pixels(packed: bytes) -> bytes:
    """Returns the two pixels of each byte, the low half first."""
    return bytes(half for byte in packed for half in (byte & 15, byte >> 4))


def pack_pixels(pixels: bytes) -> bytes:
    """Packs two pixels per byte; the inverse of unpack_pixels."""
    return bytes(low | high << 4 for low, high in zip(pixels[::2], pixels[1::2], strict=True))


def unpack_weights(described: Iterable[Mapping[str, Any]], packed: bytes) -> dict[str, Weight]:
    """Converts half-precision values to float32 arrays, by name."""
    weights: dict[str, Weight] = {}
    offset = 0
    for entry in described:
        shape = tuple(entry["shape"])
        count = prod(shape)
        weights[entry["name"]] = Weight(shape, array("f", struct.unpack_from(f"<{count}e", packed, offset)))
        offset += 2 * count
    if offset != len(packed):
        raise ValueError(f"expected {offset} bytes in weights.f16, as digits.json says, got {len(packed)}")
    return weights


def save(digits: Digits, folder: Path) -> int:
    """Writes digits.json, images.u4 and weights.f16 to `folder` and returns their total number of bytes."""
    description = json.dumps(
        {
            "labels": "".join(map(str, digits.labels)),
            "positions": digits.positions,
            "weights": [{"name": name, "shape": weight.shape} for name, weight in digits.weights.items()],
        },
        separators=(",", ":"),
    )
    values = list(chain.from_iterable(weight.values for weight in digits.weights.values()))
    contents = {
        "digits.json": description.encode("ascii") + b"\n",
        "images.u4": pack_pixels(digits.pixels),
        "weights.f16": struct.pack(f"<{len(values)}e", *values),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return sum(map(len, contents.values()))
