"""Returns which program installed lanewise, from where it did so, and the version of lanewise."""

from importlib.metadata import distribution

import lanewise as lw

found = distribution("lanewise")
[found.read_text("INSTALLER"), found.read_text("PYODIDE_URL") or found.read_text("direct_url.json"), lw.__version__]
