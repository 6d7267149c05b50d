"""The exception of the build."""

__all__ = ["BuildError"]


class BuildError(Exception):
    """The build cannot continue; the message says why and what to do."""
