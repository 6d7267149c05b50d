"""Tests the tests: plants errors, one at a time, in a copy of the sources, and reports those that no test notices."""
