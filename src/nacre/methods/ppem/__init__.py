"""PPEM: its settings, what it asks of a row, its energies' losses, and what draws rows."""
