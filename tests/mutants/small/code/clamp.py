"""Code to make mutants of: a class that adds up clamped numbers, and a function that returns an element's offset."""

from __future__ import annotations

LIMIT = 4.5
shape = (2, 3)
strides = [24, 8]


class Clamp:
    """Clamps numbers to [-2, LIMIT], and adds up half of each."""

    def __init__(self) -> None:
        self.total = 0.0
        self.seen: list[float] = []
        self.open = True

    def add(self, x: float | None) -> None:
        """Adds a number; None and NaN are left out."""
        if x is None or x != x:
            return
        self.seen.append(x)
        self.total += max(-2, min(x, LIMIT)) * 0.5

    def release(self) -> None:
        """Ends the use of the object."""
        self.open = False

    def finish(self) -> float:
        """Returns the total less the count of numbers, and ends the use of the object."""
        result = self.total - len(self.seen)
        self.release()
        return result


def offset(i: int, j: int) -> int:
    """Returns the offset of an element in bytes."""
    return i * strides[0] + j * strides[1]
