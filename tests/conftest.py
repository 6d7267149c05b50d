"""Settings of all tests. The tests use a cache folder that does not exist, so that a calibration saved by the user does
not affect them. Hypothesis draws the same inputs in every run, and sets no time limit, because machines may be slow."""

from __future__ import annotations

import os
import tempfile

from hypothesis import settings

os.environ["LANEWISE_CACHE_DIR"] = os.path.join(tempfile.gettempdir(), f"lanewise-tests-{os.getpid()}", "none")
settings.register_profile("lanewise", max_examples=100, derandomize=True, deadline=None, database=None)
settings.load_profile("lanewise")
