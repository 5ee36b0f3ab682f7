"""Power cuts: a disk that can be cut off, what is written to it, and what must be there afterwards."""
