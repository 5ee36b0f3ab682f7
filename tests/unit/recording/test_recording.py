"""Manifests: what is stored now is what was stored then, or it is told what is not."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import ConflictError, MetadataError, NodeNotFoundError, StoreError
from blizzarr.recording import Difference, Manifest, compare, read_manifest, record, write_manifest
from blizzarr.stores import LocalStore, MappingStore, Store, StoreWrapper
from blizzarr.stores.protocol import Value


def text_of(manifest: Manifest) -> str:
    """The content of the file of a manifest."""
    return "".join(manifest.lines())


FORMATS = ["v3", "v2", "v3_draft", "v3_draft_zarr_python", "v1"]


def hierarchy(store: Store, zarr_format: str) -> None:
    """A group with two arrays in it, or in v1 an array."""
    path = "" if zarr_format == "v1" else "g/a"
    blizzarr.create_array(store, name=path or None, data=np.arange(6), chunks=2, zarr_format=zarr_format)  # type: ignore[arg-type]
    if path:
        blizzarr.open_group(store, path="g").attrs["title"] = "brain"


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_everything_that_belongs_to_it_is_recorded(zarr_format: str) -> None:
    values: dict[str, bytes] = {}
    store = MappingStore(values)
    hierarchy(store, zarr_format)
    mine = {"notes.txt": b"mine"}
    manifest = record(MappingStore(values | mine), "")
    assert manifest.digests == {key: hashlib.sha256(value).hexdigest() for key, value in values.items()}
    assert list(compare(store, "", manifest)) == []


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_what_has_changed_is_told(zarr_format: str) -> None:
    values: dict[str, bytes] = {}
    hierarchy(MappingStore(values), zarr_format)
    manifest = record(MappingStore(values), "")
    first, second, *_ = sorted(key for key in values if key[-1].isdigit())
    values[first] = values[first][:-1]
    del values[second]
    extra = second[:-1] + "2"
    del values[extra]
    again = record(MappingStore(values), "")
    values[extra] = b"new"
    assert list(compare(MappingStore(values), "", manifest)) == [
        Difference("changed", first),
        Difference("missing", second),
        Difference("changed", extra),
    ]
    assert list(compare(MappingStore(values), "", again)) == [Difference("new", extra)]


def test_what_cannot_be_read_is_told() -> None:
    class Failing(StoreWrapper):
        def get(self, key: str) -> Value | None:
            if key == "c/1":
                raise StoreError("it burns", key=key)
            return super().get(key)

    store = MappingStore({})
    blizzarr.create_array(store, data=np.arange(6), chunks=2)
    manifest = record(store, "")
    (found,) = compare(Failing(store), "", manifest)
    assert (found.kind, found.key, str(found.error)) == ("unreadable", "c/1", "key c/1: it burns")
    with pytest.raises(StoreError, match="key c/1: it burns"):
        record(Failing(store), "")
    with pytest.raises(NodeNotFoundError):
        record(store, "nothing")


def test_a_node_may_have_moved(tmp_path: Path) -> None:
    """Its manifest goes with it, as keys are written relative to the node."""
    group = blizzarr.create_group(tmp_path / "a.zarr")
    group.create_array("x/y", data=np.arange(6), chunks=2)
    manifest = Manifest.read(text_of(record(LocalStore(tmp_path / "a.zarr"), "x")).split("\n"))
    assert sorted(manifest.digests)[:2] == ["y/c/0", "y/c/1"]
    shutil.copytree(tmp_path / "a.zarr" / "x", tmp_path / "b.zarr")
    moved = LocalStore(tmp_path / "b.zarr")
    assert list(compare(moved, "", manifest)) == []
    moved.delete("y/c/1")
    assert list(compare(moved, "", manifest)) == [Difference("missing", "y/c/1")]


def test_the_draft_has_two_prefixes() -> None:
    """Where a node's documents and chunks are apart, keys are written as they are."""
    values: dict[str, bytes] = {}
    hierarchy(MappingStore(values), "v3_draft")
    manifest = record(MappingStore(values), "g/a")
    assert sorted(manifest.digests) == sorted(key for key in values if "g/a" in key)
    assert list(compare(MappingStore(values), "g/a", manifest)) == []
    with pytest.raises(ConflictError, match="expected a manifest of this node, found one of /g/a, with other keys"):
        next(compare(MappingStore(values), "g", manifest))


