"""Tests code/clamp.py; it must fail for mutants of that file."""

import runpy
from typing import Any

names: dict[str, Any] = runpy.run_path("code/clamp.py")
clamp = names["Clamp"]()
for x in (1.0, None, 9.0, float("nan"), -7.0):
    clamp.add(x)
assert clamp.seen == [1.0, 9.0, -7.0]
assert clamp.open == 1
assert clamp.finish() == (1.0 + 4.5 - 2.0) * 0.5 - 3
assert clamp.open == 0
assert [names["offset"](i, j) for i, j in ((0, 0), (1, 0), (0, 1))] == [0, 24, 8]
assert names["shape"] == (2, 3)
