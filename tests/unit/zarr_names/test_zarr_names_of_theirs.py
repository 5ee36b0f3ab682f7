"""What the public modules of an installed zarr-python have is here too, or its absence says what to do."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import pytest

import blizzarr
from blizzarr import zarr
from blizzarr.zarr.buffer import Buffer, default_buffer_prototype
from blizzarr.zarr.storage import MemoryStore

theirs: Any = pytest.importorskip("zarr", "3.1", reason="zarr-python 3.1 is not installed")

MODULES = (
    *("", ".abc.buffer", ".abc.codec", ".abc.metadata", ".abc.store", ".api.asynchronous", ".api.synchronous"),
    *(".buffer", ".codecs", ".codecs.numcodecs", ".dtype", ".errors", ".registry", ".storage", ".testing", ".types"),
)


@pytest.mark.parametrize("name", MODULES)
def test_names(name: str) -> None:
    try:
        module = import_module(f"zarr{name}")
    except ModuleNotFoundError:
        pytest.skip("this release of zarr-python has no such module")
    ours = import_module(f"blizzarr.zarr{name}")
    for public in getattr(module, "__all__", ()):
        try:
            getattr(ours, public)
        except AttributeError as error:
            assert "; " in str(error), public  # noqa: PT017  # most of them are there


def flat(settings: Mapping[str, Any], above: str = "") -> Iterator[str]:
    for name, value in settings.items():
        if name != "codecs" and isinstance(value, dict):
            yield from flat(value, f"{above}{name}.")
        else:
            yield above + name


def test_settings() -> None:
    assert [key for key in flat(theirs.config.defaults[0]) if key not in zarr.config] == []


def test_missing_chunks_cannot_be_an_error() -> None:
    """A program that counts on the error would take the fill value for data."""
    with pytest.raises(ValueError, match="read_missing_chunks to be True"):
        zarr.config.set({"array.read_missing_chunks": False})
    assert zarr.config.get("array.read_missing_chunks") is True


def test_pickles() -> None:
    with blizzarr.config.set(allowed_codecs=("other",)):
        with zarr.config.set({"array.allow_unsafe_pickle_decode": True}):
            assert blizzarr.config.allowed_codecs == ("other", "pickle")
        assert blizzarr.config.allowed_codecs == ("other",)
        zarr.config.set({"array": {"allow_unsafe_pickle_decode": True}})
        zarr.config.reset()
        assert blizzarr.config.allowed_codecs == ("other",)


def test_rectilinear_chunks_need_no_leave() -> None:
    for leave in (False, True):
        with zarr.config.set({"array.rectilinear_chunks": leave}):
            assert zarr.create_array({}, shape=(5,), chunks=[[2, 3]], dtype="u1").shape == (5,)


def test_an_order_of_inner_chunks_is_taken() -> None:
    codec = zarr.codecs.ShardingCodec(chunk_shape=(1,), subchunk_write_order="morton")
    assert codec == zarr.codecs.ShardingCodec(chunk_shape=(1,))
    assert "subchunk_write_order" not in codec.to_dict()["configuration"]
    with pytest.raises(ValueError, match="found 'z'"):
        zarr.codecs.ShardingCodec(chunk_shape=(1,), subchunk_write_order="z")


def test_ranges_of_one_value() -> None:
    prototype = default_buffer_prototype()
    request = zarr.abc.store.RangeByteRequest(1, 3)

    async def read() -> list[Any]:
        store = MemoryStore()
        await store.set("a", Buffer.from_bytes(b"1234"))
        batches = [batch async for batch in store.get_ranges("a", [request, None], prototype=prototype)]
        return [(number, part.to_bytes()) for batch in batches for number, part in batch]

    assert asyncio.run(read()) == [(0, b"23"), (1, b"1234")]
