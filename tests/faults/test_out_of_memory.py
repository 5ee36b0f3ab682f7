"""Faults: no memory (row 92), from the engine's side.

The address space of a child is capped a little above what it has, again and again with a little more: so that each
allocation is the one that fails some time. Chunks are large, as what they need is what a system may lack.
"""

from __future__ import annotations

import sys

import pytest

from support.child import answer

CAPPED = """
    import numpy as np
    from blizzarr.stores import LocalStore

    # Large blocks come from the system and go back to it (M_MMAP_THRESHOLD), and no thread has address space to itself
    # (M_ARENA_MAX): nothing lies about for the next one.
    for name, value in ((-3, 128 << 10), (-8, 1)):
        assert ctypes.CDLL(None).mallopt(name, value) == 1

    def used():
        return int(open("/proc/self/statm").read().split()[0]) * os.sysconf("SC_PAGESIZE")

    def capped(room, do):
        # What it does, with so many bytes more of address space than there are now. In a thread of its own, which has
        # no buffers yet; it is there before the cap, as it needs room itself.
        outcome, go = [], threading.Event()
        def run():
            go.wait()
            try:
                do()
                outcome.append("fine")
            except BaseException as error:
                outcome.append(type(error).__name__)
        thread = threading.Thread(target=run)
        thread.start()
        resource.setrlimit(resource.RLIMIT_AS, (used() + room, resource.RLIM_INFINITY))
        go.set()
        thread.join()
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        return outcome[0]

    MIB = 1 << 20
"""

