"""Runs the command: `python -m tests.mutants --seed 1 --count 40`."""

import sys

from tests.mutants.command import main

if __name__ == "__main__":
    sys.exit(main())
