"""The engine reads values of a zip file without asking the store for each, once it has asked for some."""

import os
import sys
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import ArchiveError, StoreError
from blizzarr.stores import ZipStore

COUNT = 100
VALUES = np.arange(10 * COUNT, dtype="u2")


def zipped(path: Path, **options: object) -> Path:
    with ZipStore(path, mode="w") as store:
        array = blizzarr.create_array(store, shape=VALUES.shape, chunks=10, dtype="u2", **options)
        array[...] = VALUES
    return path


def opened(path: Path, mode: str = "r") -> tuple[ZipStore, blizzarr.Array]:
    """Return the store and the array, of which the engine has read enough to have the entries itself."""
    store = ZipStore(path, mode=mode)
    array = blizzarr.open_array(store, mode="r+" if mode == "a" else "r")
    assert (array[...] == VALUES).all()
    return store, array


@pytest.mark.parametrize("options", [{}, {"compressors": None}, {"shards": 50}], ids=["zstd", "raw", "shards"])
def test_values_are_those_that_were_written(tmp_path: Path, options: dict[str, object]) -> None:
    store, array = opened(zipped(tmp_path / "a.zip", **options))
    for key in (slice(None), slice(3, 988), slice(5, 990, 7), 123, [7, 500, 999]):
        assert np.array_equal(array[key], VALUES[key])
    assert store.native_file() is not None


def test_the_store_is_not_asked_for_each_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, array = opened(zipped(tmp_path / "a.zip"))

    def refuse(*_: object) -> None:
        raise AssertionError("the store was asked")

    for name in ("get", "get_ranges", "get_up_to"):
        monkeypatch.setattr(ZipStore, name, refuse)
    assert (array[...] == VALUES).all()


def test_a_class_that_gives_other_values_is_asked(tmp_path: Path) -> None:
    class Counting(ZipStore):
        asked = 0

        def get_up_to(self, key: str, limit: int) -> bytes | None:
            self.asked += key.startswith("c/")
            return super().get_up_to(key, limit)

    store = Counting(zipped(tmp_path / "a.zip"))
    array = blizzarr.open_array(store, mode="r")
    for _ in range(3):
        assert (array[...] == VALUES).all()
    assert store.asked == 3 * COUNT


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_nothing_is_open_after_close(tmp_path: Path) -> None:
    store, _array = opened(zipped(tmp_path / "a.zip"))
    assert len(descriptors(store.path)) == 2
    store.close()
    assert descriptors(store.path) == []


def descriptors(path: Path) -> list[str]:
    folder = "/proc/self/fd"
    names = [os.path.join(folder, name) for name in os.listdir(folder)]
    return [name for name in names if os.path.lexists(name) and os.readlink(name) == str(path)]


def test_what_is_missing_or_compressed_is_asked_for(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", fill_value=7)
    other = tmp_path / "b.zip"
    with ZipFile(path) as source, ZipFile(other, "w") as target:
        for number, name in enumerate(source.namelist()):
            if name != "c/50":
                target.writestr(name, source.read(name), ZIP_DEFLATED if number % 2 else None)
    array = blizzarr.open_array(ZipStore(other), mode="r")
    expected = VALUES.copy()
    expected[500:510] = 7
    for _ in range(3):
        assert (array[...] == expected).all()


@pytest.mark.parametrize("options", [{}, {"compressors": None}], ids=["zstd", "raw"])
def test_a_damaged_value_is_an_error_that_names_it(tmp_path: Path, options: dict[str, object]) -> None:
    path = zipped(tmp_path / "a.zip", **options)
    with ZipFile(path) as file:
        entry = file.getinfo("c/77")
    data = bytearray(path.read_bytes())
    data[entry.header_offset + 30 + len("c/77") + 5] ^= 4
    path.write_bytes(data)
    array = blizzarr.open_array(ZipStore(path), mode="r")
    assert (array[:770] == VALUES[:770]).all()
    with pytest.raises(ArchiveError, match="checksum mismatch") as caught:
        array[...]
    assert caught.value.key == "c/77"


def test_a_part_of_a_compressed_chunk_is_compared_with_the_checksum_of_all(tmp_path: Path) -> None:
    """Blosc could decode the part alone, but has no checksum."""
    values = np.random.default_rng(0).integers(0, 99, (40, 1 << 19), dtype="u2")
    path = tmp_path / "a.zip"
    with ZipStore(path, mode="w") as store:
        blizzarr.create_array(
            store, data=values, chunks=(1, 1 << 19), compressors=blizzarr.codecs.BloscCodec(cname="lz4")
        )
    with ZipFile(path) as file:
        entry = file.getinfo("c/39/0")
    data = bytearray(path.read_bytes())
    data[entry.header_offset + entry.compress_size - 100] ^= 1
    path.write_bytes(data)
    array = blizzarr.open_array(ZipStore(path), mode="r")
    assert (array[:39] == values[:39]).all()
    with pytest.raises(ArchiveError, match="checksum mismatch"):
        array[39, :10]


def test_what_is_set_again_counts(tmp_path: Path) -> None:
    store, array = opened(zipped(tmp_path / "a.zip"), "a")
    array[500:510] = 1
    expected = VALUES.copy()
    expected[500:510] = 1
    assert (array[...] == expected).all()
    store.close()
    assert (opened_after(tmp_path / "a.zip") == expected).all()


def opened_after(path: Path) -> np.ndarray:
    return blizzarr.open_array(ZipStore(path), mode="r")[...]


def test_a_closed_file_is_not_read(tmp_path: Path) -> None:
    store, array = opened(zipped(tmp_path / "a.zip"))
    store.close()
    with pytest.raises(StoreError, match="has been closed"):
        array[...]


def test_a_writer_may_lock_the_file_once_its_reader_is_closed(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip")
    first, array = opened(path, "a")
    array[:10] = 0
    first.close()
    second, array = opened_for_adding(path)
    array[:10] = 5
    second.close()
    assert (opened_after(path)[:10] == 5).all()


def opened_for_adding(path: Path) -> tuple[ZipStore, blizzarr.Array]:
    store = ZipStore(path, mode="a")
    return store, blizzarr.open_array(store, mode="r+")
