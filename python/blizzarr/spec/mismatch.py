"""The error for a constraint that a stored document does not meet, in one wording for all formats."""

from __future__ import annotations

from typing import Any

from blizzarr.errors import SpecError
from blizzarr.json_values import MISSING, dump, quote
from blizzarr.spec.dtype import DType
from blizzarr.spec.schema import Schema


def mismatch(name: str, wanted: Any, found: Any) -> SpecError:
    """Return the error that a member differs from the constraint; `found` may be `MISSING`.

    Examples
    --------
    >>> mismatch("order", "C", "F"), mismatch("axes", [], MISSING).reason
    (SpecError('Expected "order" of "C" but received: "F"'), 'Expected "axes" of [] but received: <discarded>')
    """
    there = "<discarded>" if found is MISSING else dump(found)
    return SpecError(f"Expected {quote(name)} of {dump(wanted)} but received: {there}")


def check_rank(schema: Schema, rank: int | None) -> None:
    """Raise if the metadata have another rank than the schema."""
    if schema.rank not in (None, rank):
        raise SpecError(f"Rank specified by schema ({schema.rank}) does not match rank specified by metadata ({rank})")


def check_dtype(schema: Schema, dtype: DType, member: str = "dtype") -> None:
    """Raise if the data type of metadata differs from that of the schema; `member` is its name in the metadata."""
    if schema.dtype is not None and schema.dtype != dtype:
        raise SpecError(f"{member} from metadata ({dtype.name}) does not match dtype in schema ({schema.dtype.name})")
