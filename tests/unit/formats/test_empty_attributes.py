"""Documents of attributes without a single byte, which a full disk or a power cut leaves behind."""

from __future__ import annotations

from pathlib import Path

import pytest

import blizzarr


@pytest.mark.parametrize(("form", "name"), [(2, ".zattrs"), (1, "attrs")])
@pytest.mark.parametrize("left", [b"", b"\n"])
def test_they_are_read_as_no_attributes(tmp_path: Path, form: int, name: str, left: bytes) -> None:
    """The array could not be opened for them."""
    blizzarr.create_array(tmp_path, data=[1, 2], zarr_format=form)
    (tmp_path / name).write_bytes(left)
    with pytest.warns(UserWarning, match="the document of attributes is empty"):
        array = blizzarr.open_array(tmp_path, mode="r+")
    assert array[...].tolist() == [1, 2]
    assert dict(array.attrs) == {}
    assert blizzarr.check(tmp_path).kinds() == {"document-warning": 1}
    array.resize((3,))
    array.attrs["a"] = 1
    assert dict(blizzarr.open_array(tmp_path).attrs) == {"a": 1}
    assert blizzarr.check(tmp_path).kinds() == {}


def test_a_group_has_none_either(tmp_path: Path) -> None:
    blizzarr.create_group(tmp_path, zarr_format=2).create_array("a", data=[1])
    (tmp_path / ".zattrs").write_bytes(b"")
    with pytest.warns(UserWarning, match="the document of attributes is empty"):
        assert list(blizzarr.open_group(tmp_path)) == ["a"]
    with pytest.warns(UserWarning, match="the document of attributes is empty"):
        blizzarr.upgrade(tmp_path)
    assert dict(blizzarr.open_group(tmp_path).attrs) == {}
