"""The metadata of arrays and groups as zarr-python shows it: what the documents say, under their names there."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from operator import attrgetter
from typing import Any, Literal, TypeVar, cast

from blizzarr.codecs.numcodecs.library import as_object
from blizzarr.dtypes import Kind
from blizzarr.formats import encode, format_named, format_of, v3_array
from blizzarr.json_values import copied
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.transformers import encoding_of
from blizzarr.zarr.abc.metadata import Metadata
from blizzarr.zarr.buffer import Buffer
from blizzarr.zarr.codecs.named import codecs_from_list
from blizzarr.zarr.dtype import ZDType, of_engine

__all__ = [
    *("ArrayMetadata", "ArrayV2Metadata", "ArrayV3Metadata", "ConsolidatedMetadata", "DefaultChunkKeyEncoding"),
    *("GroupMetadata", "RectilinearChunkGridMetadata", "RegularChunkGrid", "V2ChunkKeyEncoding", "metadata_of"),
]


C = TypeVar("C", bound=type[Any])


def _shown_as(names: str) -> Callable[[C], C]:
    """Return a decorator: the class is a dataclass of these members, for `repr`, `pprint` and `replace`."""

    def decorate(cls: C) -> C:
        cls.__annotations__ = dict.fromkeys(names.split(), Any)
        return cast("C", dataclass(init=False, eq=False)(cls))

    return decorate


def _of_engine(path: str, text: str) -> Any:
    """Return a property that is that of `blizzarr.model.ArrayMeta` at a path of names."""
    return property(attrgetter(f"engine.{path}"), doc=text)


@dataclass(frozen=True)
class RegularChunkGrid(Metadata):
    """A grid of chunks that all have one shape."""

    chunk_shape: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"name": "regular", "configuration": {"chunk_shape": tuple(self.chunk_shape)}}


@dataclass(frozen=True)
class RectilinearChunkGridMetadata(Metadata):
    """A grid of chunks of several lengths along each axis: one length, or that of each chunk."""

    chunk_shapes: tuple[int | tuple[int, ...], ...]

    def to_dict(self) -> dict[str, Any]:
        shapes = tuple(list(axis) if isinstance(axis, tuple) else axis for axis in self.chunk_shapes)
        return {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": shapes}}


@dataclass(frozen=True)
class ChunkKeyEncoding(Metadata):
    """How the keys of chunks are made."""

    separator: Literal[".", "/"] = "/"
    name = "default"

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "configuration": {"separator": self.separator}}

    def encode_chunk_key(self, chunk_coords: tuple[int, ...]) -> str:
        """Return the key of a chunk."""
        return self.separator.join(map(str, ("c", *chunk_coords)))


@dataclass(frozen=True)
class DefaultChunkKeyEncoding(ChunkKeyEncoding):
    """Keys like ``c/0/1``."""


@dataclass(frozen=True)
class V2ChunkKeyEncoding(ChunkKeyEncoding):
    """Keys like ``0.1``."""

    separator: Literal[".", "/"] = "."
    name = "v2"

    def encode_chunk_key(self, chunk_coords: tuple[int, ...]) -> str:
        return self.separator.join(map(str, chunk_coords)) or "0"


class _NodeMetadata(Metadata):
    zarr_format: int

    @abstractmethod
    def to_engine(self) -> ArrayMeta | GroupMeta:
        """Return the metadata as blizzarr has it."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and _members(self) == _members(other)

    __hash__ = None  # type: ignore[assignment]

    def to_buffer_dict(self, prototype: Any = None) -> dict[str, Buffer]:
        """Return the documents by the last parts of their keys."""
        return {key: Buffer.from_bytes(value) for key, value in encode(self.to_engine(), "").items()}


