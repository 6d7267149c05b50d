"""The benchmark that Lanewise is developed with: `python -m tests.bench` in a checkout; README.md says more."""
