"""`python -m tests.bench call`: measures what a whole call, a kernel alone and `import lanewise` cost.

The first two are rows of the goals for a CPU (cpu/table.py). The import is timed in new processes; the time that Python
itself takes to start is subtracted.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from time import perf_counter_ns

from lanewise.errors import ArgumentError
from lanewise.timing import Contestant, duration, measure
from tests.bench.settings import Settings

IMPORT = "import lanewise"


def run(names: Sequence[str], settings: Settings) -> int:
    """Measures and prints the rows whose names begin with one of `names`, or all. Returns the exit status."""
    from tests.bench.cpu import command as cpu
    from tests.bench.cpu.table import CALLS, KERNELS

    rows = [goal.name for goal in (*CALLS, *KERNELS)]
    chosen = [name for name in rows if not names or name.startswith(tuple(names))]
    imports = not names or IMPORT.startswith(tuple(names))
    if not chosen and not imports:
        raise ArgumentError(
            f"bench: expected the beginning of a name among {'; '.join([*rows, IMPORT])}, got {' '.join(names)}"
        )
    status = cpu.run(chosen, settings) if chosen else 0
    if imports and not settings.as_json:
        print(f"\n{IMPORT}: {duration(import_nanoseconds(settings.repeats))}")
    return status


def import_nanoseconds(repeats: int) -> float:
    """Measures the import in a new process, in nanoseconds, without the time that Python takes to start."""
    codes = {"empty": "pass", IMPORT: IMPORT}
    contestants = [Contestant.batched(name, partial(_processes, code), timed=True) for name, code in codes.items()]
    empty, imported = measure(contestants, repeats=repeats, sample_seconds=1e-9)
    return max(imported.minimum - empty.minimum, 1.0)


def _processes(code: str, times: int) -> int:
    start = perf_counter_ns()
    for _ in range(times):
        subprocess.run([sys.executable, "-c", code], check=True)
    return perf_counter_ns() - start
