"""``python -m blizzarr.zarr script.py``: run a script in which ``import zarr`` means `blizzarr.zarr`."""

from __future__ import annotations

import runpy
import sys

from blizzarr.zarr.installing import install

_USAGE = "usage: python -m blizzarr.zarr (script.py | -m module | -c command) [argument ...]"


def main(arguments: list[str]) -> None:
    """Run what the arguments say, as ``python`` itself would."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_USAGE)
        sys.exit(0 if arguments else 2)
    install()
    first, *rest = arguments
    if first in ("-m", "-c"):
        if not rest:
            print(f"{_USAGE}\nexpected something after {first}", file=sys.stderr)
            sys.exit(2)
        what, *rest = rest
        sys.argv = [first, *rest]
        if first == "-m":
            runpy.run_module(what, run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, "")
            exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})
        return
    sys.argv = [first, *rest]
    runpy.run_path(first, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
