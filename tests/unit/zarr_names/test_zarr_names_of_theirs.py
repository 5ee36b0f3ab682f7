"""What the public modules of an installed zarr-python have is here too, or its absence says what to do."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import numpy as np
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


def test_settings_of_codecs() -> None:
    for name, path in theirs.config.get("codecs").items():
        module, _, label = zarr.config["codecs"][name].rpartition(".")
        assert getattr(import_module(module), label) is zarr.registry.get_codec_class(name)
        assert label == path.rpartition(".")[2]
    assert zarr.config.get("codecs.blosc").endswith(".BloscCodec")


def test_array_config() -> None:
    from zarr.core.array_spec import ArrayConfig as Theirs

    known = Theirs.from_dict({}).to_dict()
    given = {**known, "order": "F", "write_empty_chunks": True}
    if "sharding_coalesce_max_bytes" in known:
        given["sharding_coalesce_max_bytes"] = 5
    array = zarr.create_array({}, shape=(4,), dtype="u1", config=given)
    found = array.config.to_dict()
    assert {name: found[name] for name in known} == given
    assert array.with_config({"order": "C"}).config.to_dict() == {**found, "order": "C"}
    for wrong, kind in (
        ({"read_missing_chunks": False}, ValueError),
        ({"z": 1}, TypeError),
        ({"order": "Z"}, ValueError),
    ):
        with pytest.raises(kind, match="expected"):
            zarr.create_array({}, shape=(4,), dtype="u1", config=wrong)
        with pytest.raises(kind, match="expected"):
            array.with_config(wrong)


def test_missing_chunks_cannot_be_an_error() -> None:
    """A program that counts on the error would take the fill value for data."""
    for value in (False, 0):
        with pytest.raises(ValueError, match=f"read_missing_chunks to be True, found {value}"):
            zarr.config.set({"array.read_missing_chunks": value})
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


@pytest.mark.parametrize("library", [theirs, zarr])
def test_synchronous_methods_of_wrappers(library: Any, caplog: pytest.LogCaptureFixture) -> None:
    storage, abc = library.storage, import_module(f"{library.__name__}.abc.store")
    if not hasattr(storage.WrapperStore, "get_sync"):
        pytest.skip("this release of zarr-python has no such methods")
    buffers = import_module(f"{library.__name__}.core.buffer")
    prototype = buffers.default_buffer_prototype()

    def buffer(value: bytes) -> Any:
        return prototype.buffer.from_bytes(value)

    inner = storage.MemoryStore()
    for store in (storage.WrapperStore(inner), storage.LoggingStore(inner)):
        assert isinstance(store, abc.SupportsSyncStore)
        store.set_sync("a", buffer(b"1234"))
        part = store.get_sync("a", prototype=prototype, byte_range=abc.SuffixByteRequest(1))
        assert part.to_bytes() == b"4"
        assert isinstance(part, type(buffer(b"")))
        requests = [abc.RangeByteRequest(1, 3), None]
        parts = store.get_ranges_sync("a", requests, prototype=prototype)
        assert sorted((number, value.to_bytes()) for number, value in parts) == [(0, b"23"), (1, b"1234")]
        store.delete_sync("a")
        assert store.get_sync("a") is None
        with pytest.raises(BaseExceptionGroup) as missing:
            store.get_ranges_sync("a", requests, prototype=prototype)
        assert missing.value.subgroup(FileNotFoundError) is not None
    assert store.counter == {"set_sync": 1, "get_sync": 6, "delete_sync": 1}
    assert len(caplog.messages) == 16

    place = storage.StorePath(inner, "b")
    place.set_sync(buffer(b"[1]"))
    assert place.get_sync(byte_range=abc.OffsetByteRequest(1)).to_bytes() == b"1]"
    assert asyncio.run(place.get_json()) == [1]
    place.delete_sync()
    assert asyncio.run(place.get_json()) is None
    assert place.get_sync() is None


def test_wrapped_stores_without_synchronous_methods() -> None:
    class Asynchronous(zarr.abc.store.Store):
        supports_writes = supports_deletes = supports_listing = True
        get = get_partial_values = exists = set = delete = list = list_prefix = list_dir = __eq__ = None  # type: ignore

    store = zarr.storage.WrapperStore(Asynchronous())
    prototype = default_buffer_prototype()
    for call in (
        lambda: store.get_sync("a"),
        lambda: store.set_sync("a", Buffer.from_bytes(b"")),
        lambda: store.delete_sync("a"),
        lambda: zarr.storage.StorePath(store).get_sync(),
        lambda: store.get_ranges_sync("a", [None], prototype=prototype),
    ):
        with pytest.raises(TypeError, match="Asynchronous does not support synchronous"):
            call()


def test_memory_urls_are_those_of_fsspec() -> None:
    """Both libraries write the same memory, each format beside the other; paths of nodes begin at the URL."""
    fs = pytest.importorskip("fsspec").filesystem("memory")
    for version in (2, 3):
        url = f"memory://of-theirs/{version}.zarr"
        zarr.open_group(url, mode="w", zarr_format=version)["x"] = [1, 2]
        assert zarr.open_array(f"{url}/x", mode="r").path == ""
        assert zarr.open_group(url, mode="r")["x"].path == "x"
        assert theirs.open_group(url, mode="r+")["x"][:].tolist() == [1, 2]
        assert fs.exists(f"/of-theirs/{version}.zarr/x")
    fs.rm("/of-theirs", recursive=True)


@pytest.mark.parametrize("version", [2, 3])
def test_arrays_saved_together_have_the_codecs_of_one(version: int) -> None:
    for library in (zarr, theirs):
        mapping: dict[str, Any] = {}
        library.save(library.storage.MemoryStore(mapping), np.arange(2), x=np.ones(2), zarr_format=version)
        found = {name: array.compressors for name, array in theirs.open_group(mapping, mode="r").arrays()}
        alone = theirs.create_array({}, data=np.arange(2), zarr_format=version).compressors
        assert found == {"arr_0": alone, "x": alone}


@pytest.mark.parametrize("order", [None, "C", "F"])
def test_results_have_the_order_of_the_array(order: Any) -> None:
    """Also where the chunks have another one."""
    for library in (zarr, theirs):
        turned = library.codecs.TransposeCodec(order=(1, 0))
        options = {"shape": (4, 5), "chunks": (2, 3), "dtype": "i4", "config": order and {"order": order}}
        array = library.create_array({}, filters=[turned], **options)
        for result in (array[:], array[1:, ::2], array.oindex[[0, 2], :]):
            assert (array.order, result.flags.f_contiguous) == (order or "C", order == "F")


def test_file_systems_are_shown_as_theirs() -> None:
    fsspec = pytest.importorskip("fsspec")
    store = zarr.storage.FsspecStore.from_url("memory://shown/here")
    assert (str(store), repr(store)) == ("<FsspecStore(MemoryFileSystem, /shown/here)>",) * 2
    # zarr-python wraps a file system without coroutines, and shows the name of the wrapper.
    other = theirs.storage.FsspecStore.from_url("memory://shown/here")
    assert repr(other).replace(type(other.fs).__name__, "MemoryFileSystem") == repr(store)
    secret = zarr.storage.FsspecStore(fsspec.filesystem("memory"), path="https://user:secret@example.org/a")
    assert "secret" not in repr(secret)


def test_open_files_are_not_taken() -> None:
    with pytest.raises(
        TypeError, match="expected the path of a zip file, found BytesIO; open files are not taken here"
    ):
        zarr.storage.ZipStore(io.BytesIO())  # type: ignore[arg-type]
