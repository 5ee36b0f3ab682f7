"""Constraints on an array, and the rules by which they are merged."""

from __future__ import annotations

from typing import Any, Final, Self

import numpy as np

from blizzarr.errors import SpecError
from blizzarr.indexing.form import Form
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.constraint import INFINITE, MAX_RANK, braces
from blizzarr.spec.dimension_units import DimensionUnits, merge_units
from blizzarr.spec.dtype import DType
from blizzarr.spec.fill_value import check_broadcast, fill_from_user, same_fill, shown
from blizzarr.views import IndexDomain

_NO_LAYOUT: Final = ChunkLayout()


class SchemaConstraints:
    """Constraints on rank, data type, domain, layout, codec, fill value and units.

    Examples
    --------
    >>> one, other = SchemaConstraints(), SchemaConstraints._of(None, 2)
    >>> one._merge(other)
    >>> one.rank, one.dtype, one._is_unset
    (2, None, False)
    """

    __slots__ = ("_codec", "_domain", "_dtype", "_fill", "_fill_dtype", "_layout", "_rank", "_units")

    def __init__(self) -> None:
        self._rank = -1
        self._dtype: DType | None = None
        self._domain: IndexDomain | None = None
        # Never changed, only replaced.
        self._layout = _NO_LAYOUT
        self._codec: CodecSpec | None = None
        self._fill: np.ndarray[Any, Any] | None = None
        self._fill_dtype: DType | None = None
        self._units: DimensionUnits = ()

    @classmethod
    def _of(
        cls,
        dtype: DType | None,
        rank: int | None,
        domain: IndexDomain | None = None,
        layout: ChunkLayout = _NO_LAYOUT,
        units: DimensionUnits = (),
        codec: CodecSpec | None = None,
        fill: np.ndarray[Any, Any] | None = None,
    ) -> Self:
        """Return constraints from parts that are known to be consistent; the fill value is of the data type."""
        found = cls.__new__(cls)
        found._rank, found._dtype, found._domain = -1 if rank is None else rank, dtype, domain
        found._layout, found._units, found._codec = layout, units, codec
        found._fill, found._fill_dtype = fill, None if fill is None else dtype
        return found

    def copy(self) -> Self:
        """Return an independent copy."""
        found = type(self).__new__(type(self))
        found._rank, found._dtype, found._domain, found._codec = self._rank, self._dtype, self._domain, self._codec
        found._layout, found._units = self._layout, self._units
        found._fill, found._fill_dtype = self._fill, self._fill_dtype
        return found

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    # Properties

    @property
    def rank(self) -> int | None:
        """The number of dimensions."""
        return None if self._rank == -1 else self._rank

    ndim = rank

    @property
    def _is_unset(self) -> bool:
        """True if there is no constraint."""
        if self._rank != -1 or self._dtype is not None or self._domain is not None:
            return False
        return self._codec is None and self._fill is None and self._layout._is_unset

    @property
    def dtype(self) -> DType | None:
        """The data type."""
        return self._dtype

    @property
    def domain(self) -> IndexDomain | None:
        """The indices of elements.

        Examples
        --------
        >>> from blizzarr.spec.schema import Schema
        >>> schema = Schema(domain=IndexDomain(labels=["x", "y"]))
        >>> schema.update(shape=[100, 200])
        >>> schema.domain
        { "x": [0, 100), "y": [0, 200) }
        """
        return self._domain

    @property
    def chunk_layout(self) -> ChunkLayout:
        """A copy of the constraints on the layout."""
        return self._layout._copy()

    @property
    def codec(self) -> CodecSpec | None:
        """The codec that turns elements into bytes."""
        return self._codec

    @property
    def fill_value(self) -> np.ndarray[Any, Any] | None:
        """The value of elements that were never written, as an array that is broadcast to the domain."""
        return self._fill

    @property
    def dimension_units(self) -> DimensionUnits | None:
        """The unit of each dimension, `None` where it is not known.

        Examples
        --------
        >>> from blizzarr.spec.schema import Schema
        >>> schema = Schema(dimension_units=["3nm", None, ""])
        >>> schema.update(dimension_units=[None, "4nm", None])
        >>> schema.dimension_units
        (Unit(3, "nm"), Unit(4, "nm"), Unit(1, ""))
        """
        if self._rank == -1:
            return None
        return self._units or (None,) * self._rank

    # Constraints, one by one.

    def _set_rank(self, rank: int, named: str = "rank") -> None:
        if rank == -1 and named == "rank":
            return
        if not 0 <= rank <= MAX_RANK:
            raise SpecError(f"Rank {rank} is outside valid range [0, {MAX_RANK}]")
        if self._rank not in (-1, rank):
            raise SpecError(
                f"Rank specified by {named} ({rank}) does not match existing rank specified by schema ({self._rank})"
            )
        if self._fill is not None and self._fill.ndim > rank:
            raise SpecError(
                f"Rank specified by {named} ({rank}) is incompatible with existing fill_value of shape "
                f"{braces(self._fill.shape)}"
            )
        self._rank = rank

    def _set_dtype(self, dtype: DType) -> None:
        if self._dtype is not None and self._dtype != dtype:
            raise SpecError(f"Specified dtype ({dtype.name}) does not match existing value ({self._dtype.name})")
        self._dtype = dtype

    def _set_domain(self, domain: IndexDomain) -> None:
        self._set_rank(domain.rank, "domain")
        merged = domain if self._domain is None else self._domain._merge(domain)
        if self._fill is not None:
            with prefixed("domain is incompatible with fill_value"):
                check_broadcast(self._fill.shape, merged.shape)
        self._domain = merged

    def _set_shape(self, shape: tuple[int, ...]) -> None:
        rank = len(shape)
        self._set_rank(rank, "shape")
        if all(0 <= size < INFINITE for size in shape):
            never = (False,) * rank
            domain = IndexDomain._of(Form((0,) * rank, shape, never, never, ("",) * rank))
        else:
            domain = IndexDomain(shape=shape)
        self._set_domain(domain)

    def _set_layout(self, layout: ChunkLayout) -> None:
        if layout._is_unset:
            return
        merged = self._layout._copy()
        merged._merge(layout)
        if merged.rank != -1:
            self._set_rank(merged.rank, "chunk_layout")
        self._layout = merged

    def _set_codec(self, codec: CodecSpec) -> None:
        self._codec = codec if self._codec is None else self._codec._merged(codec)

    def _set_fill(self, value: Any) -> None:
        self._set_fill_array(*fill_from_user(value, self._dtype))

    def _set_fill_array(self, array: np.ndarray[Any, Any], dtype: DType) -> None:
        if self._domain is not None:
            with prefixed("fill_value is incompatible with domain"):
                check_broadcast(array.shape, self._domain.shape)
        if -1 != self._rank < array.ndim:
            raise SpecError(f"Invalid fill_value for rank {self._rank}: {shown(array, dtype)}")
        if self._fill is not None and not (same_fill(self._fill, array) and self._fill_dtype == dtype):
            raise SpecError(
                f"Specified fill_value ({shown(array, dtype)}) does not match existing value in schema "
                f"({shown(self._fill, self._fill_dtype)})"
            )
        self._fill, self._fill_dtype = array, dtype

    def _set_units(self, units: DimensionUnits) -> None:
        if units:
            self._set_rank(len(units), "dimension_units")
            self._units = merge_units(self._units, units)

    def _merge(self, other: SchemaConstraints) -> None:
        """Add all constraints of another schema."""
        self._set_rank(other._rank)
        if other._dtype is not None:
            self._set_dtype(other._dtype)
        if other._domain is not None:
            self._set_domain(other._domain)
        self._set_layout(other._layout)
        if other._fill is not None and other._fill_dtype is not None:
            self._set_fill_array(other._fill, other._fill_dtype)
        if other._codec is not None:
            self._set_codec(other._codec)
        self._set_units(other._units)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SchemaConstraints):
            raise TypeError(f"a Schema cannot be compared with {other!r}")
        same = (self._rank, self._domain, self._codec, self._units) == (
            other._rank,
            other._domain,
            other._codec,
            other._units,
        )
        if not same or self._layout != other._layout or (self._dtype is None) != (other._dtype is None):
            return False
        if self._dtype is not None and self._dtype != other._dtype:
            return False
        if self._fill is None or other._fill is None:
            return self._fill is other._fill
        return self._fill_dtype == other._fill_dtype and same_fill(self._fill, other._fill)

    __hash__ = None  # type: ignore[assignment]
