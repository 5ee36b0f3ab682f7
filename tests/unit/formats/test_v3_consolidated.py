"""Consolidated metadata of v3 as zarr-python 3.0.0 to 3.0.6 wrote them, and of many groups."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import MetadataError
from blizzarr.formats.consolidated import Consolidated
from blizzarr.model import GroupMeta

FILLS = {"nan": np.nan, "up": np.inf, "down": -np.inf, "pair": complex(np.nan, -np.inf)}


@pytest.fixture
def with_bare_tokens(tmp_path: Path) -> Path:
    """A group whose consolidated metadata have fill values as bare tokens, which are no JSON."""
    group = blizzarr.create_group(tmp_path)
    for name, fill in FILLS.items():
        group.create_array(name, shape=3, dtype=np.asarray(fill).dtype, fill_value=fill)[:1] = 1
    blizzarr.consolidate_metadata(tmp_path)
    text = (tmp_path / "zarr.json").read_text()
    for token in ("NaN", "Infinity", "-Infinity"):
        assert f'"{token}"' in text
        text = text.replace(f'"{token}"', token)
    (tmp_path / "zarr.json").write_text(text)
    return tmp_path


def test_fill_values_that_are_bare_tokens_are_read(with_bare_tokens: Path) -> None:
    """The arrays were left out of `members` with a warning, and `group[name]` raised."""
    group = blizzarr.open_group(with_bare_tokens, mode="r+")
    assert group.metadata.consolidated is not None
    assert [name for name, _ in group.members()] == sorted(FILLS)
    for name, fill in FILLS.items():
        np.testing.assert_array_equal(group[name][...], [1, fill, fill])
    assert blizzarr.check(with_bare_tokens).kinds() == {}


def test_they_are_names_when_the_document_is_written_again(with_bare_tokens: Path) -> None:
    blizzarr.open_group(with_bare_tokens, mode="r+")["down"].resize(4)
    blizzarr.consolidate_metadata(with_bare_tokens)

    def refuse(token: str) -> None:
        raise AssertionError(token)

    json.loads((with_bare_tokens / "zarr.json").read_text(), parse_constant=refuse)
    assert blizzarr.open_group(with_bare_tokens)["down"][...].tolist() == [1, -np.inf, -np.inf, -np.inf]


def test_all_names_are_gone_through_once() -> None:
    """However many groups are listed below, and a group lists nothing of one whose name merely begins alike."""

    class Counted(dict[str, Any]):
        iterations = 0

        def __iter__(self) -> Iterator[str]:
            self.iterations += 1
            return super().__iter__()

    group = {"zarr_format": 3, "node_type": "group", "attributes": {}}
    entries = {f"{name}{inner}": group for name in ("b", "a", "a.b", "a0") for inner in ("/y", "", "/x/z", "/x")}
    documents = Counted(entries)
    copies = Consolidated(documents, lambda path, document, problems: GroupMeta({"path": path}), "zarr.json", "v3")
    for name in ("a", "b", "a.b", "a0", "none"):
        inner = copies.below(name)
        assert set(inner) == (set() if name == "none" else {"x", "x/z", "y"})
        assert {node.attributes["path"] for node in inner.values()} == {f"{name}/{path}" for path in inner}
    assert set(copies.below("a").below("x")) == {"z"}
    assert documents.iterations == 1


def test_only_copies_of_members_are_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not those of the nodes below them, which each group above decoded once more."""
    decode, decoded = Consolidated.decode, list[str]()
    monkeypatch.setattr(Consolidated, "decode", lambda self, path: decoded.append(path) or decode(self, path))
    group = blizzarr.create_group({})
    group.create_array("a/b/c", data=[1, 2])
    blizzarr.consolidate_metadata(group)
    assert [name for name, _ in blizzarr.open_group(group.store, mode="r").members()] == ["a"]
    assert decoded == ["a"]
    assert [name for name, _ in blizzarr.open_group(group.store, mode="r").members(max_depth=1)] == ["a", "a/b"]


def test_groups_below_are_pickled(tmp_path: Path) -> None:
    """What lists the nodes below them was a function that cannot be."""
    group = blizzarr.create_group(tmp_path)
    group.create_array("a/b", data=[1, 2])
    blizzarr.consolidate_metadata(tmp_path)
    below = blizzarr.open_group(tmp_path)["a"]
    assert isinstance(below, blizzarr.Group)
    again = pickle.loads(pickle.dumps(below))
    assert again.metadata == below.metadata
    assert again["b"][:].tolist() == [1, 2]


def test_two_threads_parse_a_document() -> None:
    """The second one called what the first had parsed."""
    copies = {"a/b": {}}

    class Lazy(Consolidated):
        __slots__ = ()

        @property
        def _documents(self) -> Any:
            # Another thread has parsed it by the time this one looks again.
            asked.append(None)
            return copies if len(asked) > 1 else lambda notices: copies

        @_documents.setter
        def _documents(self, _: Any) -> None:
            pass

    asked: list[None] = []
    assert Lazy({}, lambda *_: None, "zarr.json", "v3").load() == []


def test_equal_documents_at_two_paths_share_nothing() -> None:
    """The document is remembered: the one opened later had the attributes, and its errors a key, of nobody's."""
    values: dict[str, bytes] = {}
    for path in ("a", "b"):
        blizzarr.create_group(values, path=path).create_group("x", attributes={"list": [1]})
        blizzarr.consolidate_metadata(values, path=path)
        document = json.loads(values[f"{path}/zarr.json"])
        document["consolidated_metadata"]["metadata"]["bad"] = {"zarr_format": 3}
        values[f"{path}/zarr.json"] = json.dumps(document).encode()
    for path in ("a", "b"):
        group = blizzarr.open_group(values, path=path)
        assert group["x"].metadata.attributes == {"list": [1]}
        group["x"].metadata.attributes["list"].append(2)
        with pytest.raises(MetadataError, match=f"^{path}/zarr.json does not conform"):
            group["bad"]


@pytest.mark.parametrize("depth", [200, 500, 900])
def test_a_copy_that_is_nested_too_deeply_affects_its_node_only(tmp_path: Path, depth: int) -> None:
    """A depth that JSON's reader takes ended the listing with a `RecursionError`."""
    nodes = {
        "deep": {"zarr_format": 3, "node_type": "group", "attributes": {"x": "LISTS"}},
        "flat": {"zarr_format": 3, "node_type": "group", "attributes": {"x": 1}},
    }
    consolidated = {"kind": "inline", "must_understand": False, "metadata": nodes}
    document = {"zarr_format": 3, "node_type": "group", "consolidated_metadata": consolidated}
    text = json.dumps(document).replace('"LISTS"', "[" * depth + "]" * depth)
    (tmp_path / "zarr.json").write_text(text)
    group = blizzarr.open_group(tmp_path)
    with pytest.warns(UserWarning, match=r"deep.*128 levels"):
        assert [(name, dict(node.attrs)) for name, node in group.members()] == [("flat", {"x": 1})]
    with pytest.raises(MetadataError, match="128 levels"):
        group["deep"]
