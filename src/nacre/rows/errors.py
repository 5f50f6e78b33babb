"""The error of tables that cannot be read."""

from nacre.errors import NacreError


class SourceError(NacreError):
    """A table that cannot be read; the message never contains a value from it."""
