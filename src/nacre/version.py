"""The version, written once: pyproject.toml, models and reports read it here."""

__version__ = "0.1.0"
