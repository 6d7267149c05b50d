"""Runs `python -m lanewise`."""

from lanewise.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
