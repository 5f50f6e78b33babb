"""The tables that are compared: read, held as small integers, counted, and set side by side."""
