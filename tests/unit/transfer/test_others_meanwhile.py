"""What others do meanwhile: to the store between two requests, to the array since it was opened, to the source."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import CodecError
from blizzarr.stores import MappingStore
from support.child import answer

RAW = {"name": "bytes", "configuration": {"endian": "little"}}
INDEX = [RAW, {"name": "crc32c"}]
LENGTH = 1 << 17


def sharding(inner: int, *codecs: Any, location: str = "end") -> dict[str, Any]:
    configuration = {
        "chunk_shape": [inner],
        "codecs": codecs or (RAW,),
        "index_codecs": INDEX,
        "index_location": location,
    }
    return {"name": "sharding_indexed", "configuration": configuration}


SHARDS = {
    "raw": sharding(1 << 15),  # so large that less than an inner chunk would be worth a request
    "index in front": sharding(1 << 15, location="start"),
    "zstd": sharding(1 << 13, RAW, {"name": "zstd", "configuration": {"level": 0, "checksum": False}}),
    "nested": sharding(1 << 15, sharding(1 << 10)),
}


class Between(MappingStore):
    """Does something to the values before a request for ranges, when there have been enough of them."""

    def __init__(self) -> None:
        super().__init__({})
        self.before: dict[int, Any] = {}
        self.requests = 0

    def get_ranges(self, key: str, ranges: Any) -> Any:
        self.requests += 1
        self.before.get(self.requests, lambda: None)()
        return super().get_ranges(key, ranges)


def _shard(serializer: str) -> tuple[Between, blizzarr.Array]:
    store = Between()
    array = blizzarr.create_array(
        store,
        shape=LENGTH,
        chunks=LENGTH,
        dtype="int32",
        fill_value=7,
        serializer=SHARDS[serializer],
        compressors=None,
    )
    array[...] = np.repeat(np.arange(1, 5), LENGTH // 4)
    store.requests = 0
    return store, array


@pytest.mark.parametrize("serializer", SHARDS)
def test_a_shard_deleted_between_two_requests_reads_as_missing(serializer: str) -> None:
    """And not as whatever lay in the memory of the result."""
    for request in (1, 2):
        store, array = _shard(serializer)
        store.before[request] = lambda store=store: store.mapping.pop("c/0", None)
        assert (array[...] == 7).all()
        assert store.requests == request


@pytest.mark.parametrize("serializer", SHARDS)
@pytest.mark.parametrize("often", [1, 100])
def test_a_shard_replaced_between_two_requests_is_read_as_one_version(serializer: str, often: int) -> None:
    """The inner chunks of the new one do not lie where the index of the old one says; also when it never stops."""
    store, array = _shard(serializer)
    versions = [store.mapping["c/0"]]
    array[LENGTH // 4 : LENGTH // 2] = 7
    versions.insert(0, store.mapping["c/0"])
    store.requests = 0
    for number in range(often):
        # Before each second request, which is the one that is made by an index.
        store.before[2 * number + 2] = lambda value=versions[number % 2]: store.mapping.update({"c/0": value})
    found = array[...].reshape(4, -1)
    assert (found == found[:, :1]).all()
    assert found[:, 0].tolist() in ([1, 2, 3, 4], [1, 7, 3, 4])


def test_several_handles_of_one_mapping_lose_nothing() -> None:
    values: dict[str, bytes] = {}
    blizzarr.create_array(values, shape=64, chunks=64, dtype="int32")

    def write(first: int) -> None:
        array = blizzarr.open_array(values)
        for position in range(first, first + 16):
            array[position] = position

    threads = [threading.Thread(target=write, args=(first,)) for first in range(0, 64, 16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (blizzarr.open_array(values)[...] == np.arange(64)).all()


@pytest.mark.parametrize("layout", [{"chunks": 20}, {"chunks": 5, "shards": 20}, {"chunks": 20, "shards": 20}])
@pytest.mark.parametrize("value", [3, 0])
def test_who_has_not_seen_an_append_does_not_undo_it(layout: dict[str, int], value: int) -> None:
    """All elements that this handle knows of are written, but not all that are in the chunk."""
    first = blizzarr.create_array({}, shape=5, dtype="int32", fill_value=0, **layout)
    first[...] = 1
    second = blizzarr.open_array(first.store)
    second.append(np.full(7, 2))
    first[...] = value
    assert second[...].tolist() == [value] * 5 + [2] * 7


@pytest.mark.parametrize("layout", [{"chunks": 20}, {"chunks": 5, "shards": 20}])
def test_a_damaged_chunk_at_the_edge_can_be_replaced(layout: dict[str, int]) -> None:
    values: dict[str, bytes] = {}
    array = blizzarr.create_array(values, shape=7, dtype="int32", **layout)
    array[...] = 1
    values["c/0"] = values["c/0"][:-3]
    with pytest.raises(CodecError):
        array[:5] = 2
    array[...] = 3
    assert (array[...] == 3).all()


@pytest.mark.parametrize(
    "codec",
    [
        "gzip",
        *(
            pytest.param(codec, marks=pytest.mark.thorough)
            for codec in ("crc32c", "zstd", "zstd with checksum", "blosc")
        ),
    ],
)
def test_a_source_that_changes_while_it_is_written_makes_a_chunk_that_can_be_read(codec: str) -> None:
    """Once, libdeflate wrote past its output, and checksums were those of other bytes."""
    program = """
    random = np.random.default_rng(0)
    one = random.integers(0, 255, 1 << 18, dtype="uint8")
    one[: 1 << 15] //= 3
    two = np.full_like(one, 255)
    source = one.copy()
    name, _, checksum = ARGUMENTS["codec"].partition(" ")
    codec = {"name": name, "configuration": {"level": 1} if name in ("gzip", "zstd") else {}}
    if name == "zstd":
        codec["configuration"]["checksum"] = bool(checksum)
    array = blizzarr.create_array({}, shape=one.shape, chunks=one.shape, dtype="uint8", compressors=codec)
    ends = time.monotonic() + 1
    def change():
        while time.monotonic() < ends:
            np.copyto(source, one)
            time.sleep(0.0003)
            np.copyto(source, two)
    thread = threading.Thread(target=change)
    thread.start()
    mixture = True
    while time.monotonic() < ends:
        array[...] = source
        found = array[...]
        mixture &= bool(((found == one) | (found == two)).all()) or name in ("blosc", "zstd")
    thread.join()
    tell(mixture=mixture)
    """
    assert answer(program, codec=codec)["mixture"]


def test_more_chunks_than_memory_has_room_to_list() -> None:
    """Filling 2^40 chunks takes years, but it begins, and can be stopped."""
    program = """
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    array = blizzarr.create_array({}, shape=1 << 40, chunks=1, dtype="uint8")
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        array[...] = 1
    except KeyboardInterrupt:
        tell(peak=peak(), written=len(array.store.list("c")) > 0)
    """
    found = answer(program)
    assert found["written"]
    assert found["peak"] < 500


def test_a_claim_of_a_giant_chunk_costs_no_memory_without_data() -> None:
    program = """
    values = {}
    array = blizzarr.create_array(values, shape=1 << 32, chunks=1 << 32, dtype="uint8", compressors=ARGUMENTS["codec"])
    values["c/0"] = bytes.fromhex("28b52ffd") + b"garbage"
    begun = time.process_time()
    for change in (lambda: array[5], lambda: array.__setitem__(5, 1)):
        try:
            change()
        except (CodecError, LimitError):
            pass
    tell(peak=peak(), seconds=time.process_time() - begun)
    """
    for codec in ("zstd", "gzip", "blosc"):
        found = answer(program, codec=codec)
        assert found["peak"] < 500
        assert found["seconds"] < 1
