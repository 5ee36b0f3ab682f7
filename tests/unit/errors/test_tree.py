"""The exception tree: parents, place in the text, pickling."""

from __future__ import annotations

import errno
import pickle
import re
from pathlib import Path

import pytest

import blizzarr
from blizzarr import errors
from blizzarr.errors.specs import StatusError

CLASSES = [getattr(errors, name) for name in errors.__all__ if name != "Problem"]
PLACE = {
    "store": "memory://1",
    "array": "/a/b",
    "key": "a/b/c/0/1",
    "chunk": (0, 1),
    "codec": "zstd",
    "direction": "decode",
}


def test_builtin_parents() -> None:
    """Who catches Python's own classes catches ours."""
    parents = {
        errors.MetadataError: ValueError,
        errors.PathError: ValueError,
        errors.NodeExistsError: FileExistsError,
        errors.NodeTypeError: TypeError,
        errors.SelectionError: IndexError,
        errors.ChunkError: ValueError,
        errors.StoreError: OSError,
        errors.ReadOnlyError: PermissionError,
        errors.ArchiveError: ValueError,
        errors.LimitError: MemoryError,
        errors.SpecError: ValueError,
        errors.TransactionError: ValueError,
        errors.FutureError: ValueError,
        errors.NotWritableError: PermissionError,
        errors.NotReadableError: NotImplementedError,
    }
    for ours, theirs in parents.items():
        assert issubclass(ours, theirs)
    assert issubclass(errors.NodeNotFoundError, FileNotFoundError)
    assert issubclass(errors.NodeNotFoundError, KeyError)
    assert issubclass(errors.ShardIndexError, errors.CodecError)
    assert issubclass(errors.UnknownExtensionError, errors.MetadataError)


@pytest.mark.parametrize("cls", CLASSES)
def test_one_base(cls: type[errors.BlizzarrError]) -> None:
    """Every class is a BlizzarrError, and has a docstring."""
    assert issubclass(cls, errors.BlizzarrError)
    assert cls.__doc__


# Caught in the module that raises them, or in its neighbours.
NEVER_SEEN = {"NotTakenError", "_DuplicateError", "_ReplacedError", "RefusedError"}


def test_one_tree() -> None:
    """No exception that users may see is defined elsewhere; each is shown under the name from which they import it."""
    package = Path(blizzarr.__file__).parent
    for path in package.rglob("*.py"):
        # `blizzarr.zarr` has the names of zarr-python.
        if path.relative_to(package).parts[0] in ("errors", "zarr"):
            continue
        for name in re.findall(r"^ *class (\w+Error)\b", path.read_text(), re.MULTILINE):
            assert name in NEVER_SEEN, f"{path}: {name}"
    assert {cls.__module__ for cls in CLASSES} == {"blizzarr.errors"}
    drawn = errors.__doc__ or ""
    assert [cls.__name__ for cls in CLASSES if f" {cls.__name__}" not in drawn] == []


@pytest.mark.parametrize("cls", CLASSES)
def test_fields_are_kept_and_pickled(cls: type[errors.BlizzarrError]) -> None:
    """Attributes, text, errno and notes survive pickling."""
    error = cls("it broke", **PLACE)
    error.add_note("while testing")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is cls
    assert str(again) == str(error)
    assert again.__notes__ == ["while testing"]
    for name in cls.fields:
        assert getattr(again, name) == getattr(error, name)
    for name, value in PLACE.items():
        assert getattr(error, name) == value


@pytest.mark.parametrize("cls", [cls for cls in CLASSES if cls is not errors.MetadataError])
def test_fields_default_to_none(cls: type[errors.BlizzarrError]) -> None:
    """What does not apply is None, and leaves no hole in the text."""
    error = cls("it broke")
    assert error.store is error.array is error.key is error.chunk is error.codec is error.direction is None
    status = f"{cls.status}: " if issubclass(cls, StatusError) else ""
    assert str(error) == f"{status}it broke"


def test_text_names_the_place() -> None:
    """Array, chunk, codec, direction and cause are in the text."""
    error = errors.CodecError(
        "data ended after 137 of 4,096 bytes", array="/a/b", key="a/b/c/0/1", codec="zstd", direction="decode"
    )
    assert str(error) == "cannot decode chunk c/0/1 of /a/b: zstd: data ended after 137 of 4,096 bytes"
    assert str(errors.ChunkError("gone", chunk=(1, 2))) == "chunk (1, 2): gone"
    assert str(errors.StoreError("denied", key="x", store="S", direction="write")) == "cannot write key x in S: denied"
    assert str(errors.CodecError("bad", array="/", key="c/0")) == "chunk c/0 of /: bad"


def test_key_error_text_is_not_quoted() -> None:
    """Python would show the repr of a KeyError's argument."""
    assert str(errors.NodeNotFoundError("nothing here", array="a")) == "/a: nothing here"


def test_errno() -> None:
    """OSErrors have the errno that their builtin parent means, or the one given."""
    assert errors.NodeNotFoundError("x").errno == errno.ENOENT
    assert errors.NodeExistsError("x").errno == errno.EEXIST
    assert errors.ReadOnlyError("x").errno == errno.EROFS
    assert errors.StoreError("x").errno is None
    assert errors.StoreError("x", errno=errno.EIO).errno == errno.EIO


def test_metadata_error_lists_all_problems() -> None:
    """One line for each problem, the key in the first."""
    problems = [errors.Problem("shape[0]", "an integer >= 0", "-1"), errors.Problem("", "an object", "[]")]
    error = errors.MetadataError(key="a/zarr.json", problems=problems, document={"attributes": {"x": 1}})
    assert str(error) == (
        "a/zarr.json does not conform, 2 problems:\n"
        "  shape[0]: expected an integer >= 0, found -1\n"
        "  the document: expected an object, found []"
    )
    assert pickle.loads(pickle.dumps(error)).problems == tuple(problems)
    assert error.document == {"attributes": {"x": 1}}
    assert error.line == "a/zarr.json does not conform: shape[0]: expected an integer >= 0, found -1; and 1 more"
    assert errors.StoreError("x\ny").line == "x\\ny"
    assert errors.InternalError("x", version="1", operation="read").line == "x"


def test_what_is_not_supported_is_not_called_wrong() -> None:
    """A document that conforms is not said not to."""
    problem = errors.Problem("data_type", "a data type that is supported here", '"string": text')
    error = errors.UnknownExtensionError(key="zarr.json", problems=[problem], extensions=["string"])
    assert error.line == f"zarr.json is beyond this release: {problem}"


def test_out_of_bounds_text() -> None:
    """Index, axis and range; an axis without elements has no range."""
    assert str(errors.OutOfBoundsError(index=5, axis=0, size=0)) == (
        "index 5 is out of bounds for axis 0 with no valid index"
    )
