"""``python -m blizzarr.zarr script.py``: run a script in which ``import zarr`` means `blizzarr.zarr`."""

from __future__ import annotations

import multiprocessing
import os
import runpy
import sys
from types import ModuleType

from blizzarr.zarr.installing import install

_USAGE = "usage: python -m blizzarr.zarr (script.py | -m module | -c command) [argument ...]"


def main(arguments: list[str]) -> None:
    """Run what the arguments say, as ``python`` itself would."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_USAGE)
        sys.exit(0 if arguments else 2)
    install()
    _install_in_children()
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
            _search_first("")
            module = sys.modules["__main__"] = ModuleType("__main__")
            exec(compile(what, "<string>", "exec"), module.__dict__)
        return
    if not os.path.exists(first):
        print(f"expected the path of a script, found {first!r}, where there is no file", file=sys.stderr)
        sys.exit(2)
    sys.argv = [first, *rest]
    _search_first(os.path.dirname(os.path.realpath(first)))
    runpy.run_path(first, run_name="__main__")


def _search_first(folder: str) -> None:
    """Look for modules where ``python`` itself would, in place of the working directory of ``python -m``."""
    if not sys.flags.safe_path:
        sys.path[0] = folder


def _install_in_children() -> None:
    """Make ``import zarr`` the same import in the processes that `multiprocessing` starts, as Dask's workers."""
    # They take over the search path,
    sys.path.insert(1, os.path.join(os.path.dirname(__file__), "replacement"))
    # but the server that is forked for them does so in new versions of Python only.
    multiprocessing.set_forkserver_preload(["blizzarr.zarr.replacement.zarr"])


if __name__ == "__main__":
    main(sys.argv[1:])
