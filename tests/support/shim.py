"""The shared library of `failing_calls.c`, compiled when it is first wanted."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zlib
from functools import cache
from pathlib import Path

__all__ = ["reason_without", "shim"]

SOURCE = Path(__file__).with_name("failing_calls.c")


def reason_without() -> str | None:
    """Why there is none here; None when there is."""
    if sys.platform != "linux":
        return "needs the loader of Linux"
    if shutil.which("cc") is None:
        return "needs a C compiler to make system calls fail"
    return None


@cache
def shim() -> Path:
    """The library, in the folder where compiled tests are kept."""
    folder = SOURCE.parents[2] / "target" / "support"
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / f"failing_calls-{zlib.crc32(SOURCE.read_bytes()):08x}.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", made, SOURCE, "-ldl"], check=True)
    return made
