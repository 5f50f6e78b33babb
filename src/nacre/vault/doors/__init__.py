"""One file per kind of question that may be asked of the rows."""
