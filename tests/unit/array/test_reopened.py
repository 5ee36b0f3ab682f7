"""Arrays that are opened again share what was read and prepared, as long as nothing at their place has changed."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
from pathlib import Path
from shutil import copytree, rmtree
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import LimitError, NodeNotFoundError, ReadOnlyError

NAMES = (
    "same",
    "attributes",
    "array",
    "sibling",
    "gone",
    "moved",
    "writing",
    "chunks",
    "limit",
    "by_path",
    "resized",
    "edited",
)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Arrays that were opened twice, so long after their last change that their versions are settled."""
    root = tmp_path_factory.mktemp("reopened")
    for name in NAMES:
        array = blizzarr.create_array(f"{root}/{name}/a", shape=4, chunks=2, dtype="int16", attributes={"list": [1]})
        array[...] = [1, 2, 3, 4]
    copytree(root / "moved", root / "elsewhere")
    blizzarr.open(f"{root}/elsewhere/a")[0] = 9
    time.sleep(2.1)
    for name in NAMES:
        for _ in range(2):
            assert blizzarr.open(f"{root}/{name}/a")[0] == 1
    return root


def test_nothing_is_prepared_again(places: Path) -> None:
    one, other = (blizzarr.open(f"{places}/same/a") for _ in range(2))
    assert one._binding is not None
    assert one._binding is other._binding
    one.metadata.attributes["list"].append(2)
    one.metadata.attributes["more"] = 1
    assert dict(blizzarr.open(f"{places}/same/a").attrs) == {"list": [1]}
    assert (other[...] == [1, 2, 3, 4]).all()
    assert one.store is not other.store


def test_settings_of_the_store_are_its_own(places: Path) -> None:
    writable = blizzarr.open(f"{places}/same/a")
    for _ in range(3):
        reading = blizzarr.open(f"{places}/same/a", mode="r")
        with pytest.raises(ReadOnlyError):
            reading[0] = 5
    store = blizzarr.stores.LocalStore(f"{places}/same/a", durability="full")
    assert blizzarr.open(store)._binding is not writable._binding


def test_attributes_of_others_are_shown(places: Path) -> None:
    place = f"{places}/attributes/a"
    blizzarr.open(place).attrs["new"] = 1
    assert dict(blizzarr.open(place).attrs) == {"list": [1], "new": 1}


def test_another_array_is_another_array(places: Path) -> None:
    place = f"{places}/array/a"
    blizzarr.create_array(place, data=np.full(3, 0.5), chunks=3, overwrite=True)
    for _ in range(3):
        assert (blizzarr.open(place)[...] == [0.5, 0.5, 0.5]).all()


def test_another_shape_is_another_shape(places: Path) -> None:
    place = f"{places}/resized/a"
    blizzarr.open(place).append([5, 6])
    for _ in range(3):
        assert (blizzarr.open(place)[...] == [1, 2, 3, 4, 5, 6]).all()


def test_a_document_that_is_written_over_counts(places: Path) -> None:
    document = places / "edited/a/zarr.json"
    described = json.loads(document.read_text())
    document.write_text(json.dumps({**described, "shape": [3]}))
    for _ in range(3):
        assert (blizzarr.open(f"{places}/edited/a")[...] == [1, 2, 3]).all()


def test_a_document_of_another_format_is_warned_of(places: Path) -> None:
    place = places / "sibling/a"
    (place / ".zarray").write_bytes(b"{}")
    for _ in range(4):
        with pytest.warns(UserWarning, match="two formats"):
            blizzarr.open(str(place))


def test_what_is_gone_is_gone(places: Path) -> None:
    rmtree(places / "gone")
    with pytest.raises(NodeNotFoundError):
        blizzarr.open(f"{places}/gone/a")


def test_a_directory_that_was_moved_there_counts(places: Path) -> None:
    (places / "moved").rename(places / "aside")
    (places / "elsewhere").rename(places / "moved")
    assert blizzarr.open(f"{places}/moved/a")[0] == 9