SPREAD = ["blizzarr.hashed"]


def test_storage_transformers_hide_nothing() -> None:
    store = MappingStore({})
    hashed = blizzarr.create_array(
        store, name="h", data=np.arange(6), chunks=2, storage_transformers=["blizzarr.hashed"]
    )
    manifest = record(store, "h")
    assert sorted(manifest.digests) == sorted(key[2:] for key in store.list("h/"))
    hashed[0] = 9
    assert [found.kind for found in compare(store, "h", manifest)] == ["changed"]


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="needs GNU's sha256sum")
def test_other_programs_read_it(tmp_path: Path) -> None:
    """`sha256sum --check` finds every object whole, also those whose names are escaped; and the one that is not."""
    group = blizzarr.create_group(tmp_path / "data")
    group.create_array("odd\nname", data=np.arange(6), chunks=2)
    file = tmp_path / "data.sha256"
    manifest = record(LocalStore(tmp_path / "data"), "")
    file.write_text(text_of(manifest))
    assert Manifest.read(file.read_text().split("\n")) == manifest

    def check() -> subprocess.CompletedProcess[str]:
        command = ["sha256sum", "--check", "--strict", "--quiet", str(file)]
        return subprocess.run(command, cwd=tmp_path / "data", capture_output=True, text=True, check=False)

    assert (check().returncode, check().stdout) == (0, "")
    (tmp_path / "data" / "odd\nname" / "c" / "1").write_bytes(b"")
    assert check().returncode == 1
    assert "c/1: FAILED" in check().stdout


TEXT = text_of(Manifest("", True, "2026-11-21T08:15:00+00:00", {"a": "0" * 64, "b": "1" * 64}))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "line 1: expected the head of a manifest"),
        (TEXT.replace("manifest 1", "manifest 2"), "line 1: expected the head"),
        (TEXT.replace("# names", "# other"), "line 1: expected the head"),
        (TEXT[:-3], "line 7: expected a checksum and a name, or the line that ends a manifest, found neither"),
        (TEXT[: TEXT.index("# end")], "line 7: expected a checksum and a name, or the line that ends"),
        (TEXT.replace("0" * 64 + "  a\n", ""), "line 6: expected 2 objects before the end, found 1"),
        (TEXT.replace("  b", "  a"), "line 6: expected one checksum for 'a', found another one before"),
        (TEXT.replace("1" * 64, "1" * 63), "line 6: expected a checksum and a name"),
        (TEXT.replace("1" * 64, "0" * 64).replace("  b", "  a"), "line 6: expected one checksum for 'a'"),
        (TEXT.replace("end of 2", "end of " + "2" * 5000), "line 7: expected a checksum and a name"),
        (TEXT + "0" * 64 + "  c\n", "line 8: expected nothing after the end, found '000"),
        (TEXT + "\n", "line 8: expected nothing after the end, found ''"),
    ],
)
def test_a_damaged_manifest_is_none(text: str, problem: str) -> None:
    with pytest.raises(MetadataError) as caught:
        Manifest.read(text.split("\n"), "data.sha256")
    assert "data.sha256 does not conform: " + problem in str(caught.value)


@pytest.mark.parametrize("name", ["sums", "sums.gz"])
def test_a_manifest_is_written_line_by_line(tmp_path: Path, name: str) -> None:
    """The lines of a million checksums would take twice the memory of the file, and its text as much again."""
    digests = {f"c/{number}": f"{number:064x}" for number in range(20_000)}
    manifest = Manifest("", True, "2026-11-21T08:15:00+00:00", digests)
    tracemalloc.start()
    write_manifest(tmp_path / name, manifest)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * len(text_of(manifest))
    assert read_manifest(tmp_path / name) == manifest
