"""Mutants: plants errors in a copy of the sources, and reports those that no test notices."""
