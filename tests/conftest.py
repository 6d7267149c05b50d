"""Keeps the calibration of this machine's user out of the tests: points them at an empty cache folder."""

from __future__ import annotations

import os
import tempfile

os.environ["LANEWISE_CACHE_DIR"] = os.path.join(tempfile.gettempdir(), f"lanewise-tests-{os.getpid()}", "none")
