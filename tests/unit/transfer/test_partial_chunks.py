"""A slice of a chunk whose elements are stored each by itself reads its bytes only, near and far."""

from __future__ import annotations

import http.server
import re
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import blizzarr
from blizzarr.codecs import BitroundCodec, CastValueCodec, ScaleOffsetCodec
from blizzarr.errors import CodecError
from blizzarr.stores import BaseStore

DATA = (np.arange(1024 * 1024) % 30_000).astype("float32").reshape(1024, 1024)
CHAINS: dict[str, dict[str, Any]] = {
    "plain": {},
    "big": {"serializer": {"name": "bytes", "configuration": {"endian": "big"}}},
    "bitround": {"filters": BitroundCodec(23)},
    "scale_offset": {"filters": ScaleOffsetCodec(offset=2, scale=0.5)},
    "cast_value": {"filters": CastValueCodec("int16")},
    "all": {
        "filters": [
            BitroundCodec(23),
            ScaleOffsetCodec(offset=2, scale=2),
            CastValueCodec("uint32", out_of_range="clamp"),
        ],
        "serializer": {"name": "bytes", "configuration": {"endian": "big"}},
        "fill_value": 7,
    },
    "transposed": {"filters": [{"name": "transpose", "configuration": {"order": [1, 0]}}, CastValueCodec("int16")]},
}
STORED = {"cast_value": 2, "transposed": 2}


class Counted(BaseStore):
    """A mapping that counts the bytes that are read of it."""

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}
        self.read = 0

    def get(self, key: str) -> bytes | None:
        value = self.values.get(key)
        self.read += len(value or b"") if "c/" in key else 0
        return value

    def get_ranges(self, key: str, ranges: Any) -> Any:
        value = self.values.get(key)
        if value is None:
            return None
        parts = [value[start:] if length is None else value[start : start + length] for start, length in ranges]
        self.read += sum(map(len, parts))
        return parts

    def set(self, key: str, value: Any) -> None:
        self.values[key] = bytes(value)

    def delete(self, key: str) -> bool:
        return self.values.pop(key, None) is not None

    def list(self, prefix: str = "") -> list[str]:
        return [key for key in self.values if key.startswith(prefix)]


def written(store: Any, name: str, **options: Any) -> Any:
    data = DATA if name != "all" else np.maximum(DATA, 2)
    made = blizzarr.create_array(store, data=data, chunks=1024, compressors=None, **CHAINS[name], **options)
    return data, blizzarr.open(made.store)


@pytest.mark.parametrize("name", CHAINS)
def test_far_away_only_ranges_are_read(name: str) -> None:
    """Rows of one chunk cost their bytes, in one call; the values are those of a whole read."""
    store = Counted()
    data, array = written(store, name)
    size = STORED.get(name, 4)
    rows = (slice(None), slice(500, 502)) if name == "transposed" else (slice(500, 502), slice(None))
    store.read = 0
    np.testing.assert_array_equal(array[rows], data[rows])
    assert store.read == 2 * 1024 * size
    store.read = 0
    np.testing.assert_array_equal(array[:], data)
    assert store.read == data.size * size
    assert array[3, 5] == data[3, 5]
    np.testing.assert_array_equal(array[::-300, 7::250], data[::-300, 7::250])
    np.testing.assert_array_equal(array.vindex[[5, 900], [1, 2]], data[[5, 900], [1, 2]])


@pytest.mark.parametrize("name", CHAINS)
def test_near_only_ranges_are_read(name: str, tmp_path: Path) -> None:
    """Values that no codec could decode do no harm outside of the slice, on a disk and in memory."""
    for store in (tmp_path / "a", blizzarr.stores.MemoryStore()):
        data, array = written(store, name)
        np.testing.assert_array_equal(array[:], data)
        np.testing.assert_array_equal(array[40:60, 1000:], data[40:60, 1000:])
        np.testing.assert_array_equal(array[:, 3], data[:, 3])
        np.testing.assert_array_equal(array[::-100, ::100], data[::-100, ::100])


