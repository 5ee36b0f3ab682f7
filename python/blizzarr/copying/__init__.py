"""Copying arrays and groups of any size into any layout, in bounded memory, and again after an interruption."""
