"""Checks the style of the text files that git tracks: `python tests/style/check.py [PATH...]`. Part of the lint stage.

Prints what each check_*.py complains about, and exits with 1 if there are complaints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))

import check_files
import check_phrases
import check_wgsl

ROOT = Path(__file__).resolve().parents[2]
SUFFIXES = ("py", "c", "h", "cu", "cuh", "wgsl", "yaml", "md", "mjs", "js", "in", "ipynb")


def tracked(paths: list[str]) -> dict[str, str]:
    """Returns the text, by file name, of each text file that git tracks at `paths`, or anywhere if `paths` is empty."""
    command = ["git", "ls-files", "-z", "--", *(paths or ["."])]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    names = [name for name in done.stdout.split("\0") if name.rpartition(".")[2] in SUFFIXES]
    return {name: (ROOT / name).read_text(encoding="utf-8") for name in names}


def main() -> int:
    sources = tracked(sys.argv[1:])
    found = [each for check in (check_files, check_phrases, check_wgsl) for each in check.complaints(sources)]
    print("\n".join(found) or "no complaints")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
