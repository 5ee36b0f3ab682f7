"""``python -m blizzarr``: the command line, where the script ``blizzarr`` is not on the path."""

from blizzarr.cli import main

if __name__ == "__main__":
    main()
