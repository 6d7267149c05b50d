"""The benchmark used to develop Lanewise: `python -m tests.bench` in a checkout; see README.md in this folder."""
