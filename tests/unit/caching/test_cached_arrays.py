"""Arrays with a pool are what they are without one, but for the time that they take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import blizzarr
from blizzarr.caching import CachedStore
from blizzarr.errors import ReadOnlyError, SelectionError
from blizzarr.stores import LocalStore, MappingStore, MemoryStore, StoreWrapper, ZipStore
from blizzarr.testing.stores import StoreContract
from blizzarr.transformers import HashedTransformer

MIB = 1 << 20

DTYPES = [
    *"?bBhHiIqQefdFD",
    *(">i2", ">f8", ">c16", "S3", "U2", "M8[s]", "m8[us]", "V5"),
    *(ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.int4),
    [("a", "<i4"), ("b", ">f2")],
]


def values(dtype: npt.DTypeLike, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Elements of any bits; those of which not all bits count are converted."""
    dtype = np.dtype(dtype)
    rng = np.random.default_rng(5)
    if dtype.kind in "?bU" or dtype in (np.dtype(ml_dtypes.int4),):
        return rng.integers(0, 2, shape).astype(dtype)
    return np.frombuffer(rng.bytes(int(np.prod(shape)) * dtype.itemsize), dtype).reshape(shape)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shards", [None, (4, 6)])
def test_elements_are_the_same_to_the_bit_and_the_type(dtype: npt.DTypeLike, shards: tuple[int, ...] | None) -> None:
    data = values(dtype, (5, 9))
    z = blizzarr.create_array(None, data=data, chunks=(2, 3), shards=shards)
    cached = z.cached(blizzarr.CachePool(MIB), recheck=False)
    cached[...]
    for key in np.ndindex(5, 9):
        for negative in (key, (key[0] - 5, key[1] - 9)):
            expected, found = z[negative], cached[negative]
            assert type(found) is type(expected)
            assert found.dtype == expected.dtype
            assert found.tobytes() == expected.tobytes()
    misses = cached.store.pool.info().misses  # type: ignore[attr-defined]
    assert cached[...].tobytes() == z[...].tobytes()
    assert cached.store.pool.info().misses == misses  # type: ignore[attr-defined]


def test_single_elements_keep_the_bits_of_their_nans() -> None:
    """Signalling NaNs become quiet ones where a number of 32 bits is made one of 64."""
    bits = np.array([0x7F800001, 0xFFC00123, 0x7FA00000, 0x3F800000], "u4")
    z = blizzarr.create_array(None, data=bits.view("f4"))
    cached = z.cached(blizzarr.CachePool(MIB), recheck=False)
    cached[...]
    assert [int(np.asarray(cached[index]).view("u4")) for index in range(4)] == bits.tolist()


KEYS: list[Any] = [
    *(0, -1, (1, 2), (1, -2), (np.int64(1), 2), (np.uint8(1), np.int32(-1)), True, (True, 1), np.True_),
    *((0, 1, 2), 5, (-6, 0), (0, 9), (0, 1 << 70), (0, -(1 << 70)), (1.0, 2), "a", None, (0, None), ()),
    *(..., (..., 1), slice(1, 4), (slice(None), 3), ([0, 2], [1, 1]), (0, [1, 2]), np.ones((5, 9), bool)),
    *((slice(None, None, -2), slice(7, 1, -3)), (np.array(1), np.array(2)), (1, 2, ...), [1, 2]),
]


@pytest.mark.parametrize("key", KEYS, ids=repr)
@pytest.mark.parametrize("recheck", [True, False])
def test_keys_mean_the_same(key: Any, recheck: bool) -> None:
    """Good and bad ones, with whatever is raised for them."""
    data = np.arange(45).reshape(5, 9)
    z = blizzarr.create_array(None, data=data, chunks=(2, 3))
    cached = z.cached(blizzarr.CachePool(MIB), recheck=recheck)
    cached[...]

    def outcome(array: Any) -> Any:
        try:
            found = array[key]
        except Exception as error:
            return type(error), str(error)
        return type(found), np.asarray(found).tolist(), np.shape(found)

    assert outcome(cached) == outcome(z)


def test_keys_of_arrays_with_one_axis_and_with_none() -> None:
    one = blizzarr.create_array(None, data=np.arange(5), chunks=2).cached(blizzarr.CachePool(MIB), recheck=False)
    for _ in range(2):
        assert [one[0], one[-1], one[(3,)], one[np.int8(2)]] == [0, 4, 3, 2]
        for wrong in (5, -6, (1, 2)):
            with pytest.raises(SelectionError):
                one[wrong]
    none = blizzarr.create_array(None, data=np.float32(2.5)).cached(blizzarr.CachePool(MIB), recheck=False)
    for _ in range(2):
        assert (none[()], none[...], type(none[()])) == (2.5, 2.5, np.float32)
    ranks = blizzarr.create_array(None, data=np.arange(512).reshape((2,) * 9), chunks=(1,) * 9)
    ranks = ranks.cached(blizzarr.CachePool(MIB), recheck=False)
    for _ in range(2):
        assert ranks[(1,) * 9] == 511


LAYOUTS: dict[str, dict[str, Any]] = {
    "plain": {"compressors": None},
    "zstd": {"compressors": "zstd"},
    "blosc": {"compressors": "blosc"},
    "gzip crc32c": {"compressors": ["gzip", "crc32c"]},
    "fortran": {"order": "F", "compressors": None},
    "sharded": {"shards": (6, 8)},
    "sharded fortran": {"shards": (6, 8), "order": "F"},
    "v2": {"zarr_format": 2},
    "v1": {"zarr_format": 1},
    "draft": {"zarr_format": "v3_draft"},
    "hashed": {"storage_transformers": HashedTransformer()},
}


