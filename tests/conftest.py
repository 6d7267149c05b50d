"""Gives the tests a cache folder that does not exist, so that a calibration saved by the user does not affect them."""

from __future__ import annotations

import os
import tempfile

os.environ["LANEWISE_CACHE_DIR"] = os.path.join(tempfile.gettempdir(), f"lanewise-tests-{os.getpid()}", "none")