def test_what_is_not_wanted_is_not_decoded(tmp_path: Path) -> None:
    """A slice of integers that cannot be divided by the scale is an error, and the rows beside it are not."""
    scaled = ScaleOffsetCodec(scale=3)
    data = np.arange(4096, dtype="int32").reshape(64, 64)
    blizzarr.create_array(tmp_path / "a", data=data, chunks=64, compressors=None, filters=scaled)
    chunk = tmp_path / "a/c/0/0"
    stored = np.frombuffer(chunk.read_bytes(), "<i4").reshape(64, 64).copy()
    stored[20] += 1
    chunk.write_bytes(stored.tobytes())
    array = blizzarr.open(tmp_path / "a")
    np.testing.assert_array_equal(array[21:], data[21:])
    with pytest.raises(CodecError, match="scale_offset"):
        array[18:21]


@pytest.mark.parametrize("length", [-4, 4])
def test_a_wrong_length_is_noticed(length: int, tmp_path: Path) -> None:
    """A chunk with too few or too many bytes is damaged, whichever part is read; far away if the part is missing."""
    written(tmp_path / "a", "cast_value")
    chunk = tmp_path / "a/c/0/0"
    value = chunk.read_bytes()
    chunk.write_bytes(value[:length] if length < 0 else value + bytes(length))
    with pytest.raises(CodecError, match=f"expected {2 << 20} bytes, found {(2 << 20) + length}"):
        blizzarr.open(tmp_path / "a")[3]
    store = Counted()
    store.values = {"zarr.json": (tmp_path / "a/zarr.json").read_bytes(), "c/0/0": chunk.read_bytes()}
    with pytest.raises(CodecError):
        blizzarr.open(store)[:]
    if length < 0:
        with pytest.raises(CodecError, match="data ended after"):
            blizzarr.open(store)[-1]


class Ranges(http.server.SimpleHTTPRequestHandler):
    """Files, with ranges; the bytes of chunks that are sent are counted."""

    sent: ClassVar[list[int]] = []
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        value = path.read_bytes()
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        part = value[int(found[1]) : int(found[2]) + 1] if found else value
        self.send_response(206 if found else 200)
        if found:
            self.send_header("Content-Range", f"bytes {found[1]}-{int(found[1]) + len(part) - 1}/{len(value)}")
        self.send_header("Content-Length", str(len(part)))
        self.send_header("ETag", '"one"')
        self.end_headers()
        if "/c/" in self.path:
            self.sent.append(len(part))
        self.wfile.write(part)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    handler = partial(Ranges, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as found:
        threading.Thread(target=found.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{found.server_port}"
        found.shutdown()


@pytest.mark.parametrize("name", ["plain", "all", "cast_value"])
def test_over_http(name: str, server: str, tmp_path: Path) -> None:
    """Ten rows of a chunk of 2 or 4 MiB are one request of 20 or 40 KiB."""
    data, _ = written(tmp_path / "a", name)
    array = blizzarr.open(f"{server}/a", mode="r")
    Ranges.sent.clear()
    np.testing.assert_array_equal(array[100:110], data[100:110])
    assert Ranges.sent == [10 * 1024 * STORED.get(name, 4)]
    Ranges.sent.clear()
    np.testing.assert_array_equal(array[[1, 500, 1000]], data[[1, 500, 1000]])
    assert sorted(Ranges.sent) == [1024 * STORED.get(name, 4)] * 3


@pytest.mark.parametrize("name", ["plain", "cast_value"])
def test_over_http_a_wrong_length_is_noticed(name: str, server: str, tmp_path: Path) -> None:
    """Answers with a part say how long the whole is; one byte more in front, and no element is where it should be."""
    data, _ = written(tmp_path / "a", name)
    chunk = tmp_path / "a/c/0/0"
    intact = chunk.read_bytes()
    array = blizzarr.open(f"{server}/a", mode="r")
    for value in (b"?" + intact, intact[:-1], intact + b"?"):
        chunk.write_bytes(value)
        with pytest.raises(CodecError, match=f"expected {len(intact)} bytes, found {len(value)}"):
            array[100:110]
    chunk.write_bytes(intact)
    np.testing.assert_array_equal(array[100:110], data[100:110])
