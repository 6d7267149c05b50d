"""The version, where both the build and the package read it."""

__version__ = "0.1.0"
