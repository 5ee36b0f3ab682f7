"""The interface of constraints on the metadata of stored arrays, the same for all drivers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self, TypeAlias

from blizzarr.errors import SpecError
from blizzarr.indexing.form import Form, identity_maps
from blizzarr.json_members import Option
from blizzarr.model import ArrayMeta
from blizzarr.spec.codec_spec import DriverCodec
from blizzarr.spec.metadata.elements import Field
from blizzarr.spec.schema import Schema
from blizzarr.views import IndexTransform, form_of
from blizzarr.views.values import MAX_RANK

Options: TypeAlias = Mapping[str, Any]
"""The driver's own members of a spec."""


class MetadataConstraints(ABC):
    """The constraints of a spec on the documents of an array, in the terms of its format.

    What is asked for takes the schema into account, and the driver's own options. Of domain, chunk layout, codec, fill
    value and dimension units, a method named like the property of `Spec`, which takes both, returns what is known.
    """

    codec_class: ClassVar[type[DriverCodec] | None] = None
    """The class of the codec in a schema; None if a schema cannot have a codec."""
    options: ClassVar[Mapping[str, Option]] = {}
    """Members of the driver besides those of all drivers of stored arrays."""

    @classmethod
    @abstractmethod
    def from_json(cls, value: Any) -> Self:
        """Parse the member ``metadata``."""

    @classmethod
    @abstractmethod
    def of(cls, meta: ArrayMeta) -> Self:
        """Return constraints that only this array meets."""

    @staticmethod
    def check_dtype(schema: Schema) -> None:
        """Raise if the format does not have the data type; by default, that is found out when an array is created."""
        return

    def with_options(self, options: dict[str, Any]) -> Self:
        """Return the constraints with those of the driver's options that are constraints in other words, and take
        these out of `options`.
        """
        return self

    @abstractmethod
    def to_json(self, include_defaults: bool = False) -> dict[str, Any]:
        """Return the member ``metadata``; with `include_defaults`, defaults are included."""

    def lasting(self) -> Self:
        """Return the constraints without those on what may change while the array stays the same, like its shape."""
        return self

    @abstractmethod
    def constrain(self, schema: Schema, options: Options) -> None:
        """Add the data type and rank that are known to the schema."""

    @abstractmethod
    def create(self, schema: Schema, options: Options) -> ArrayMeta:
        """Return the metadata of a new array that meets the constraints."""

    @abstractmethod
    def check(self, meta: ArrayMeta, schema: Schema, options: Options) -> None:
        """Raise unless an array meets the constraints; the error names both sides."""

    @classmethod
    @abstractmethod
    def schema_of(cls, meta: ArrayMeta, options: Options) -> Schema:
        """The schema of an array."""

    @classmethod
    @abstractmethod
    def field_of(cls, meta: ArrayMeta, options: Options) -> Field:
        """Return the selected part of the elements of an array."""

    @classmethod
    def form_of(cls, meta: ArrayMeta, field: Field) -> Form:
        """Return the view of an array that is all of it; this part of its elements is selected."""
        domain = cls.schema_of(meta, {}).domain
        assert domain is not None, "a stored array has one"
        return form_of(IndexTransform(domain))

    def refuse(self, raw: bytes) -> None:
        """Raise what is wrong with the value of a document's key that is not the document of an array."""
        return


def one_chunk_shape(meta: ArrayMeta) -> tuple[int, ...]:
    """Return the shape of what is stored as one; raise `SpecError` if there are several, which TensorStore has not."""
    grid = meta.chunk_grid
    if not grid.is_even:
        raise SpecError(
            f'Expected the "chunk_grid" "regular", but received: "{grid.name}": '
            "TensorStore's interface has chunks of one shape only; blizzarr.open_array opens this array"
        )
    return grid.chunk_shape


def resizable(shape: tuple[int, ...], names: Sequence[str | None] | None = None, within: tuple[int, ...] = ()) -> Form:
    """Return the view of an array that is all of it; the upper bounds can be changed, but for those within elements.

    Raise `SpecError` if there are too many dimensions, or two with the same name.

    >>> from blizzarr.views import domain_of
    >>> domain_of(resizable((2, 3), ["x", None], (4,)))
    { "x": [0, 2*), [0, 3*), [0, 4) }
    """
    rank, inner = len(shape), len(within)
    labels = ("",) * rank if names is None else tuple([name or "" for name in names])
    if rank + inner > MAX_RANK or (names is not None and len(set(filter(None, labels))) < sum(map(bool, labels))):
        raise SpecError(f"expected at most {MAX_RANK} dimensions, each with a name of its own, found {labels}")
    never, implicit = (False,) * (rank + inner), (True,) * rank + (False,) * inner
    lower, labels = (0,) * (rank + inner), (*labels, *("",) * inner)
    return Form(lower, (*shape, *within), never, implicit, labels, identity_maps(rank + inner))
