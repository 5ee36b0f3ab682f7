"""Damages of documents: see `soak.planting.kinds`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from random import Random

from soak.planting.damage import PAGE, Damage
from soak.planting.stores import Planted

__all__ = ["consolidated", "document", "no_document", "twice", "two_formats", "unknown_codec"]


def document(planted: Planted, random: Random) -> Damage | None:
    """A document that does not conform."""
    found = _small(planted)
    if found is None:
        return None
    root, _, file = found
    text = file.read_text()
    parsed = json.loads(text)
    how = random.choice(["cut", "empty", "list", "shape", "no chunks", "page"])
    if how == "cut":
        text = text[: random.randrange(1, text.rindex("}"))]
    elif how in ("empty", "list", "page"):
        text = {"empty": "", "list": "[]", "page": PAGE.decode()}[how]
    elif how == "shape":
        text = json.dumps({**parsed, "shape": [-1, 4]})
    else:
        text = json.dumps({name: value for name, value in parsed.items() if name not in ("chunks", "chunk_grid")})
    file.write_text(text)
    return _of_document(f"document: {how}", root, file, {"document"})


def unknown_codec(planted: Planted, random: Random) -> Damage | None:
    """A codec that nobody knows."""
    found = _small(planted)
    if found is None:
        return None
    root, _, file = found
    parsed = json.loads(file.read_text())
    if "codecs" in parsed:
        parsed["codecs"][-1] = {"name": "squeeze9"}
    else:
        parsed["compressor"] = {"id": "squeeze9"}
    file.write_text(json.dumps(parsed))
    return _of_document("unknown codec", root, file, {"not-supported"})


def no_document(planted: Planted, random: Random) -> Damage | None:
    """The document of an array is gone."""
    found = _small(planted)
    if found is None:
        return None
    root, path, file = found
    file.unlink()
    keys = {f"{path}/{name}" for name in ("c/0/0", "0.0", ".zattrs")}
    return Damage("no document", root, frozenset(keys), frozenset({"no-document"}))


def twice(planted: Planted, random: Random) -> Damage | None:
    """An attribute that is there twice."""
    found = _small(planted)
    if found is None:
        return None
    root, _, file = found
    attributes = file.with_name(".zattrs") if file.name == ".zarray" else file
    attributes.write_text(attributes.read_text().replace('"number"', '"number": 1, "number"', 1))
    return _of_document("attribute twice", root, file, {"document-warning"})


def two_formats(planted: Planted, random: Random) -> Damage | None:
    """Documents of two formats at one place."""
    found = _small(planted)
    if found is None:
        return None
    root, path, file = found
    if file.name == ".zarray":
        file.with_name(".zgroup").write_text('{"zarr_format": 2}')
        keys = {f"{path}/.zgroup"}
    else:
        file.with_name(".zgroup").write_text('{"zarr_format": 2}')
        keys = {f"{path}/zarr.json"}
    return Damage("two formats", root, frozenset(keys), frozenset({"two-formats"}))


def consolidated(planted: Planted, random: Random) -> Damage | None:
    """Consolidated metadata that are not what the documents say."""
    if not planted.consolidated:
        return None
    root, path = planted.consolidated.pop()
    group = root / path
    is_new = (group / "zarr.json").exists()
    key = f"{path}/zarr.json" if is_new else f"{path}/.zmetadata"
    how = random.choice(["changed", "gone", "new", "copy damaged", "no object"])
    if how == "changed":
        file = group / "a" / ("zarr.json" if is_new else ".zarray")
        parsed = json.loads(file.read_text())
        parsed["fill_value"] = 77
        file.write_text(json.dumps(parsed))
    elif how == "gone":
        shutil.rmtree(group / "a")
    elif how == "new":
        shutil.copytree(group / "a", group / "b")
    else:
        file = root / key
        parsed = json.loads(file.read_text())
        copies = (parsed["consolidated_metadata"] if is_new else parsed)["metadata"]
        name = "a" if is_new else "a/.zarray"
        copies[name] = {**copies[name], "shape": [-1]} if how == "copy damaged" else 5
        file.write_text(json.dumps(parsed))
    # A copy that is no object is against the specification of the document of a v3 group.
    kinds = {"document"} if is_new and how == "no object" else {"consolidated"}
    return Damage(f"consolidated: {how}", root, frozenset({key}), frozenset(kinds))


def _small(planted: Planted) -> tuple[Path, str, Path] | None:
    """A small array whose document is as it was, and the file of that."""
    if not planted.small:
        return None
    root, path = planted.small.pop()
    new = root / path / "zarr.json"
    return root, path, new if new.exists() else root / path / ".zarray"


def _of_document(what: str, root: Path, file: Path, kinds: set[str]) -> Damage:
    return Damage(what, root, frozenset({file.relative_to(root).as_posix()}), frozenset(kinds))
