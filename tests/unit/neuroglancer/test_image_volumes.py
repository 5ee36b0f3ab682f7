"""Volumes of Neuroglancer whose chunks are images: read, written, damaged, and without the package for it."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorstore as theirs

import blizzarr.tensorstore as ours
from blizzarr.errors import CodecError, UnsupportedOperationError
from blizzarr.neuroglancer import serializers

KINDS = [("png", "uint8", 1), ("png", "uint8", 4), ("png", "uint16", 3), ("jpeg", "uint8", 1), ("jpeg", "uint8", 3)]


def spec(path: Path) -> dict[str, Any]:
    """The volume in a directory."""
    return {"driver": "neuroglancer_precomputed", "kvstore": f"file://{path}/"}


def made(path: Path, encoding: str, dtype: str, channels: int) -> Any:
    """A volume of TensorStore's, of smooth values."""
    scale = {"size": [20, 17, 9], "voxel_offset": [1, 2, 3], "chunk_size": [8, 8, 8], "encoding": encoding}
    of_all = {"num_channels": channels, "data_type": dtype}
    volume = theirs.open({**spec(path), "scale_metadata": scale, "multiscale_metadata": of_all}, create=True).result()
    x, y, z, channel = np.ogrid[:20, :17, :9, :channels]
    volume[...] = (x * 9 + y * 3 + z + channel * 5 + 1).astype(dtype)
    return volume


@pytest.mark.parametrize(("encoding", "dtype", "channels"), KINDS)
def test_images(encoding: str, dtype: str, channels: int, tmp_path: Path) -> None:
    """Both read the same, whoever wrote it; PNG keeps every value."""
    pytest.importorskip("imagecodecs")
    theirs_first = made(tmp_path, encoding, dtype, channels)
    volume = ours.open(spec(tmp_path)).result()
    before = theirs_first.read().result()
    assert (volume.read().result() == before).all()
    volume[3:12, 5:9] = 7
    after = theirs.open(spec(tmp_path)).result().read().result()
    assert (volume.read().result() == after).all()
    if encoding == "png":
        before[2:11, 3:7] = 7
        assert (after == before).all()


def png(width: int, height: int) -> bytes:
    """An image that says that it is so large."""
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))
    return b"\x89PNG\r\n\x1a\n" + parts


def test_damaged_images(tmp_path: Path) -> None:
    """An image is asked for its size before it is decoded; what is none is told."""
    pytest.importorskip("imagecodecs")
    made(tmp_path, "png", "uint8", 1)
    volume = ours.open(spec(tmp_path)).result()
    (chunk,) = (tmp_path / "1_1_1").glob("1-9_2-10_3-11")
    whole = chunk.read_bytes()
    for bytes_, said in (
        (png(2**31 - 1, 2**31 - 1), "expected an image of 512 pixels, found one of 2147483647 x 2147483647"),
        (png(8, 64), "png image is damaged"),
        (whole[:-30], "png image is damaged"),
        (b"", "that tells its size"),
        (b"\xff\xd8\xff\xe0\xff\xff", "that tells its size"),
    ):
        chunk.write_bytes(bytes_)
        with pytest.raises(CodecError, match=said):
            volume[1:9, 2:10, 3:11].read().result()


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an image is can be told, but not what is in it; the error names the extra."""
    monkeypatch.setattr(serializers, "_PACKAGE", "no_such_package")
    made(tmp_path, "png", "uint16", 2)  # of which nobody has prepared the codecs
    volume = ours.open(spec(tmp_path)).result()
    assert volume.codec.to_json()["encoding"] == "png"
    with pytest.raises(UnsupportedOperationError, match=r"pip install 'blizzarr\[images\]'"):
        volume.read().result()
    with pytest.raises(UnsupportedOperationError, match=r"pip install 'blizzarr\[images\]'"):
        volume[1, 2] = 3