class ArrayMetadata(_NodeMetadata):
    """The metadata of an array.

    Parameters
    ----------
    engine
        The metadata as `blizzarr.Array` has it.
    members
        In its place the members of the document, as values of zarr-python's classes or as JSON.
    """

    def __init__(self, engine: ArrayMeta | None = None, **members: Any) -> None:
        self.engine: ArrayMeta = type(self)._engine(**members) if engine is None else engine

    @classmethod
    def _engine(cls, *, extra_fields: Mapping[str, Any] | None = None, **members: Any) -> ArrayMeta:
        document = {"zarr_format": cls.zarr_format, **members, **(extra_fields or {})}
        if cls.zarr_format == 3:
            document["node_type"] = "array"
            if document.get("dimension_names") is None:
                document.pop("dimension_names", None)
        name, fill = "data_type" if cls.zarr_format == 3 else "dtype", document.get("fill_value")
        if isinstance(dtype := document.get(name), ZDType):
            document[name] = dtype.to_json(3) if cls.zarr_format == 3 else dtype.to_json(2)["name"]
            if fill is not None:
                document["fill_value"] = dtype.to_json_scalar(fill, zarr_format=cls.zarr_format)
        parsed: ArrayMetadata = cls.from_dict(document)
        return parsed.engine

    @cached_property
    def document(self) -> dict[str, Any]:
        """The document of the array; for a format that zarr-python does not have, the one that it would have here."""
        form = format_named(self.zarr_format)
        if self.zarr_format == 3 and self.engine.format != form.name:
            # The keys and codecs of such a format need not be those of v3, which `Format.encode` would check.
            return v3_array.encode(self.engine)
        return json.loads(form.encode(self.engine, "")[form.node_keys("")[0]])

    @property
    def _fill_in_document(self) -> Any:
        """The fill value as `to_dict` returns it: a complex number is a tuple."""
        value = self.document["fill_value"]
        return tuple(value) if isinstance(value, list) and self.engine.dtype.kind is Kind.COMPLEX else value

    shape = _of_engine("shape", "The length of each axis.")
    chunks = _of_engine("chunk_shape", "The shape of a chunk.")
    shards = _of_engine("shard_shape", "The shape of a shard.")

    @cached_property
    def attributes(self) -> dict[str, Any]:
        """The attributes: a copy, changes of which are in what is made from this object."""
        return dict(copied(self.engine.attributes))

    def to_engine(self) -> ArrayMeta:
        is_same = self.attributes == self.engine.attributes
        return self.engine if is_same else replace(self.engine, attributes=self.attributes)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.engine.shape)

    @property
    def chunk_grid(self) -> RegularChunkGrid | RectilinearChunkGridMetadata:
        """The grid of what is stored as one object."""
        grid = self.engine.chunk_grid
        return RegularChunkGrid(grid.chunk_shape) if grid.is_even else RectilinearChunkGridMetadata(grid.lengths)

    @property
    def dtype(self) -> ZDType:
        """The data type."""
        return of_engine(self.engine.dtype, self.engine.codecs.endian)

    @property
    def fill_value(self) -> Any:
        """The value of elements that were never written; None if the document leaves it open."""
        return None if self.engine.fill_undefined else self.engine.fill_value

    def encode_chunk_key(self, chunk_coords: tuple[int, ...]) -> str:
        """Return the key of a chunk, below the path of the array."""
        # Others than those of the specification rename the default keys.
        encoding = encoding_of(self.engine.storage_transformers)
        return (self.engine.chunk_keys.key if encoding is None else encoding.encode)(tuple(chunk_coords))

    def update_shape(self, shape: tuple[int, ...]) -> ArrayMetadata:
        """Return the metadata with another shape."""
        return type(self)(self.to_engine().with_shape(tuple(shape)))

    def update_attributes(self, attributes: Mapping[str, Any]) -> ArrayMetadata:
        """Return the metadata with other attributes."""
        return type(self)(replace(self.engine, attributes=dict(attributes)))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Any:
        return metadata_of(_decoded(dict(data)))