CHUNKS = """
    BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
    INNER = {"codecs": [BYTES, {"name": "crc32c"}], "index_codecs": [BYTES], "index_location": "end"}
    SHARD = {"name": "sharding_indexed", "configuration": {"chunk_shape": [1 << 18], **INNER}}
    CHAINS = {
        "raw": [BYTES],
        "zstd": [BYTES, {"name": "zstd", "configuration": {"level": 1, "checksum": True}}],
        "gzip, gzip": [BYTES, *[{"name": "gzip", "configuration": {"level": 1}}] * 2],
        "blosc": [BYTES, {"name": "blosc", "configuration": {
            "cname": "lz4", "clevel": 5, "shuffle": "bitshuffle", "typesize": 8, "blocksize": 0}}],
        "shard": [SHARD],
        "zstd of a shard": [SHARD, {"name": "zstd", "configuration": {"level": 1, "checksum": False}}],
        "Python": [BYTES, {"name": "numcodecs.lzma", "configuration": {"preset": 0}}],
    }
    data = np.arange(1 << 20, dtype="f8") // 3  # one chunk of 8 MiB
    store = LocalStore(ARGUMENTS["root"])
    codecs = CHAINS[ARGUMENTS["chain"]]
    array = blizzarr.create_array(store, name="a", data=np.tile(data, 2), chunks=data.shape, codecs=codecs)
    out = np.empty_like(data)
    part = np.full(1000, -1.0)
    seen = set()
    wrong = []
    with blizzarr.config.set(threads=ARGUMENTS["threads"]):
        array[:]
        for room in (0, *(2**step * 64 << 10 for step in range(8)), *(step * MIB for step in range(10, 40, 4))):
            outcome = capped(room, lambda: array.get_basic_selection(slice(0, len(data)), out=out))
            seen.add(outcome)
            if outcome == "fine" and not np.array_equal(out, data):
                wrong.append(("read", room))
            seen.add(capped(room, lambda: array.__setitem__(slice(5, 1005), part)))
            seen.add(capped(room, lambda: array.__setitem__(slice(0, len(data)), data)))
            # Its locks are free, and each chunk is wholly old or wholly new.
            found = array[:]
            changed = data.copy()
            changed[5:1005] = -1
            if not (np.array_equal(found[:len(data)], data) or np.array_equal(found[:len(data)], changed)):
                wrong.append(("write", room))
            if not np.array_equal(found[len(data):], data):
                wrong.append(("neighbour", room))
            array[:len(data)] = data
    keys = sorted(key for key in store.list())
    tell(seen=sorted(seen), wrong=wrong, keys=keys)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the address space can be capped on Linux")
@pytest.mark.parametrize("threads", [pytest.param(1, marks=pytest.mark.thorough), 4])
@pytest.mark.parametrize(
    "chain",
    [
        *("gzip, gzip", "blosc", "zstd of a shard", "Python"),
        *(pytest.param(part, marks=pytest.mark.thorough) for part in ("raw", "zstd", "shard")),
    ],
)
def test_row_092_every_allocation_may_fail(tmp_path: object, chain: str, threads: int) -> None:
    """An error that is a `MemoryError`; the process lives, locks are released, nothing is torn."""
    facts = answer(CAPPED + CHUNKS, root=str(tmp_path), chain=chain, threads=threads)
    assert facts["wrong"] == []
    assert set(facts["seen"]) <= {"fine", "LimitError", "MemoryError"}
    assert "fine" in facts["seen"]
    assert {"LimitError", "MemoryError"} & set(facts["seen"])
    assert [key for key in facts["keys"] if key not in ("zarr.json", "a/zarr.json")] == ["a/c/0", "a/c/1"]


SELECTIONS = """
    from blizzarr.caching import CachedStore, CachePool
    from blizzarr.stores import MemoryStore

    SIDE, SHAPES = 512, {"chunks": {"chunks": (64, 64)}, "shards": {"chunks": (16, 16), "shards": (128, 128)}}
    data = np.arange(SIDE * SIDE, dtype="i4").reshape(SIDE, SIDE)
    store = LocalStore(ARGUMENTS["root"])
    array = blizzarr.create_array(store, data=data, **SHAPES[ARGUMENTS["layout"]])
    if ARGUMENTS["cached"]:
        array = blizzarr.open_array(CachedStore(store, CachePool(16 << 20)))
    random = np.random.default_rng(1)
    rows, columns = random.integers(0, SIDE, (2, 1 << 17))
    lines = random.integers(0, SIDE, 1 << 16)
    mask = random.random((SIDE, SIDE)) < 0.5
    listed, masked = data[rows, columns], data[mask]
    READS = {
        "points": (lambda: array.vindex[rows, columns], listed),
        "sorted points": (lambda: array.vindex[np.sort(rows), columns], data[np.sort(rows), columns]),
        "a list": (lambda: array[lines, :4], data[lines, :4]),
        "a product": (lambda: array.oindex[lines[:400], lines[:400]], data[np.ix_(lines[:400], lines[:400])]),
        "a mask": (lambda: array[mask], masked),
    }
    # What is written is what is there: each element is right at any moment.
    WRITES = {
        "points": lambda: array.vindex.__setitem__((rows, columns), listed),
        "a product": lambda: array.oindex.__setitem__((slice(None), np.arange(0, SIDE, 2)), data[:, ::2]),
        "a mask": lambda: array.__setitem__(mask, masked),
    }
    seen, wrong = set(), []
    with blizzarr.config.set(threads=ARGUMENTS["threads"]):
        array[:]
        for room in (0, *(2**step * 64 << 10 for step in range(5)), *(step * MIB for step in range(2, 12)), 64 * MIB):
            for name, (read, expected) in READS.items():
                found = []
                outcome = capped(room, lambda: found.append(read()))
                seen.add(outcome)
                if outcome == "fine" and not np.array_equal(found[0], expected):
                    wrong.append((name, room))
            for name, write in WRITES.items():
                seen.add(capped(room, write))
        if not np.array_equal(array[:], data):
            wrong.append("written")
    tell(seen=sorted(seen), wrong=wrong, errors=len(blizzarr.check(store).findings))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the address space can be capped on Linux")
@pytest.mark.parametrize("threads", [pytest.param(1, marks=pytest.mark.thorough), 4])
@pytest.mark.parametrize(
    ("layout", "cached"),
    [
        *(("chunks", False), ("shards", True)),
        *(pytest.param(*case, marks=pytest.mark.thorough) for case in (("chunks", True), ("shards", False))),
    ],
)
def test_row_092_allocations_for_selections_may_fail(tmp_path: object, layout: str, cached: bool, threads: int) -> None:
    """Lists of indices, masks, points and products: what is as long as the selection may find no memory."""
    facts = answer(CAPPED + SELECTIONS, root=str(tmp_path), layout=layout, cached=cached, threads=threads)
    assert (facts["wrong"], facts["errors"]) == ([], 0)
    assert set(facts["seen"]) == {"fine", "LimitError", "MemoryError"}
