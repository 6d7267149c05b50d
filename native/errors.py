"""What stops a build."""

__all__ = ["BuildError"]


class BuildError(Exception):
    """A build that cannot go on; the message says why and what to do."""
