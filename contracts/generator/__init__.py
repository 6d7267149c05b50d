"""Reads the contracts and generates sources, stubs and test data from them. contracts/generate.py runs it."""
