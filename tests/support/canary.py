"""What lies outside of a root and must neither be read nor changed: an array whose bytes nothing else has."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import numpy as np

import blizzarr

__all__ = ["Canary"]


class Canary:
    """An array, its group and a few files in a directory of their own."""

    mark = "canary-7f3a9c"
    """In its documents and in every file that is no chunk."""
    value = 0x5AC3
    """Every element of its chunks."""

    def __init__(self, root: Path) -> None:
        self.root = root
        array = blizzarr.create_array(root, data=np.full(8, self.value, "int16"), chunks=4, compressors=None)
        array.attrs["mark"] = self.mark
        for name in ("secret.txt", "a/zarr.json", "etc/passwd"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(json.dumps({"mark": self.mark}))
        self._digest = self._hashed()

    def _hashed(self) -> str:
        digest = hashlib.sha256()
        for directory, names, files in sorted(os.walk(self.root)):
            names.sort()
            status = os.stat(directory)
            digest.update(repr((directory, names, sorted(files), status.st_ino, status.st_mtime_ns)).encode())
            for name in sorted(files):
                path = Path(directory, name)
                status = path.stat()
                digest.update(repr((name, status.st_ino, status.st_mtime_ns, path.read_bytes())).encode())
        return digest.hexdigest()

    def unchanged(self) -> bool:
        """Whether everything is as it was: names, bytes, inodes and times."""
        return self._hashed() == self._digest

    def refuse(self, answer: object) -> None:
        """Fail when something that was answered is from here.

        Raises
        ------
        AssertionError
            When it is.
        """
        if isinstance(answer, np.ndarray):
            assert not (answer == self.value).any(), "a chunk of the canary was read"
        elif isinstance(answer, bytes | bytearray | memoryview):
            assert self.mark.encode() not in bytes(answer), "a document of the canary was read"
            assert self.value.to_bytes(2, "little") not in bytes(answer), "a chunk of the canary was read"
        elif isinstance(answer, list | tuple):
            for inner in answer:
                self.refuse(inner)
        else:
            assert self.mark not in str(answer), "something of the canary was read"
