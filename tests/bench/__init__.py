"""The benchmark used to develop Lanewise: `python -m tests.bench` in a checkout; README.md says more."""
