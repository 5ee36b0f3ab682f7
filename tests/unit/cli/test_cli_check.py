"""``check``: what is printed, and what the exit status says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import blizzarr
from blizzarr.cli import progress
from blizzarr.errors import StoreError

Run = Callable[..., "tuple[int, str, str, bytes]"]


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A hierarchy with a plain array and one of shards."""
    root = blizzarr.create_group(tmp_path / "d.zarr")
    root.create_array("g/a", data=np.arange(1, 65).reshape(8, 8), chunks=(4, 4))
    root.create_array("s", data=np.arange(1, 65).reshape(8, 8), chunks=(2, 2), shards=(4, 4))
    return tmp_path / "d.zarr"


def damage(stored: Path) -> None:
    file = stored / "g/a/c/0/1"
    file.write_bytes(file.read_bytes()[:-3])
    shard = stored / "s/c/0/0"
    value = bytearray(shard.read_bytes())
    value[0] ^= 1
    shard.write_bytes(value)


def test_what_is_right(run: Run, stored: Path) -> None:
    code, out, err, _ = run("check", stored)
    assert (code, err) == (0, "")
    assert out.startswith("nothing is wrong  (2 arrays, 2 groups, 8 objects, 20 chunks, ")
    assert run("check", "--fast", stored / "g")[1].startswith(
        "nothing is wrong  (sizes and indices only, 1 array, 1 group, 4 objects, 4 chunks, "
    )


def test_what_is_damaged_is_listed_by_node(run: Run, stored: Path) -> None:
    damage(stored)
    (stored / "notes.txt").write_text("")
    code, out, _, _ = run("check", stored)
    assert code == 1
    lines = out.splitlines()
    assert lines[0] == str(stored)
    assert lines[1:8] == [
        "├── /g/a",
        "│   └── error  chunks that cannot be decoded: 1",
        "│       ├── c/0/1  zstd: data ended after 0 of 128 bytes",
        "│       └── to do: restore the object from a copy, or write the chunk again",
        "├── /s",
        "│   └── error  inner chunks that cannot be decoded: 1",
        "│       ├── c/0/0 [0, 0]  zstd: expected a zstd frame (28 b5 2f fd), found bytes that begin with 29 b5 2f fd",
    ]
    assert lines[-2] == "        └── notes.txt  neither a document nor a chunk"
    assert lines[-1].startswith("2 errors, 1 note  (2 arrays, 2 groups, 8 objects, 20 chunks, ")


def test_only_so_many_are_shown(run: Run, tmp_path: Path) -> None:
    array = blizzarr.create_array(tmp_path / "d.zarr", data=np.arange(1, 31), chunks=1)
    for number in range(30):
        array.store.set(f"c/{number}", b"")
    out = run("check", "--limit", "4", tmp_path / "d.zarr")[1]
    assert out.count("expected an encoded chunk, found nothing: the object is empty") == 4
    assert "and 26 more" in out


def test_warnings_and_notes_fail_only_if_strict(run: Run, stored: Path) -> None:
    (stored / "notes.txt").write_text("")
    assert run("check", stored)[0] == 0
    assert run("check", "--strict", stored)[0] == 1
    (stored / "notes.txt").rename(stored / "s/c/9")
    (stored / "s/c/9").unlink()
    (stored / "s/c/0/9").write_text("outside")
    code, out, _, _ = run("check", stored)
    assert code == 0
    assert "warning  chunks outside the shape of their array: 1" in out
    assert run("check", "--strict", stored)[0] == 1


def test_what_could_not_be_checked_has_a_status_of_its_own(run: Run, stored: Path, tmp_path: Path) -> None:
    """The status was 0, as if the array were intact; whoever records checksums needs no codec."""
    document = stored / "s/zarr.json"
    document.write_text(document.read_text().replace('"sharding_indexed"', '"acme"'))
    code, out, _, _ = run("check", stored)
    assert code == 2
    assert "what could not be checked" in out
    assert "do what the text says, or check it with a release that supports it" in out
    assert run("check", stored, "--record", tmp_path / "sums")[0] == 2
    assert run("check", stored, "--against", tmp_path / "sums")[0] == 2
    assert run("check", "--strict", stored)[0] == 1
    damage(stored)
    assert run("check", stored)[0] == 1


