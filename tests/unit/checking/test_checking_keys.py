"""What is said of documents and of names: also of those that nobody reads."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.checking import Severity
from blizzarr.checking.survey import survey
from blizzarr.errors import NodeNotFoundError
from blizzarr.stores import LocalStore, MemoryStore
from blizzarr.transformers import HashedTransformer, ShardingTransformer
from support.child import answer

FORMATS = ("v3", "v2", "v3_draft", "v3_draft_zarr_python")


def found(target: Any, path: str = "", **options: Any) -> list[tuple[str, str, str | None]]:
    return [(one.kind, one.path, one.key) for one in blizzarr.check(target, path, **options).findings]


def hierarchy(target: Any, form: Any = "v3") -> blizzarr.Group:
    root = blizzarr.create_group(target, zarr_format=form)
    root.create_array("a", data=np.arange(1, 10).reshape(3, 3), chunks=(2, 2))
    root.create_array("g/b", data=np.arange(1, 10), chunks=3, attributes={"x": 1})
    return root


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_checked(form: str, tmp_path: Path) -> None:
    hierarchy(tmp_path / "d.zarr", form)
    report = blizzarr.check(tmp_path / "d.zarr")
    assert (report.findings, report.arrays, report.objects) == ([], 2, 7)
    assert blizzarr.check(tmp_path / "d.zarr", "g/b").objects == 3
    store = LocalStore(tmp_path / "d.zarr")
    chunk = next(key for key in store.list() if key.endswith(("a/c/1/1", "a/c1/1", "a/1.1")))
    store.set(chunk, b"")
    assert found(tmp_path / "d.zarr") == [("chunk", "/a", chunk)]
    assert found(tmp_path / "d.zarr", "g") == []
    assert found(tmp_path / "d.zarr" / "a") == [("chunk", "/a" if "draft" in form else "/", chunk.removeprefix("a/"))]


def test_an_array_of_v1_is_checked(tmp_path: Path) -> None:
    blizzarr.create_array(tmp_path, data=np.arange(1, 10), chunks=3, zarr_format=1)
    assert blizzarr.check(tmp_path).objects == 3
    (tmp_path / "1").write_bytes(b"short")
    (tmp_path / "7").write_bytes(b"outside")
    assert found(tmp_path) == [("chunk", "/", "1"), ("outside", "/", "7")]


def test_all_problems_of_a_document_are_in_its_finding() -> None:
    memory: dict[str, Any] = {}
    hierarchy(memory)
    document = json.loads(memory["a/zarr.json"])
    memory["a/zarr.json"] = json.dumps({**document, "shape": [-1, 3], "fill_value": "x"}).encode()
    (finding,) = blizzarr.check(memory).findings
    assert (finding.kind, finding.path, finding.key) == ("document", "/a", "a/zarr.json")
    assert "shape[0]: expected an integer in [0, 2^63), found -1" in finding.message
    assert "fill_value: expected an integer" in finding.message
    assert finding.severity is Severity.ERROR


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\0", "<html>"])
def test_what_is_no_document_is_found_and_hides_nothing(text: str) -> None:
    memory: dict[str, Any] = {}
    hierarchy(memory)
    memory["g/zarr.json"] = text.encode()
    memory["g/b/c/1"] = b""
    assert found(memory) == [("document", "/g", "g/zarr.json"), ("chunk", "/g/b", "g/b/c/1")]


def test_the_root_may_be_damaged() -> None:
    memory: dict[str, Any] = {}
    hierarchy(memory)
    memory["zarr.json"] = b"{"
    assert found(memory) == [("document", "/", "zarr.json")]
    del memory["zarr.json"]
    assert found(memory) == [("standalone", "/", None)]
    assert (
        blizzarr.check(memory).findings[0].message
        == "/ is no group: it has no document, but /a and 2 more are below it"
    )
    assert blizzarr.check(memory).objects == 7


def test_unknown_extensions_are_no_damage() -> None:
    memory: dict[str, Any] = {}
    hierarchy(memory)
    document = json.loads(memory["a/zarr.json"])
    document["codecs"].append({"name": "squeeze9"})
    memory["a/zarr.json"] = json.dumps(document).encode()
    report = blizzarr.check(memory)
    assert [(one.kind, one.severity, one.path) for one in report.findings] == [
        ("not-supported", Severity.WARNING, "/a")
    ]
    # Nor is it known to be intact.
    assert not report.ok


def test_a_warning_about_a_document_is_said_each_time() -> None:
    memory: dict[str, Any] = {}
    hierarchy(memory)
    memory["g/b/zarr.json"] = memory["g/b/zarr.json"].replace(b'"x": 1', b'"x": 1, "x": 2')
    for _ in range(2):
        report = blizzarr.check(memory)
        assert [(one.kind, one.path, one.message) for one in report.findings] == [
            ("document-warning", "/g/b", "attributes.x is there more than once; the last one counts")
        ]


def test_two_formats_at_one_place() -> None:
    memory: dict[str, Any] = {}
    hierarchy(memory)
    memory["a/.zarray"] = b"{}"
    memory["a/.zattrs"] = b"{}"
    (finding,) = blizzarr.check(memory).findings
    assert (finding.kind, finding.path) == ("two-formats", "/a")
    assert finding.message == "a/zarr.json (v3) counts, a/.zarray, a/.zattrs is ignored"


def test_an_array_that_is_a_group_too() -> None:
    memory: dict[str, Any] = {}
    hierarchy(memory, "v2")
    memory["a/.zgroup"] = b'{"zarr_format": 2}'
    assert found(memory) == [("two-formats", "/a", "a/.zgroup")]


@pytest.mark.parametrize("form", FORMATS)
def test_chunks_without_a_document_are_data_that_nobody_reads(form: str, tmp_path: Path) -> None:
    hierarchy(tmp_path, form)
    store = LocalStore(tmp_path)
    (document,) = [key for key in store.list() if key.endswith(("a/zarr.json", "a/.zarray", "a.array.json"))]
    store.delete(document)
    (finding,) = blizzarr.check(tmp_path).findings
    assert (finding.kind, finding.severity) == ("no-document", Severity.ERROR)
    assert finding.path.endswith("/a")
    assert finding.message == "4 objects with keys like chunks, and no document of an array"


def test_attributes_alone_make_no_node() -> None:
    memory: dict[str, Any] = {}
    hierarchy(memory, 2)
    memory["z/.zattrs"] = b"{}"
    assert found(memory) == [("no-document", "/z", "z/.zattrs")]


def test_nodes_within_arrays_and_without_groups() -> None:
    memory: dict[str, Any] = {}
    hierarchy(memory)
    memory["a/inner/zarr.json"] = memory["g/zarr.json"]
    memory["x/y/zarr.json"] = memory["g/zarr.json"]
    assert found(memory) == [("unreachable", "/a/inner", "a/inner/zarr.json"), ("unreachable", "/x", None)]
    inside, above = (finding.advice for finding in blizzarr.check(memory).findings)
    assert inside == "move the node, as an array can have none in it"
    assert above == "create the group with blizzarr.create_group, or move what is below it"
    blizzarr.create_group(memory, path="x")
    assert found(memory) == [("unreachable", "/a/inner", "a/inner/zarr.json")]


def test_chunks_that_nobody_reads() -> None:
    memory: dict[str, Any] = {}
    hierarchy(memory)
    for key in ("a/c/2/0", "a/c/0/99999999999999999999", "a/c/00/0", "a/c/1/01", "a/1.1", "a/c.0.0", "g/b/c/3"):
        memory[key] = b"x"
    assert found(memory) == [
        ("chunk-encoding", "/a", "a/1.1"),
        ("chunk-encoding", "/a", "a/c.0.0"),
        ("outside", "/a", "a/c/0/99999999999999999999"),
        ("outside", "/a", "a/c/2/0"),
        ("outside", "/g/b", "g/b/c/3"),
        ("chunk-key", "/a", "a/c/00/0"),
        ("chunk-key", "/a", "a/c/1/01"),
    ]
    report = blizzarr.check(memory)
    assert report.of_kind("outside")[1].message == "the array of shape (3, 3) has 2 x 2 chunks"
    assert report.of_kind("chunk-encoding")[0].message == "expected chunks with keys like c/0/0, found 1.1"


def test_files_that_are_not_ours_are_notes() -> None:
    memory: dict[str, Any] = {}
    hierarchy(memory)
    for key in ("notes.txt", "a/.DS_Store", "a/c/readme", "2023", "c", "g/0", "g/picture.png", "a/c/0/0/x"):
        memory[key] = b"x"
    report = blizzarr.check(memory)
    assert report.clean
    assert {(one.kind, one.key) for one in report.findings} == {
        ("foreign", key)
        for key in ("notes.txt", "a/.DS_Store", "a/c/readme", "2023", "c", "g/0", "g/picture.png", "a/c/0/0/x")
    }


def test_what_was_interrupted() -> None:
    memory: dict[str, Any] = {}
    hierarchy(memory)
    memory["a/blizzarr-copy.json"] = b'{"copy": "1", "done": 1}'
    memory["blizzarr-upgrade.json"] = b'{"old": "v2", "new": "v3", "switching": false}'
    assert found(memory) == [
        ("unfinished", "/", "blizzarr-upgrade.json"),
        ("unfinished", "/a", "a/blizzarr-copy.json"),
    ]


def test_what_is_no_file_in_the_place_of_a_chunk_or_a_document(tmp_path: Path) -> None:
    hierarchy(tmp_path)
    for name, make in (("a/c/0/0", os.mkdir), ("a/c/0/1", os.mkfifo), ("g/b/zarr.json", os.mkfifo)):
        (tmp_path / name).unlink()
        make(tmp_path / name)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dead").symlink_to(tmp_path / "nowhere")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "null").symlink_to(os.devnull)
    report = blizzarr.check(tmp_path)
    assert [(one.kind, one.path, one.key, one.message) for one in report.findings] == [
        ("no-document", "/g/b", "g/b/c/0", "3 objects with keys like chunks, and no document of an array"),
        ("no-file", "/a", "a/c/0/0", "expected a file, found a directory"),
        ("no-file", "/a", "a/c/0/1", "expected a file, found a FIFO"),
        ("no-file", "/g/b", "g/b/zarr.json", "expected a document, found a FIFO"),
        ("foreign", "/", "dead", "a link that leads nowhere"),
        ("foreign", "/", "loop", "a link that leads nowhere"),
        ("foreign", "/", "null", "a device"),
        ("foreign", "/", "pipe", "a FIFO"),
    ]


@pytest.mark.parametrize(("zarr_format", "name"), [(3, ".zarray"), (3, ".zgroup"), (2, "zarr.json")])
def test_a_node_may_be_named_like_a_document_of_another_format(tmp_path: Path, zarr_format: int, name: str) -> None:
    root = blizzarr.create_group(tmp_path / "a.zarr", zarr_format=zarr_format)
    root.create_array(name, data=np.arange(3))
    report = blizzarr.check(tmp_path / "a.zarr")
    assert (report.findings, report.arrays) == ([], 1)


def test_what_is_in_the_place_of_a_directory_of_chunks(tmp_path: Path) -> None:
    """As where a disk is not mounted: every chunk in it is an error to read, and so it is one here."""
    hierarchy(tmp_path)
    (tmp_path / "g/b/c").rename(tmp_path.with_name("moved"))
    (tmp_path / "g/b/c").symlink_to(tmp_path / "nowhere")
    (tmp_path / "a/c/1").rename(tmp_path.with_name("kept"))
    (tmp_path / "a/c/1").write_bytes(b"")
    (tmp_path / "a/c/7").write_bytes(b"")  # no chunk of the array would be in it
    assert [(one.kind, one.path, one.key, one.message) for one in blizzarr.check(tmp_path).findings] == [
        ("unreadable", "/a", "a/c/1", "expected a directory of chunks, found a file"),
        ("unreadable", "/g/b", "g/b/c", "expected a directory of chunks, found a link that leads nowhere"),
        ("foreign", "/a", "a/c/7", "neither a document nor a chunk"),
    ]
    # Where keys are no files, nothing is in the way.
    array = blizzarr.create_array(memory := MemoryStore(), data=np.arange(4), chunks=2)
    memory.set("c", b"")
    assert (blizzarr.check(array).ok, array[...].tolist()) == (True, [0, 1, 2, 3])


def test_links_are_followed_but_not_in_circles(tmp_path: Path) -> None:
    hierarchy(tmp_path / "d")
    (tmp_path / "d/g/b/c").rename(tmp_path / "elsewhere")
    (tmp_path / "d/g/b/c").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "d/a/up").symlink_to(tmp_path / "d")
    report = blizzarr.check(tmp_path / "d")
    assert (report.objects, report.ok) == (7, True)


def test_a_survey_sees_what_is_there(tmp_path: Path) -> None:
    hierarchy(tmp_path)
    (tmp_path / "empty/inner").mkdir(parents=True)
    (tmp_path / ".blizzarr-tmp").write_bytes(b"")
    (tmp_path / "back\\slash").write_bytes(b"")
    with socket.socket(socket.AF_UNIX) as listening:
        before = Path.cwd()
        os.chdir(tmp_path)
        try:
            listening.bind("socket")
        finally:
            os.chdir(before)
    seen = survey(LocalStore(tmp_path), ("",))
    assert sorted([*seen.keys, "socket"]) == [key for key in LocalStore(tmp_path).list() if "\\" not in key]
    assert {"empty", "empty/inner", "a", "a/c", "a/c/0", "g/b/c"} <= set(seen.directories)
    assert seen.others == {"back\\slash": "a name that no key can have", "socket": "a socket"}
    assert survey(LocalStore(tmp_path), ("g/",)).keys == LocalStore(tmp_path).list("g")


def test_stores_behind_storage_transformers_are_checked(tmp_path: Path) -> None:
    root = blizzarr.create_group(tmp_path)
    data = np.arange(1, 17).reshape(4, 4)
    root.create_array("hashed", data=data, chunks=(2, 2), storage_transformers=[HashedTransformer()])
    root.create_array("sharded", data=data, chunks=(2, 2), storage_transformers=[ShardingTransformer((2, 2))])
    report = blizzarr.check(tmp_path)
    assert (report.findings, report.objects) == ([], 8)
    store = LocalStore(tmp_path)
    (key,) = [key for key in store.list() if "hashed" in key and key.endswith("c.1.0")]
    store.set(key, b"x")
    store.set(key.replace("c.1.0", "notes"), b"x")
    assert found(tmp_path) == [
        ("chunk", "/hashed", "hashed/c/1/0"),
        ("foreign", "/hashed", key.replace("c.1.0", "notes")),
    ]
    store.delete(key)
    (tmp_path / key).mkdir()
    assert ("no-file", "/hashed", key) in found(tmp_path)


def test_nothing_to_check_says_what_is_there(tmp_path: Path) -> None:
    with pytest.raises(NodeNotFoundError, match="the directory is empty"):
        blizzarr.check(tmp_path)
    hierarchy(tmp_path / "d")
    with pytest.raises(NodeNotFoundError, match="the group / has a, g"):
        blizzarr.check(tmp_path / "d", "zzz")


def test_an_array_or_a_group_can_be_checked_as_it_is() -> None:
    root = hierarchy({})
    assert blizzarr.check(root).objects == 7
    assert blizzarr.check(root["g"]).objects == 3
    assert blizzarr.check(root, "g/b").path == "/g/b"


def test_what_may_not_be_read_is_said_and_hides_nothing(tmp_path: Path) -> None:
    facts = answer(
        """
        obey_permissions()
        root = ARGUMENTS["root"]
        group = blizzarr.create_group(root)
        for name in "abcd":
            group.create_array(name, data=np.arange(1, 9), chunks=4)
        closed = ["a/c/0", "b/c", "c/zarr.json"]
        for path in closed:
            os.chmod(f"{root}/{path}", 0)
        report = blizzarr.check(root)
        for path in closed:
            os.chmod(f"{root}/{path}", 0o755)
        tell(found=[[one.kind, one.path, one.key, one.message] for one in report.findings], objects=report.objects)
        """,
        root=str(tmp_path / "d.zarr"),
    )
    assert [found[:3] for found in facts["found"]] == [
        ["unreadable", "/a", "a/c/0"],
        ["unreadable", "/b", "b/c"],
        ["unreadable", "/c", "c/zarr.json"],
    ]
    assert all("ermission denied" in found[3] for found in facts["found"])
    assert facts["objects"] == 4


@pytest.mark.parametrize(("form", "document"), [("v3", "zarr.json"), ("v2", ".zgroup"), ("v3_draft", "zarr.json")])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("nowhere", path), None])
def test_the_first_document_may_be_anything(form: str, document: str, make: Any, tmp_path: Path) -> None:
    hierarchy(tmp_path, form)
    (tmp_path / document).unlink()
    if make is not None:
        make(tmp_path / document)
    keys = {(kind, key) for kind, _, key in found(tmp_path)}
    if make is not None:
        assert keys & {("no-file", document), ("unreadable", document)}
    elif form == "v3_draft":
        assert ("no-document", "zarr.json") in keys
    else:
        assert keys == {("standalone", None)}


def test_names_twice_in_consolidated_metadata_are_a_finding() -> None:
    """The check lists them; it issues no warning, whatever was opened before."""
    entries = b'"g/.zgroup": {"zarr_format": 2}, "g/.zattrs": {"a": 1, "a": 4}'
    memory = MemoryStore()
    memory.set(".zgroup", b'{"zarr_format": 2}')
    whole = b'{"zarr_consolidated_format": 1, "metadata": {".zgroup": {"zarr_format": 2}, ' + entries + b"}}"
    memory.set(".zmetadata", whole)
    memory.set("g/.zgroup", b'{"zarr_format": 2}')
    memory.set("g/.zattrs", b'{"a": 4}')
    for _ in range(2):
        (finding,) = blizzarr.check(memory).findings
        assert (finding.kind, finding.path, finding.key) == ("document-warning", "/", ".zmetadata")
        assert "metadata.g/.zattrs.a is there more than once" in finding.message
