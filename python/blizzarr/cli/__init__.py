"""The command ``blizzarr``: one file per verb, thin over the library.

Imports of anything heavy (NumPy, the engine) stand inside the functions that need them, so that ``blizzarr --help`` and
shell completion answer at once.
"""

from blizzarr.cli.app import main

__all__ = ["main"]
