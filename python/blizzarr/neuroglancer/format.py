"""Volumes of Neuroglancer: a document ``info`` above a directory of chunks for each resolution.

https://github.com/google/neuroglancer/blob/master/src/datasource/precomputed/volume.md

One document has all resolutions, so an instance of the format stands for one of them, which is chosen when the document
is read. Volumes are never searched for; they are opened only on request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from blizzarr.bounded_cache import BoundedCache
from blizzarr.errors import MetadataError, Problem
from blizzarr.formats.document import Stored, dump, load
from blizzarr.formats.sibling_documents import WithoutGroups
from blizzarr.model import ArrayMeta, ChunkKeys, GroupMeta
from blizzarr.neuroglancer.chunk_keys import NAME
from blizzarr.neuroglancer.info import Triple, Volume, volume_of
from blizzarr.neuroglancer.scale_array import array_of, resolved
from blizzarr.problems import Notice, Problems

_DOCUMENT: Final = "info"

Choice = tuple[int, Triple]
"""The number of a scale, and one of its chunk sizes."""


class VolumeSource(Stored):
    """The document of a volume, and the scale that was chosen."""

    def __init__(self, document: Mapping[str, Any], raw: Mapping[str, bytes], volume: Volume, choice: Choice) -> None:
        super().__init__(document, raw)
        self.volume = volume
        self.number, self.chunk_size = choice

    def __reduce__(self) -> tuple[Any, ...]:
        return VolumeSource, (dict(self), dict(self.raw), self.volume, (self.number, self.chunk_size))


_LONG: Final = 1 << 16
"""The size in bytes of the largest document that is remembered."""
_volumes: Final[BoundedCache[bytes, tuple[dict[str, Any], Volume]]] = BoundedCache(64)


def read_volume(raw: bytes, key: str) -> tuple[dict[str, Any], Volume]:
    """Parse and decode a document.

    Raise `MetadataError` if the document does not conform; the error has all problems.
    """
    known = _volumes.get(raw)
    if known is not None:
        return known
    problems = Problems()
    document = load(raw, problems, marked=True)
    volume = None if document is None else volume_of(document, problems)
    problems.raise_any(key=key, document=document)
    assert document is not None, "as there are no problems"
    assert volume is not None
    if len(raw) <= _LONG:
        _volumes.keep(raw, (document, volume))
    return document, volume


@dataclass(frozen=True)
class Precomputed(WithoutGroups):
    """One resolution of volumes.

    - `choose`: a function from a volume to the scale and the chunk size to open.
    - `key`: the key of the scale, if it is known.
    - `part`: what tells the array from others of the volume, if the scale is known.
    """

    choose: Callable[[Volume], Choice]
    key: str = ""
    part: str = ""  # type: ignore[misc]

    name: ClassVar[str] = NAME
    default_compressor: ClassVar[str] = "gzip"
    documents: ClassVar[tuple[str, ...]] = (_DOCUMENT,)

    def of(self, meta: object) -> Precomputed:
        """Return the format of an array, which chooses the same scale again."""
        source = meta.source if isinstance(meta, ArrayMeta) else None
        assert isinstance(source, VolumeSource), "as all arrays of this format have"
        choice = source.number, source.chunk_size
        key = source.volume.scales[source.number].key
        return Precomputed(lambda volume: choice, key, f"{key}{source.chunk_size}")

    def chunk_prefix(self, path: str) -> str:
        prefix = resolved(path, self.key)
        return f"{prefix}/" if prefix else ""

    def chunk_keys(self, given: ChunkKeys | None) -> ChunkKeys:
        """Raise `MetadataError`: chunk keys cannot be converted, as those of a volume contain its origin."""
        problems = Problems()
        problems.items.append(Problem("chunk_key_encoding", "that of a volume", NAME))
        problems.raise_any()
        raise AssertionError

    def decode(
        self, path: str, documents: Mapping[str, bytes], notices: list[Notice] | None = None
    ) -> ArrayMeta | None:
        """Decode the array of the chosen scale; `None` without a document.

        Raise `MetadataError` if the document does not conform; the error has all problems.
        """
        (key,) = self.node_keys(path)
        given = documents.get(key)
        if given is None:
            return None
        raw, problems = bytes(given), Problems()
        document, volume = read_volume(raw, key)
        choice = self.choose(volume)
        self._check_choice(volume, choice, problems)
        problems.raise_any(key=key, document=document)
        source = VolumeSource(document, {_DOCUMENT: raw}, volume, choice)
        meta = array_of(volume, choice, source, path, problems)
        problems.raise_any(key=key, document=document)
        assert meta is not None, "as there are no problems"
        return meta

    def _check_choice(self, volume: Volume, choice: Choice, problems: Problems) -> None:
        """Add a problem if the chosen scale or chunk size has been removed since."""
        number, chunk = choice
        if number >= len(volume.scales):
            problems.add("scales", f"scale {number} to be there still", len(volume.scales))
        elif chunk not in volume.scales[number].chunk_sizes:
            sizes = [list(size) for size in volume.scales[number].chunk_sizes]
            problems.add(f"scales[{number}].chunk_sizes", f"the size {list(chunk)} to be there still", sizes)

    def encode(self, meta: ArrayMeta | GroupMeta, path: str) -> dict[str, bytes]:
        """Return the document of the volume from which the array came.

        Raise `MetadataError` if the node is not an array of a volume.
        """
        (key,) = self.node_keys(path)
        source = meta.source if isinstance(meta, ArrayMeta) else None
        if not isinstance(source, VolumeSource):
            problems = Problems()
            problems.items.append(Problem("", "an array of a volume of Neuroglancer", "another node"))
            problems.raise_any(key=key)
            raise AssertionError
        raw = source.raw.get(_DOCUMENT)
        return {key: dump(source, key) if raw is None else raw}


def _first(volume: Volume) -> Choice:
    """Return the first scale, whose resolution is usually the highest."""
    if not volume.scales:
        raise MetadataError("expected a volume with a scale, found none")
    return 0, volume.scales[0].chunk_sizes[0]


PRECOMPUTED: Final = Precomputed(_first)
"""The format of the first resolution of volumes."""