def stores(tmp_path: Path) -> dict[str, Callable[[], Any]]:
    """One of each kind."""
    return {
        "local": lambda: LocalStore(tmp_path / "x"),
        "memory": MemoryStore,
        "mapping": lambda: MappingStore({}),
        "wrapped": lambda: StoreWrapper(LocalStore(tmp_path / "w")),
        "within root": lambda: LocalStore(tmp_path / "l", links="within-root"),
    }


@pytest.mark.parametrize("kind", ["local", "memory", "mapping", "wrapped", "within root"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("recheck", [True, False, "open", 0.0, 60])
def test_histories_of_one_process_are_seen_as_without_a_pool(
    tmp_path: Path, layout: str, kind: str, recheck: Any
) -> None:
    """Random writes by this handle and by others, changes of shape, deletion and creation anew: nothing stale."""
    options = dict(LAYOUTS[layout])
    rng = np.random.default_rng([len(layout), len(kind)])
    store = stores(tmp_path)[kind]()
    pool = blizzarr.CachePool(int(rng.choice([1500, 6000, MIB])))
    options |= {"shape": (7, 10), "chunks": (3, 4), "dtype": "int16", "fill_value": -1}
    plain = blizzarr.create_array(store, name="" if layout != "draft" else "a", **options)
    path = plain.path
    cached = plain.cached(pool, recheck=recheck)
    other = blizzarr.open_array(store, path=path).cached(pool, recheck=False)
    model = np.full((7, 10), -1, "int16")
    for step in range(30):
        action = rng.integers(8)
        row, column = int(rng.integers(len(model))), int(rng.integers(model.shape[1]))
        if action == 0:
            part = (slice(row, row + 3), slice(column, column + 5, 2))
            model[part] = step
            [plain, cached, other][rng.integers(3)][part] = step
        elif action == 1:
            cached[row, column] = model[row, column] = step
        elif action == 2:
            plain[:3, :4] = model[:3, :4] = -1
        elif action == 3 and step % 3 == 0:
            length = int(rng.integers(1, 12))
            grown = np.full((length, 10), -1, "int16")
            grown[: len(model)] = model[:length]
            model = grown
            plain.refresh().resize(length, 10)
            cached.refresh()
            other.refresh()
        elif action == 4 and step % 7 == 0:
            plain = blizzarr.create_array(store, name=path, overwrite=True, **options | {"shape": model.shape})
            model[...] = -1
        else:
            assert cached[row, column] == other[row, column] == model[row, column], step
        np.testing.assert_array_equal(cached[row : row + 4, column:], model[row : row + 4, column:], f"{step}")
        if step % 5 == 0:
            np.testing.assert_array_equal(other[...], model, f"{step}")
    assert pool.used <= pool.limit


def test_arrays_of_objects_are_read_without_the_pool() -> None:
    pool = blizzarr.CachePool(MIB)
    z = blizzarr.create_array(None, data=np.array(["a", "bc", "def"], object), chunks=2).cached(pool, recheck=False)
    for _ in range(2):
        assert z[...].tolist() == ["a", "bc", "def"]
        assert z[1] == "bc"
    assert pool.info().misses == 0


def test_arrays_in_zip_files(tmp_path: Path) -> None:
    with ZipStore(tmp_path / "x.zip", "w") as store:
        blizzarr.create_array(store, data=np.arange(10), chunks=3)
    pool = blizzarr.CachePool(MIB)
    with ZipStore(tmp_path / "x.zip", "r") as store:
        z = blizzarr.open_array(store, mode="r").cached(pool, recheck=False)
        for _ in range(2):
            np.testing.assert_array_equal(z[...], np.arange(10))
        assert (pool.info().misses, z[3]) == (4, 3)


def test_what_is_read_only_stays_so() -> None:
    memory = MemoryStore()
    blizzarr.create_array(memory, data=[1, 2])
    z = blizzarr.open_array(memory, mode="r").cached(blizzarr.CachePool(MIB))
    assert z.read_only
    with pytest.raises(ReadOnlyError):
        z[0] = 5
    assert z[...].tolist() == [1, 2]


def test_out_is_filled_and_is_not_what_is_kept() -> None:
    z = blizzarr.create_array(None, data=np.arange(6), chunks=6, compressors=None)
    z = z.cached(blizzarr.CachePool(MIB), recheck=False)
    for _ in range(2):
        out = np.zeros(6, z.dtype)
        assert z.get_basic_selection(..., out=out) is out
        np.testing.assert_array_equal(out, np.arange(6))
        out[...] = 99
        z[...][...] = 77


def test_groups_hand_their_pool_to_their_members() -> None:
    pool = blizzarr.CachePool(MIB)
    root = blizzarr.open_group(MemoryStore(), mode="a").cached(pool, recheck=False)
    root.create_group("g").create_array("a", data=np.arange(4), chunks=2)
    assert root["g/a"][1] == root["g"]["a"][0] + 1 == 1
    assert pool.info().misses == 1
    found = root.cached(pool, recheck=True)["g/a"]
    assert isinstance(found.store, CachedStore)
    assert found.store.recheck is True


class TestCachedStore(StoreContract):
    """It passes everything on."""

    def make(self, tmp_path: Path) -> CachedStore:
        return CachedStore(MemoryStore(), blizzarr.CachePool(MIB))


class TestCachedStoreInPython(StoreContract):
    """It passes everything on, and tells of changes by itself."""

    def make(self, tmp_path: Path) -> CachedStore:
        return CachedStore(MappingStore({}), blizzarr.CachePool(MIB))
