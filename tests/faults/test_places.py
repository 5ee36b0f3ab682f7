"""Every error about stored data says where: each `raise` of one gives a key, an array, a store or a document."""

from __future__ import annotations

import ast
from pathlib import Path

import blizzarr
from blizzarr import errors

PACKAGE = Path(blizzarr.__file__).parent

BASES = (
    errors.ChunkError,
    errors.ConflictError,
    errors.LimitError,
    errors.MetadataError,
    errors.NodeExistsError,
    errors.NodeNotFoundError,
    errors.StoreError,
)
ABOUT_DATA = {name for name, found in vars(errors).items() if isinstance(found, type) and issubclass(found, BASES)}
# What a kind of store cannot do at all is not about anything stored.
ABOUT_DATA -= {"UnsupportedOperationError"}
# Errors of TensorStore's interface say in their text what was being opened, in TensorStore's words.
ABOUT_DATA -= {name for name in ABOUT_DATA if issubclass(getattr(errors, name), errors.SpecError)}
ABOUT_DATA -= {name for name in ABOUT_DATA if issubclass(getattr(errors, name), errors.TransactionError)}
PLACES = {"key", "array", "store", "document", "problems"}

WITHOUT = {
    # The engine calls codecs back, and says of which chunk and key.
    "codecs": "the engine says where",
    "neuroglancer/serializers.py": "the engine says where",
    "neuroglancer/format.py": "a document that a caller gave",
    # Whoever opens an array, or gets it ready to be read, says which.
    "dtypes/data_type.py": "it is of any array",
    "model/edges.py": "it is of any array",
    # There is nothing stored yet, or nothing to name but what the text says.
    "transfer.py": "it is the memory of the caller",
    "formats/table.py": "a format that a caller named",
    "open_table.py": "an extension of another package, which the text names",
    "stores/local.py": "the root itself, which the text names",
    "stores/urls.py": "the file that would be the store, which the text names",
    "stores/ocdbt/encoding.py": "the store says which file",
    # Whoever has made the request says of which key.
    "stores/threads.py": "any request of an operation that is given up",
}
"""Where errors without a place may be raised, and why."""


def unplaced(source: str) -> list[str]:
    """The errors about stored data that some source raises without saying where."""
    return [
        f"line {node.lineno}: {ast.unparse(node.exc)[:80]}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and isinstance(node.exc.func, ast.Name)
        and node.exc.func.id in ABOUT_DATA
        and not {keyword.arg for keyword in node.exc.keywords} & {*PLACES, None}
    ]


def test_what_counts() -> None:
    """The check sees what it is meant to see."""
    assert {"CodecError", "ChecksumError", "StoreError", "MetadataError", "NodeNotFoundError"} <= ABOUT_DATA
    assert not {"SelectionError", "PathError", "InternalError"} & ABOUT_DATA
    assert unplaced("raise StoreError('no')") == ["line 1: StoreError('no')"]
    assert unplaced("raise StoreError('no', key=key)\nraise CodecError('no', **place)\nraise error") == []


def test_each_error_about_stored_data_says_where() -> None:
    found = {
        f"{path.relative_to(PACKAGE)}, {said}"
        for path in PACKAGE.rglob("*.py")
        if path.relative_to(PACKAGE).parts[0] not in WITHOUT and str(path.relative_to(PACKAGE)) not in WITHOUT
        for said in unplaced(path.read_text())
    }
    assert found == set()


def test_the_exceptions_are_still_needed() -> None:
    for place in WITHOUT:
        sources = [PACKAGE / place] if place.endswith(".py") else list((PACKAGE / place).rglob("*.py"))
        assert any(unplaced(source.read_text()) for source in sources), place
