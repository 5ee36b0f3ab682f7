"""Chunks and shards of the arrays of a copy, where they are given by the names of dimensions or the paths of arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np

from blizzarr.array import Array
from blizzarr.creation.chunking import resolve_chunks
from blizzarr.keywords import hint

_OPTIONS: Final = ("chunks", "shards")


def check_layout(options: Mapping[str, Any], sources: Iterable[tuple[str, Any]]) -> None:
    """Check that what `chunks` and `shards` name is there: dimensions, and the paths of arrays.

    Raise `ValueError` if an array or a dimension is not there; the text says what was probably meant.

    >>> check_layout({"chunks": {"/ran": 5}}, [("rain", np.zeros(3))])
    Traceback (most recent call last):
    ...
    ValueError: chunks: expected the path of an array that is copied, found '/ran'; did you mean '/rain'?
    """
    given = {option: options[option] for option in _OPTIONS if isinstance(options.get(option), Mapping)}
    if not given:
        return
    arrays = {f"/{name}": _names(source) for name, source in sources if isinstance(source, Array | np.ndarray)}
    everywhere = [name for names in arrays.values() for name in names]
    for option, lengths in given.items():
        for name, value in lengths.items():
            if _is_path(name):
                if name not in arrays:
                    _refuse(option, "the path of an array that is copied", name, list(arrays))
                for inner in value if isinstance(value, Mapping) else ():
                    if inner is None or inner not in arrays[name]:
                        _refuse(f"{option}[{name!r}]", "the name of a dimension", inner, arrays[name])
            elif name is None or name not in everywhere:
                _refuse(option, "the name of a dimension", name, everywhere)


def layout_for(options: Mapping[str, Any], name: str, source: Any) -> dict[str, Any]:
    """Return the options for one array, with its lengths in place of mappings.

    What a mapping does not mention stays as it is in the source.

    - `options`: the options of the copy.
    - `name`: the path of the array, relative to what is copied.
    - `source`: a blizzarr or NumPy array.
    """
    made = dict(options)
    for option in _OPTIONS:
        given = options.get(option)
        if not isinstance(given, Mapping):
            continue
        del made[option]
        path = f"/{name}"
        lengths = given[path] if path in given else {key: value for key, value in given.items() if not _is_path(key)}
        if not isinstance(lengths, Mapping):
            made[option] = lengths
        elif not lengths.keys().isdisjoint(_names(source)):
            usual = _usual(option, made, source)
            made[option] = [lengths.get(axis, length) for axis, length in zip(_names(source), usual, strict=True)]
    return made


def _usual(option: str, options: Mapping[str, Any], source: Array) -> list[Any]:
    """Return the lengths along dimensions that are not mentioned."""
    meta = source.metadata
    if option == "chunks":
        return meta.read_grid.spelling
    chunks = resolve_chunks(options.get("chunks", meta.read_grid), meta.shape, meta.dtype.usual_bytes)
    return meta.chunk_grid.multiples(chunks) if meta.codecs.is_sharded else list(chunks)


def _names(source: Any) -> tuple[str | None, ...]:
    return (source.metadata.dimension_names if isinstance(source, Array) else None) or ()


def _is_path(name: object) -> bool:
    return isinstance(name, str) and name.startswith("/")


def _refuse(option: str, expected: str, found: object, known: Iterable[str | None]) -> None:
    names = list(dict.fromkeys(name for name in known if name is not None))
    advice = hint(str(found), names) if names else "there are none"
    raise ValueError(f"{option}: expected {expected}, found {found!r}; {advice}")
