"""Fail if a wheel is larger than its budget: `python .github/sizes.py BYTES FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> None:
    """Print the size of each file, and exit with 1 if one is too large, or if there is none."""
    budget, folder = int(sys.argv[1]), Path(sys.argv[2])
    sizes = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
    for name, size in sizes.items():
        print(f"{size / 1e6:6.2f} MB  {name}")
    sys.exit(not sizes or max(sizes.values()) > budget)


if __name__ == "__main__":
    main()