@_shown_as(
    "shape data_type chunk_grid chunk_key_encoding fill_value codecs attributes dimension_names zarr_format node_type "
    "storage_transformers extra_fields"
)
class ArrayV3Metadata(ArrayMetadata):
    """The metadata of an array of v3."""

    zarr_format = 3
    node_type = "array"

    data_type = ArrayMetadata.dtype
    dimension_names = _of_engine("dimension_names", "The names of the axes.")

    @property
    def chunk_key_encoding(self) -> ChunkKeyEncoding:
        """How the keys of chunks are made."""
        keys = self.engine.chunk_keys
        kind = V2ChunkKeyEncoding if keys.name == "v2" else DefaultChunkKeyEncoding
        return kind(keys.separator)  # type: ignore[arg-type]

    @property
    def codecs(self) -> tuple[Any, ...]:
        """The codecs of what is stored as one object."""
        return codecs_from_list(self.document["codecs"])

    @property
    def inner_codecs(self) -> tuple[Any, ...]:
        """The codecs of a chunk within a shard, or of a chunk."""
        return codecs_from_list(self.engine.codecs.innermost.to_json())

    @property
    def storage_transformers(self) -> tuple[dict[str, Any], ...]:
        """The storage transformers, as in the document."""
        return tuple(self.document.get("storage_transformers", ()))

    @property
    def extra_fields(self) -> dict[str, Any]:
        """The members of the document that the specification does not have."""
        return dict(self.engine.extra)

    def to_dict(self) -> dict[str, Any]:
        document = {**_with_tuples(self.document), "attributes": self.attributes, "fill_value": self._fill_in_document}
        document.setdefault("storage_transformers", ())
        return document


@_shown_as("shape chunks dtype fill_value order filters dimension_separator compressor attributes zarr_format")
class ArrayV2Metadata(ArrayMetadata):
    """The metadata of an array of v2."""

    zarr_format = 2

    @property
    def order(self) -> str:
        """The order of the elements of a chunk."""
        return str(self.document["order"])

    dimension_separator = _of_engine("chunk_keys.separator", "What is between the indices in the keys of chunks.")

    @cached_property
    def filters(self) -> tuple[Any, ...] | None:
        """The filters, as codecs of numcodecs."""
        filters = self.document.get("filters")
        return tuple(map(as_object, filters)) if filters else None

    @cached_property
    def compressor(self) -> Any:
        """The compressor, as a codec of numcodecs."""
        compressor = self.document.get("compressor")
        return None if compressor is None else as_object(compressor)

    def to_dict(self) -> dict[str, Any]:
        document = {**self.document, "shape": self.shape, "chunks": self.chunks, "attributes": self.attributes}
        document["fill_value"] = self._fill_in_document
        document["dimension_separator"] = self.dimension_separator
        return document


@dataclass
class ConsolidatedMetadata(Metadata):
    """The metadata of everything below a group."""

    metadata: dict[str, Any]
    """The metadata by name; a group has the consolidated metadata of what is below it."""
    kind: Literal["inline"] = "inline"
    must_understand: Literal[False] = False

    @property
    def flattened_metadata(self) -> dict[str, Any]:
        """The metadata by path."""
        flattened: dict[str, Any] = {}
        for name, node in self.metadata.items():
            flattened[name] = node
            if isinstance(node, GroupMetadata) and node.consolidated_metadata is not None:
                flattened[name] = GroupMetadata(node.attributes, node.zarr_format, ConsolidatedMetadata({}))
                below = node.consolidated_metadata.flattened_metadata
                flattened |= {f"{name}/{path}": inner for path, inner in below.items()}
        return flattened

    def to_dict(self) -> dict[str, Any]:
        nodes = {path: node.to_dict() for path, node in self.flattened_metadata.items()}
        return {"kind": self.kind, "must_understand": self.must_understand, "metadata": nodes}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ConsolidatedMetadata:
        nodes = data.get("metadata")
        if not isinstance(nodes, Mapping):
            raise TypeError(f"expected an object as metadata of consolidated metadata, found {nodes!r:.80}")
        return _nested({path: _engine_of(node) for path, node in nodes.items()})


