"""Reads the contracts and writes everything that follows from them; contracts/generate.py is the command."""
