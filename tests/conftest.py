"""For all tests: what the user of this machine has calibrated decides nothing here."""

from __future__ import annotations

import os
import tempfile

os.environ["LANEWISE_CACHE_DIR"] = os.path.join(tempfile.gettempdir(), f"lanewise-tests-{os.getpid()}", "none")
