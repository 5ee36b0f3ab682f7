"""The arrays in files of NumPy."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Any, TypeAlias
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from blizzarr.errors import ArchiveError

Arrays: TypeAlias = npt.NDArray[Any] | dict[str, npt.NDArray[Any]]


def arrays_in(path: str | os.PathLike[Any]) -> Arrays | None:
    """Return the array of a ``.npy`` file, mapped, or those of an ``.npz`` file by name; None if it is neither.

    Raise `ArchiveError` if the file is damaged, has Python objects, or is another kind of file.
    """
    file = Path(os.fsdecode(path)).expanduser()
    suffix = file.suffix.lower()
    if suffix not in (".npy", ".npz") or not file.is_file():
        return None
    try:
        if suffix == ".npy":
            return np.lib.format.open_memmap(file, mode="r")
        with file.open("rb") as opened, np.lib.npyio.NpzFile(opened, allow_pickle=False) as archive:
            members = {name: archive[name] for name in archive.files}
    except (ValueError, EOFError, BadZipFile, zlib.error) as error:
        raise ArchiveError(f"expected a whole file of NumPy, without pickles: {error}", store=str(file)) from error
    for name, member in members.items():
        if not isinstance(member, np.ndarray):
            raise ArchiveError(f"expected arrays in an .npz file, found {name!r}, which is none", store=str(file))
    return members
