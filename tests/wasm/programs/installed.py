"""Returns the name of the program that installed lanewise, the source it installed from, and lanewise's version."""

from importlib.metadata import distribution

import lanewise as lw

found = distribution("lanewise")
[found.read_text("INSTALLER"), found.read_text("PYODIDE_URL") or found.read_text("direct_url.json"), lw.__version__]
