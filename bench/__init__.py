"""The benchmark: every implementation in turn, in one process, on the same stored bytes; `python -m bench`."""
