"""The tests of other projects, run on blizzarr and without it: see `__main__`."""
