"""The files that elements and pictures are written to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from blizzarr.errors import BlizzarrError


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing; after an error it is removed, and an error of the system names it.

    A partial file must not be mistaken for a complete one. Devices and links, like /dev/stdout, stay.
    """
    is_ours = False
    try:
        with open(path, "wb") as file:
            is_ours = True
            yield file
    except BaseException as error:
        if is_ours and os.path.isfile(path):
            os.truncate(path, 0)
            if not os.path.islink(path):
                os.unlink(path)
        # The system names a file that it opens, but not one that it writes.
        if isinstance(error, OSError) and not isinstance(error, BlizzarrError) and error.filename is None:
            error.filename = os.fspath(path)
        raise
