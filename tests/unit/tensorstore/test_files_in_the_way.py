"""A file where a directory has to be: errors of the classes that both libraries raise."""

from __future__ import annotations

import errno
import re
from pathlib import Path
from typing import Any

import pytest

from blizzarr.errors import NodeNotFoundError, StoreError
from tensorstore_face import ours, theirs

_MAKE: dict[str, Any] = {"dtype": "int8", "shape": [3]}


def _raised(library: Any, spec: Any, **said: Any) -> ValueError:
    with pytest.raises(ValueError, match=r"\w") as caught:
        library.open(spec, **said).result()
    return caught.value


@pytest.mark.parametrize("below", ["", "/", "/sub/"], ids=["itself", "slash", "below"])
@pytest.mark.parametrize("driver", ["zarr3", "zarr", "n5"])
def test_opening_and_creating(driver: str, below: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    spec = {"driver": driver, "kvstore": f"file://{tmp_path}/f{below}"}
    opened, expected = (_raised(library, spec, open=True) for library in (ours, theirs))
    assert re.match(rf'NOT_FOUND: Error opening "{driver}" driver: .*{tmp_path}/f.* does not exist', str(opened))
    assert str(expected).startswith(f'NOT_FOUND: Error opening "{driver}" driver: ')
    assert isinstance(opened, NodeNotFoundError)
    created, expected = (_raised(library, spec, create=True, **_MAKE) for library in (ours, theirs))
    for error in (created, expected):
        assert re.match(rf'FAILED_PRECONDITION: Error opening "{driver}" driver: .*Not a directory', str(error))
    assert isinstance(created, StoreError)
    assert created.errno == errno.ENOTDIR
    assert (tmp_path / "f").read_text() == "x"


@pytest.mark.parametrize("library", [theirs, ours], ids=["theirs", "ours"])
@pytest.mark.parametrize("below", ["", "/", "/sub/"], ids=["itself", "slash", "below"])
def test_detecting(library: Any, below: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    assert "Failed to detect format for local file" in str(_raised(library, f"file://{tmp_path}/f{below}"))


@pytest.mark.parametrize("library", [theirs, ours], ids=["theirs", "ours"])
def test_key_value_stores(library: Any, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    with pytest.raises(ValueError, match=r"FAILED_PRECONDITION: .*[Nn]ot a directory"):
        library.KvStore.open(f"file://{tmp_path}/f/").result().write("x", b"1").result()
