"""The command line: `python -m lanewise info | demo | bench | calibrate`.

Each subcommand parses its own arguments. The modules of demo and bench are imported only when these commands run.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Final

__all__ = ["main"]

USAGE: Final = """\
usage: python -m lanewise COMMAND [options]

Array math with the same operations and answers on every instruction set of x86, ARM and WebAssembly.

commands:
  info       every backend, with its devices or the reason it is missing
  demo       classify handwritten digits on every backend
  bench      time operations
  calibrate  measure which CPU backend is the fastest, and let AUTO use it

options:
  -h, --help     show this text, or after a command the help of that command
  --version      show the version of lanewise
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns the process's exit status."""
    command, *rest = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if command in ("-h", "--help"):
        print(USAGE, end="")
        return 0
    if command == "--version":
        import lanewise

        print(lanewise.__version__)
        return 0
    if command not in _COMMANDS:
        print(f"lanewise: there is no command {command!r}; give one of {', '.join(_COMMANDS)}", file=sys.stderr)
        return 2
    from lanewise.errors import LanewiseError

    try:
        return _COMMANDS[command](rest)
    except LanewiseError as error:
        print(f"lanewise {command}: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of the output has closed the pipe, as `head` does
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 (Python flushes stdout when it exits)
        return 1


def info(arguments: Sequence[str]) -> int:
    """Prints what this machine can run, as text or as JSON."""
    import argparse

    parser = argparse.ArgumentParser(
        prog="python -m lanewise info",
        description="Every backend, with its devices or the reason it is missing.",
    )
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    if parser.parse_args(arguments).json:
        import json

        import lanewise
        from lanewise.backends import selection

        backends = [
            info._asdict() | {"devices": [device._asdict() for device in info.devices]} for info in lanewise.backends()
        ]
        calibration = lanewise.get_calibration()
        facts = {
            "version": lanewise.__version__,
            "threads": lanewise.get_num_threads(),
            "default_backend": selection.default_backend(),
            "calibration": calibration and calibration._asdict() | {"order": calibration.order},
            "backends": backends,
        }
        print(json.dumps(facts, indent=2))
        return 0
    import platform

    from lanewise import _version
    from lanewise.backends import discovery, registry, selection

    print(f"lanewise {_version.__version__}, Python {platform.python_version()} on {platform.machine()}")
    features = ", ".join(registry.cpu_features()) or "none of the vector instructions that Lanewise uses"
    print(f"This CPU has {features}.")
    if hidden := registry.hidden_features():
        print(f"LANEWISE_HIDE hides {', '.join(hidden)}.")
    print()
    discovery.print_backend_summary()
    print(f"Default backend: {selection.default_backend().name}")
    print(
        "AUTO prefers the recommended backend. Calls run on the default; LANEWISE_BACKEND or use_backend() changes it."
    )
    return 0


def demo(arguments: Sequence[str]) -> int:
    """Runs the demo."""
    from lanewise.demo import main as run

    return run(arguments) or 0


def bench(arguments: Sequence[str]) -> int:
    """Times operations."""
    try:
        from lanewise.bench import main as run
    except ModuleNotFoundError:  # native/hook.py leaves bench out of the wheel for browsers
        from lanewise.errors import LibraryError

        raise LibraryError(
            "this wheel is for browsers and has no benchmark; run bench where lanewise was "
            "installed by pip, or time a browser from a checkout: "
            "python -m tests.bench --goals --backends browser"
        ) from None
    return run(arguments)


def calibrate(arguments: Sequence[str]) -> int:
    """Measures the CPU backends and a GPU, and prints the result."""
    import argparse
    import json
    import warnings

    import lanewise
    from lanewise.backends import selection
    from lanewise.costs import offload
    from lanewise.costs.calibration import NAME, THREAD_COSTS, folder

    parser = argparse.ArgumentParser(
        prog="python -m lanewise calibrate",
        description="Measure which CPU backend is the fastest, for how much work one more thread makes a call faster, "
        "and which calls a GPU runs faster. From now on, AUTO uses this backend, and offloads such calls to the GPU, "
        "for this user, processor and version of Lanewise.",
    )
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--reset", action="store_true", help="remove the stored measurement, and measure nothing")
    either.add_argument("--no-save", action="store_true", help="measure and print, but do not store the result")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    options = parser.parse_args(arguments)
    if options.reset:
        directory = folder()
        path = directory / NAME if directory else None
        is_stored = path is not None and os.path.lexists(path)  # also one that this version of Lanewise cannot use
        lanewise.reset_calibration()
        print(f"Removed {path}" if is_stored else "No measurement is stored.")
        return 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        calibration = lanewise.calibrate(save=not options.no_save)
    for warning in caught:
        print(f"lanewise {warning.message}", file=sys.stderr)
    if options.json:
        print(json.dumps(calibration._asdict() | {"order": calibration.order}, indent=2))
    else:
        print(f"times on one thread, relative to those in the contracts\n{calibration}\n")
        print(f"AUTO chooses {calibration.reason()}.")
        if (costs := calibration.costs).keys() >= {*THREAD_COSTS}:
            spinning, sleeping = (costs[name] / 1e3 for name in THREAD_COSTS)
            print(f"One more thread needs {spinning:.1f} us of work if it spins, {sleeping:.0f} us if it sleeps.")
        else:
            print("What another thread costs was not measured, because only one thread can run at once.")
        if offloaded := offload.summary():
            print(f"{offloaded}.")
        if calibration.path:
            print(f"Stored in {calibration.path}")
        if (default := selection.default_backend()) is not calibration.backend:
            print(f"LANEWISE_BACKEND overrides it: {default.label} is used.")
    return 1 if caught else 0


_COMMANDS: Final[dict[str, Callable[[Sequence[str]], int]]] = {
    "info": info,
    "demo": demo,
    "bench": bench,
    "calibrate": calibrate,
}