def test_json_is_the_report(run: Run, stored: Path) -> None:
    damage(stored)
    code, out, _, _ = run("check", "--json", stored / "s")
    report = json.loads(out)
    assert code == 1
    assert {name: report[name] for name in ("path", "arrays", "objects", "errors", "ok")} == {
        "path": "/s",
        "arrays": 1,
        "objects": 4,
        "errors": 1,
        "ok": False,
    }
    assert report["findings"][0]["chunk"] == [0, 0, 0, 0]
    assert report["store"] == str(stored)


def test_repair_says_what_it_did_and_where_the_old_bytes_are(run: Run, stored: Path) -> None:
    damage(stored)
    thought = run("check", "--repair", "--dry-run", stored)
    assert thought[0] == 1
    assert "would be repaired  s/c/0/0: rebuilt from 3 intact inner chunks, 1 inner chunk lost" in thought[1]
    assert not stored.with_name("d.zarr.quarantine").exists()
    code, out, _, _ = run("check", "--repair", stored)
    assert code == 1
    assert "repaired  s/c/0/0: rebuilt from 3 intact inner chunks, 1 inner chunk lost" in out
    assert "lost: inner chunk [0, 0]" in out
    stays = "nothing of it can be saved for certain, so it stays; --quarantine-damaged moves it away"
    assert f"not repaired g/a/c/0/1: {stays}" in " ".join(out.split())
    (kept,) = stored.with_name("d.zarr.quarantine").glob("*/s/c/0/0")
    assert f"kept: {kept}" in out
    after = json.loads(run("check", "--json", stored)[1])
    assert [finding["key"] for finding in after["findings"]] == ["g/a/c/0/1"]
    code, out, _, _ = run("check", "--repair", "--quarantine-damaged", "--quarantine", stored.with_name("q"), stored)
    assert code == 1
    assert "moved away: 1\n" in out
    assert "lost: the whole chunk" in out
    assert [path.name for path in stored.with_name("q").glob("*/g/a/c/0/*")] == ["1"]
    assert run("check", stored)[0] == 0


def test_what_takes_long_shows_how_far_it_has_come(run: Run, stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_QUIET", 0.0)
    monkeypatch.setattr(progress, "_PAUSE", 0.0)
    err = run("check", stored)[2]
    assert "check: 50 %, 4 of 8 objects" in err
    assert "check: 100 %, 8 of 8 objects" in err


def test_what_cannot_be_checked_is_one_line(run: Run, stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, err, _ = run("check", stored / "nothing")
    assert (code, out) == (2, "")
    assert err.startswith(f"blizzarr: /nothing in {stored}: no array or group here: ")
    assert "the group / has g, s" in err
    assert err.count("\n") == 1

    def fail(*_: object, **__: object) -> None:
        raise StoreError("cannot list: the network is down")

    monkeypatch.setattr("blizzarr.api.check", fail)
    code, out, err, _ = run("check", stored)
    assert (code, out, err) == (2, "", "blizzarr: cannot list: the network is down\n")


def test_wrong_usage(run: Run, stored: Path) -> None:
    assert run("check", f"{stored}/s[0]")[0] == 2
    code, _, err, _ = run("check", "--dry-run", stored)
    assert code == 2
    assert "Invalid value: --dry-run needs --repair" in err


def test_names_from_the_data_do_nothing_to_the_terminal(run: Run, stored: Path) -> None:
    (stored / "\x1b[2J[bold]x").write_text("")
    out = run("check", stored)[1]
    assert "\\x1b[2J[bold]x  neither a document nor a chunk" in out
