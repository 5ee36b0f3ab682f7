"""Documents keep their permissions when they are replaced."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import blizzarr

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no permissions of this kind")


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o644])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_documents_stay_private_or_shared(tmp_path: Path, zarr_format: int, mode: int) -> None:
    array = blizzarr.create_array(str(tmp_path / "a"), data=np.arange(6), chunks=2, zarr_format=zarr_format)
    array.attrs["note"] = "secret"
    documents = [path for path in _files(tmp_path) if path.name in ("zarr.json", ".zarray", ".zattrs")]
    for path in documents:
        path.chmod(mode)
    array.attrs["note"] = "x" * 100_000  # which is written in another way than what is short
    array.append(np.arange(2))
    array.attrs["note"] = "still secret"
    assert array[6:].tolist() == [0, 1]
    assert {path.name: path.stat().st_mode & 0o7777 for path in documents} == {path.name: mode for path in documents}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only the superuser gives files to others")
def test_documents_stay_those_of_their_owner(tmp_path: Path) -> None:
    array = blizzarr.create_array(str(tmp_path / "a"), data=np.arange(6), chunks=2)
    document = tmp_path / "a/zarr.json"
    document.chmod(0o600)
    os.chown(document, 1234, 2345)
    array.attrs["note"] = 1
    status = document.stat()
    assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (1234, 2345, 0o600)


def _files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]
