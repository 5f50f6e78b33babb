"""The kinds of columns: what each may hold, how it is read and written, how its values compare."""
