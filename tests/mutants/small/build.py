"""Compiles total.c into build/total.so."""

import subprocess
import sys
from pathlib import Path

Path("build").mkdir(exist_ok=True)
command = [sys.executable, "-m", "ziglang", "cc", "-O1", "-shared", "-nostdlib", "-s", "code/total.c"]
sys.exit(subprocess.run([*command, "-o", "build/total.so"], check=False).returncode)
