"""``check --record`` and ``check --against``: what is printed, and what the exit status says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import blizzarr

Run = Callable[..., "tuple[int, str, str, bytes]"]


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two arrays in a group."""
    monkeypatch.chdir(tmp_path)
    root = blizzarr.create_group("d.zarr")
    root.create_array("a", data=[1, 2, 3, 4], chunks=2, codecs=["bytes"], dtype="int8")
    return Path("d.zarr")


def test_what_was_recorded_is_held_against(run: Run, stored: Path) -> None:
    code, out, _, _ = run("check", stored, "--record", "m.sha256")
    assert code == 0
    assert out.startswith("4 checksums recorded in m.sha256\nnothing is wrong  (1 array, ")
    code, out, _, _ = run("check", stored, "--against", "m.sha256")
    assert code == 0
    assert out.startswith("compared with 4 checksums of ")
    (stored / "a/c/1").write_bytes(b"\3\5")
    (stored / "a/c/0").unlink()
    code, out, _, _ = run("check", "--fast", stored, "--against", "m.sha256")
    assert code == 1
    assert out.splitlines()[1:-2] == [
        "└── /a",
        "    ├── error  not what was recorded: 1",
        "    │   ├── c/1  its checksum is not the one that was recorded",
        "    │   └── to do: restore it from a copy; or record anew, if the change was meant",
        "    └── error  recorded, and gone: 1",
        "        ├── c/0  was there when the checksums were recorded",
        "        └── to do: restore it from a copy; or record anew, if the removal was meant",
    ]
    code, out, _, _ = run("check", "--json", stored, "--against", "m.sha256")
    found = json.loads(out)
    assert (code, found["errors"], [entry["kind"] for entry in found["findings"]]) == (1, 2, ["changed", "missing"])
    assert (found["manifest"]["done"], found["manifest"]["objects"]) == ("compared", 4)


def test_trouble_with_the_file_is_no_damage(run: Run, stored: Path) -> None:
    code, _, err, _ = run("check", stored, "--record", stored / "m")
    assert code == 2
    assert err.startswith("blizzarr: ")
    assert "outside of the data" in err
    assert err.count("\n") == 1
    code, _, err, _ = run("check", stored, "--against", "none")
    assert code == 2
    assert err.startswith("blizzarr: ")
    assert "none" in err
    assert err.count("\n") == 1
    assert run("check", stored, "--against", "none", "--record", "m")[0] == 2
