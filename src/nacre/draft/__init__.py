"""A first schema that is itself private: ranges from a noisy histogram, values by `Vault.keys`."""

from nacre.draft.kinds import read_types
from nacre.draft.private import private_draft

__all__ = ["private_draft", "read_types"]