def test_writes_are_seen_by_all(places: Path) -> None:
    place = f"{places}/writing/a"
    one, other = blizzarr.open(place), blizzarr.open(place)
    one[1:3] = 7
    assert (other[...] == [1, 7, 7, 4]).all()
    assert (blizzarr.open(place)[...] == [1, 7, 7, 4]).all()


def test_long_elements_are_refused(places: Path) -> None:
    blizzarr.open(f"{places}/limit/a")
    with blizzarr.config.set(element_bytes=1), pytest.raises(LimitError, match="element_bytes"):
        blizzarr.open(f"{places}/limit/a")[0]


def test_paths_within_a_store(places: Path) -> None:
    for _ in range(3):
        array = blizzarr.open(places / "by_path", path="a")
        assert array.path == "a"
        assert array[3] == 4
    assert blizzarr.open(places / "by_path", path="a")._binding is array._binding


def test_an_array_that_was_just_made_is_shared(tmp_path: Path) -> None:
    """The times of its files are too new to tell of further changes, so that the document's bytes are compared."""
    blizzarr.create_array(str(tmp_path), data=np.arange(4), chunks=2)
    for _ in range(3):
        array = blizzarr.open(str(tmp_path))
        assert array[3] == 3
    assert blizzarr.open(str(tmp_path))._binding is array._binding
    document = tmp_path / "zarr.json"
    document.write_text(json.dumps({**json.loads(document.read_text()), "shape": [3]}))
    assert blizzarr.open(str(tmp_path)).shape == (3,)
    for _ in range(3):
        assert (blizzarr.open(str(tmp_path))[...] == [0, 1, 2]).all()
    (tmp_path / ".zarray").write_bytes(b"{}")
    for _ in range(3):
        with pytest.warns(UserWarning, match="two formats"):
            blizzarr.open(str(tmp_path))


def test_what_another_handle_has_changed_meanwhile_is_read(tmp_path: Path) -> None:
    """All of them share what the engine compares with the document, and it knows the new one by then."""
    blizzarr.create_array(str(tmp_path), data=np.arange(40).reshape(8, 5), chunks=(3, 2))
    shapes = [(9, 5), (4, 5), (8, 7), (1, 1), (2, 3)]
    for before, after in itertools.pairwise([(8, 5), *shapes]):
        array = blizzarr.open_array(str(tmp_path), mode="r+")
        assert array.shape == before
        array.resize(after)
    for length in range(2, 7):
        array = blizzarr.open_array(str(tmp_path), mode="r+")
        assert len(array) == length
        array.append(np.ones((1, 3)))
    document = tmp_path / "zarr.json"
    for number in range(4):
        array = blizzarr.open_array(str(tmp_path), mode="r+")
        assert array.attrs.get("number", 0) == number
        # In place, as by an editor; to read shows that only the attributes have changed.
        document.write_text(json.dumps({**json.loads(document.read_text()), "attributes": {"number": number + 1}}))
        assert array[0, 0] == 0


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the memory in use is looked up in /proc")
@pytest.mark.parametrize("options", [{"dtype": "int8", "attributes": {"text": "x" * 2**21}}, {"dtype": "S4000000"}])
def test_what_is_remembered_of_each_array_is_small(tmp_path: Path, options: dict[str, Any]) -> None:
    """1,024 arrays are remembered: their number does not bound the memory where each has a long document or element."""
    for number in range(33):
        blizzarr.create_array(f"{tmp_path}/{number}", shape=2, **options)
    program = """if True:
        import re, sys, blizzarr

        def opened(numbers):
            for number in numbers:
                for _ in range(4):
                    blizzarr.open(f"{sys.argv[1]}/{number}")
            return int(re.search(r"VmRSS:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) >> 10

        before = opened([0])
        print(opened(range(1, 33)) - before)
        """
    grown = subprocess.run([sys.executable, "-c", program, tmp_path], check=True, capture_output=True).stdout
    assert int(grown) < 48, "MiB; 2 for each array are too many"