@_shown_as("attributes zarr_format consolidated_metadata node_type")
class GroupMetadata(_NodeMetadata):
    """The metadata of a group.

    Parameters
    ----------
    attributes, zarr_format, consolidated_metadata
        As in the document.
    """

    node_type = "group"

    def __init__(
        self,
        attributes: Mapping[str, Any] | None = None,
        zarr_format: int = 3,
        consolidated_metadata: ConsolidatedMetadata | None = None,
    ) -> None:
        self.attributes = dict(attributes or {})
        self.zarr_format = zarr_format
        self.consolidated_metadata = consolidated_metadata

    @classmethod
    def of_engine(cls, engine: GroupMeta) -> GroupMetadata:
        """Return the metadata for that of `blizzarr.Group`."""
        consolidated = None if engine.consolidated is None else _nested(engine.consolidated)
        return cls(copied(engine.attributes), format_number(engine), consolidated)

    def to_engine(self) -> GroupMeta:
        below = None
        if self.consolidated_metadata is not None:
            nodes = self.consolidated_metadata.flattened_metadata
            below = {path: node.to_engine() for path, node in nodes.items()}
        return GroupMeta(self.attributes, below, format=format_named(self.zarr_format).name)

    def to_dict(self) -> dict[str, Any]:
        document: dict[str, Any] = {"attributes": self.attributes, "zarr_format": self.zarr_format}
        document["node_type"] = self.node_type
        if self.consolidated_metadata is not None:
            document["consolidated_metadata"] = self.consolidated_metadata.to_dict()
        return document

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> GroupMetadata:
        consolidated = data.get("consolidated_metadata")
        if isinstance(consolidated, Mapping):
            consolidated = ConsolidatedMetadata.from_dict(consolidated)
        return cls(data.get("attributes"), data.get("zarr_format", 3), consolidated)


def _engine_of(data: Mapping[str, Any]) -> ArrayMeta | GroupMeta:
    if data.get("node_type") == "group" or not {"node_type", "shape"} & set(data):
        return GroupMetadata.from_dict(data).to_engine()
    return ArrayMetadata.from_dict(data).engine


def metadata_of(engine: ArrayMeta | GroupMeta) -> Any:
    """Return the metadata of a node as zarr-python shows it."""
    if isinstance(engine, GroupMeta):
        return GroupMetadata.of_engine(engine)
    return (ArrayV3Metadata if format_number(engine) > 2 else ArrayV2Metadata)(engine)


def format_number(engine: ArrayMeta | GroupMeta) -> int:
    """Return the number of the format, as far as zarr-python has it: 2 for what is like v2, 3 for the others."""
    number = format_of(engine).zarr_format
    return 3 if number is None or number > 2 else 2


def _nested(consolidated: Mapping[str, ArrayMeta | GroupMeta]) -> ConsolidatedMetadata:
    nodes = {path: metadata_of(engine) for path, engine in consolidated.items()}
    members: dict[str, dict[str, Any]] = {"": {}}
    for path, node in nodes.items():
        if isinstance(node, GroupMetadata):
            node.consolidated_metadata = ConsolidatedMetadata(members.setdefault(path, {}))
    for path, node in nodes.items():
        above, _, name = path.rpartition("/")
        if above in members:
            members[above][name] = node
    return ConsolidatedMetadata(members[""])


def _decoded(data: dict[str, Any]) -> ArrayMeta | GroupMeta:
    """Return the metadata of an array that a document says, in v2 with the attributes in it."""
    form = format_named(data.get("zarr_format", 3))
    key = form.node_keys("")[0]
    rest = {}
    if "attributes" in data and not key.endswith(".json"):
        rest[".zattrs"] = json.dumps(data.pop("attributes")).encode()
    decoded = form.decode("", {key: json.dumps(data, default=_json).encode(), **rest, **form.entry_documents()})
    assert decoded is not None
    return decoded


def _json(value: Any) -> Any:
    if hasattr(value, "get_config"):
        return value.get_config()  # of numcodecs
    return value.to_dict() if hasattr(value, "to_dict") else value.tolist()


def _with_tuples(value: Any) -> Any:
    """Return JSON in which those arrays are tuples of which zarr-python makes some."""
    if isinstance(value, dict):
        return {
            name: tuple(map(_with_tuples, inner))
            if name in _TUPLES and isinstance(inner, list)
            else _with_tuples(inner)
            for name, inner in value.items()
        }
    return [*map(_with_tuples, value)] if isinstance(value, list) else value


_TUPLES = frozenset(
    ("shape", "chunk_shape", "codecs", "index_codecs", "order", "dimension_names", "storage_transformers")
)


def _members(node: Any) -> str:
    return json.dumps({member.name: getattr(node, member.name) for member in fields(node)}, sort_keys=True, default=str)
