"""How many bytes a codec of a user may make of a chunk."""

from __future__ import annotations

import pytest

import blizzarr
from blizzarr.codecs import BytesBytesCodec
from blizzarr.errors import CodecError


def test_more_bytes_than_are_read_are_not_stored() -> None:
    """Reading takes four times a chunk, and 64 KiB, unless the codec says that it makes more."""

    class Label(BytesBytesCodec):
        name = "test.label"

        def encode(self, decoded: bytes) -> bytes:
            return bytes(1 << 17) + decoded

        def decode(self, encoded: bytes, max_size: int) -> bytes:
            return encoded[1 << 17 :]

    class Sized(Label):
        name = "test.sized"

        def encoded_size(self, decoded: int) -> int:
            return (1 << 17) + decoded

    for codec in (Label, Sized):
        blizzarr.register_codec(codec)
    array = blizzarr.create_array({}, shape=4, chunks=2, dtype="int16", compressors="test.label")
    with pytest.raises(CodecError, match=r"cannot encode .*test\.label: expected at most 65,552 bytes, found 131,076"):
        array[:] = 1
    assert array[:].tolist() == [0] * 4
    array = blizzarr.create_array({}, data=[1, 2], compressors="test.sized")
    assert array[:].tolist() == [1, 2]
