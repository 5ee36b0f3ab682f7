"""Arrays of the formats that TensorStore does not have: constraints are members of a document, as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from blizzarr.creation.describe import describe_array
from blizzarr.dtypes import DataType
from blizzarr.errors import SpecError
from blizzarr.json_members import Option, as_object, as_text, refuse_all
from blizzarr.json_values import quote
from blizzarr.model import ArrayMeta
from blizzarr.spec.codec_spec import CodecSpec, DriverCodec
from blizzarr.spec.driver_table import DRIVERS
from blizzarr.spec.dtype import DType
from blizzarr.spec.metadata.constraints import CHANGING, Chosen, Chunks, Constraints
from blizzarr.spec.metadata.elements import Element, Elements, Field
from blizzarr.spec.metadata.interface import Options
from blizzarr.spec.metadata.reading import encoded
from blizzarr.spec.schema import Schema


class DocumentConstraints(Constraints):
    """Constraints on members of a document, by name and as JSON; those of an array also have its model."""

    format: ClassVar[str]
    """The name of the format of new arrays."""
    table: ClassVar[Mapping[str, Any]] = {}
    has_units = False

    @classmethod
    def from_json(cls, value: Any) -> Self:
        members = as_object(value)
        shape = members.get("shape")
        given = {"shape": tuple(shape)} if isinstance(shape, list) else {}
        return cls(given, len(given.get("shape", ())) if given else -1, members)

    @classmethod
    def of(cls, meta: ArrayMeta) -> Self:
        return cls({"meta": meta, "shape": meta.shape}, len(meta.shape), encoded(meta))

    @classmethod
    def field_of(cls, meta: ArrayMeta, options: Options) -> Field:
        return _elements(meta.dtype).fields[0]

    def lasting(self) -> Self:
        return self.from_json({name: value for name, value in self.extra.items() if name not in CHANGING})

    def members(self) -> dict[str, Any]:
        return {}

    @property
    def _meta(self) -> ArrayMeta | None:
        return self.given.get("meta")

    @property
    def labels(self) -> tuple[str, ...] | None:
        names = None if self._meta is None else self._meta.dimension_names
        return None if names is None else tuple(name or "" for name in names)

    @property
    def elements(self) -> Elements | None:
        return self.given.get("dtype") if self._meta is None else _elements(self._meta.dtype)

    def elements_for(self, dtype: DType) -> Elements:
        return _elements(DataType.parse(dtype.numpy_dtype))

    def chunks(self, grid: int, full: int) -> Chunks:
        meta = self._meta
        if meta is None:
            return Chunks()
        return Chunks(tuple(range(grid)[:: -1 if meta.order == "F" else 1]), meta.write_shape, meta.chunk_shape)

    @property
    def own_codec(self) -> DriverCodec:
        raise SpecError(f"codec not supported by {quote(self.driver)} driver")

    def codec(self, schema: Schema, options: Options) -> CodecSpec | None:
        return schema.codec

    @property
    def is_filled(self) -> bool:
        return self._meta is not None

    def fill(self, options: Options) -> Element | None:
        meta = self._meta
        return None if meta is None or meta.fill_undefined else np.asarray(meta.fill_value)

    def array(self, chosen: Chosen) -> ArrayMeta:
        if chosen.codec is not None:
            raise SpecError(f"codec not supported by {quote(self.driver)} driver")
        order, rank = chosen.order, len(chosen.shape)
        meta = describe_array(
            shape=chosen.shape,
            dtype=chosen.elements.dtype.numpy,
            chunks=chosen.read,
            order="F" if rank > 1 and order == tuple(reversed(range(rank))) else "C",
            fill_value=None if chosen.fill is None else chosen.fill[()],
            zarr_format=self.format,
        )
        refuse_all(list(self.differences(self.of(meta))))
        return meta

    def __reduce__(self) -> tuple[Any, ...]:
        # No module has the classes that drivers make of this one.
        return _blank, (self.driver,), vars(self)


def _elements(dtype: DataType) -> Elements:
    return Elements(dtype, None, (Field("", DType(dtype.numpy)),), None)


class DraftConstraints(DocumentConstraints):
    """Arrays of the draft of Zarr v3 of 2022, whose documents lie beside all others of their hierarchy."""

    driver = "zarr3_draft"
    format = "v3_draft"
    options: ClassVar[Mapping[str, Option]] = {"node": Option(as_text, "")}
    """The path of the array in the hierarchy whose root is where the store is."""


def _blank(driver: str) -> Any:
    """Return constraints whose attributes are those of a pickle, which sets them next."""
    return object.__new__(DRIVERS[driver].constraints)  # type: ignore[attr-defined]  # as all that store arrays have
