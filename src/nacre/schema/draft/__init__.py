"""A first schema from a file, to be reviewed by a person."""
