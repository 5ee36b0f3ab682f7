"""The registry of storage transformers, and decoding the lists that documents and users give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

from blizzarr.open_table import OpenTable
from blizzarr.problems import MISSING, Problems, describe, extension, name_path
from blizzarr.transformers.base import StorageTransformer
from blizzarr.transformers.key_encoding import ChunkKeyEncoding

MAX_TRANSFORMERS: Final = 16
"""The most storage transformers of one array."""

_HASHED: Final = "blizzarr.transformers.hashed:HashedTransformer"
_SHARDING: Final = "blizzarr.transformers.sharded:ShardingTransformer"
_REGISTRY: Final = OpenTable[type[StorageTransformer]](
    "blizzarr.storage_transformers",
    {
        "blizzarr.hashed": _HASHED,
        "https://purl.org/blizzarr/storage-transformers/hashed/1.0": _HASHED,
        "sharding": _SHARDING,
        "https://purl.org/zarr/spec/extensions/storage_transformers/sharding/1.0": _SHARDING,
        # The document has its own URI in two spellings; zarr-python 2.14 to 2.18 wrote a third.
        "https://purl.org/zarr/spec/extensions/storage-transformers/sharding/1.0": _SHARDING,
        "https://purl.org/zarr/spec/storage_transformers/sharding/1.0": _SHARDING,
    },
)
"""The storage transformers by name and by URI."""
_POINT: Final = "storage transformer"
_NOT_HERE: Final = (
    "nobody has registered it; import the package that does, or ask whoever wrote the array: without it the chunks "
    "cannot be found"
)

T = TypeVar("T", bound=StorageTransformer)


def register(transformer: type[T]) -> type[T]:
    """Register a storage transformer under its name, its URI and its other spellings. Can be used as a decorator.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from blizzarr.transformers import RenamingStore, StorageTransformer, register
    >>> class Planes(RenamingStore):
    ...     def stored(self, name): return "plane-" + name.removeprefix("c/").partition("/")[0] + "/" + name
    ...     def original(self, name): return name.partition("/")[2]
    >>> @register
    ... @dataclass(frozen=True)
    ... class PlanesTransformer(StorageTransformer):
    ...     name = "example.planes"
    ...     extension = "https://example.org/storage-transformers/planes/1.0"
    ...     type = "first"
    ...     def wrap(self, store, keys): return Planes(store, keys)
    >>> transformers_of("example.planes", rank=3)
    (PlanesTransformer(),)
    """
    missing = [member for member in ("name", "extension", "type") if not hasattr(transformer, member)]
    if missing:
        raise TypeError(f"expected {transformer.__qualname__} to have {', '.join(missing)}, see StorageTransformer")
    names = (transformer.name, transformer.extension, *transformer.spellings)
    for name in names:
        there = _REGISTRY.get(name, transformer)
        # The same class defined anew, as when a notebook cell runs again, replaces the old one.
        if (there.__module__, there.__qualname__) != (transformer.__module__, transformer.__qualname__):
            raise ValueError(
                f"expected a name of its own for {transformer.__qualname__}, found {name!r}, "
                f"which is {there.__module__}.{there.__qualname__}"
            )
    for name in names:
        _REGISTRY.register(name, transformer)
    return transformer


def decode(
    value: Any, rank: int | None, problems: Problems, path: str = "storage_transformers"
) -> tuple[StorageTransformer, ...]:
    """Decode the list in a document of Zarr v3: objects with a name, or names. Errors are added to `problems`."""
    transformers = []
    for item, here in _items(value, path, problems):
        named = extension(item, here, problems, _POINT, optional=True)
        if named is None:
            continue
        row = _REGISTRY.get(named[0])
        if row is None and type(item) is dict and item.get("must_understand") is False:
            continue
        if row is None:
            problems.unknown(name_path(item, here), _POINT, named[0], _NOT_HERE)
        else:
            transformers.append(row.from_configuration(named[1], here, problems, rank))
    return _stack(transformers, path, problems)


def decode_draft(
    value: Any, rank: int | None, problems: Problems, path: str = "storage_transformers"
) -> tuple[StorageTransformer, ...]:
    """Decode the list in a document of the draft: objects with `extension`, `type` and optional `configuration`."""
    transformers = []
    for item, here in _items(value, path, problems):
        if type(item) is not dict:
            problems.add(here, f"the {_POINT}: an object with extension and type", item)
            continue
        before = len(problems.items)
        uri, kind = item.get("extension", MISSING), item.get("type", MISSING)
        configuration = item.get("configuration", {})
        if type(uri) is not str:
            problems.add(f"{here}.extension", f"the URI of a {_POINT}", uri)
        if type(kind) is not str:
            problems.add(f"{here}.type", "a string", kind)
        if type(configuration) is not dict:
            problems.add(f"{here}.configuration", "an object", configuration)
        for member in item.keys() - {"extension", "type", "configuration"}:
            problems.add(f"{here}.{member}", "no such member", item[member])
        if len(problems.items) > before:
            continue
        row = _REGISTRY.get(uri)
        if row is None:
            problems.unknown(f"{here}.extension", _POINT, uri, _NOT_HERE)
            continue
        if kind != row.type:
            problems.add(f"{here}.type", describe(row.type), kind)
        transformers.append(row.from_configuration(configuration, here, problems, rank))
    return _stack(transformers, path, problems)


def transformers_of(value: Any, rank: int) -> tuple[StorageTransformer, ...]:
    """Convert an argument of a user: transformers, names, or objects as in Zarr v3; one, several or `None`.

    Options that have a default may be omitted.

    Raise `MetadataError` if something is invalid for an array with `rank` dimensions; the error has all problems.
    """
    given = list(value) if isinstance(value, list | tuple) else [] if value is None else [value]
    problems = Problems()
    decoded = []
    for item, here in _items(given, "storage_transformers", problems):
        transformer = item if isinstance(item, StorageTransformer) else _from_user(item, here, problems)
        if transformer is None:
            continue
        if not isinstance(transformer, ChunkKeyEncoding) and _REGISTRY.get(transformer.name) is not type(transformer):
            # An array with an unregistered transformer could not be opened again.
            problems.add(here, f"a registered {_POINT} (see blizzarr.transformers.register)", repr(transformer))
        transformer.check(rank, here, problems)
        decoded.append(transformer)
    stack = _stack(decoded, "storage_transformers", problems)
    problems.raise_any()
    return stack


def _stack(
    decoded: Sequence[StorageTransformer | None], path: str, problems: Problems
) -> tuple[StorageTransformer, ...]:
    """Return the transformers that were decoded; add a problem for each that may occur only once and is repeated."""
    stack = tuple(transformer for transformer in decoded if transformer is not None)
    names = [transformer.name for transformer in stack if transformer.once]
    for name in sorted({name for name in names if names.count(name) > 1}):
        problems.add(path, f"{name} at most once", names.count(name))
    return stack


def _from_user(item: Any, here: str, problems: Problems) -> StorageTransformer | None:
    named = extension(dict(item) if isinstance(item, Mapping) else item, here, problems, _POINT)
    if named is None:
        return None
    name, configuration = named
    row = _REGISTRY.get(name)
    if row is None:
        known = sorted({transformer.name for transformer in _REGISTRY.values()})
        problems.unknown(here, _POINT, name, f"there are {', '.join(known)}")
        return None
    return row.from_configuration({**row.defaults(), **configuration}, here, problems, None)


def _items(value: Any, path: str, problems: Problems) -> list[tuple[Any, str]]:
    if type(value) is not list:
        problems.add(path, f"a list of {_POINT}s", value)
        return []
    if len(value) > MAX_TRANSFORMERS:
        problems.limit(path, f"at most {MAX_TRANSFORMERS} {_POINT}s", len(value))
        return []
    return [(item, f"{path}[{index}]") for index, item in enumerate(value)]
