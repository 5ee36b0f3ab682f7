"""The messages between a test and a peer: one JSON object a line, arrays as their bytes in base64.

An adapter is a module with five functions, each from one message to another:

======================  ========================================================================================
``version(message)``    the answer says which version the peer is
``write(message)``      create the array ``document`` at ``path`` under ``root``, write ``values`` into ``box``
``read(message)``       read the array at ``path``; the answer is :func:`array_answer`
``write_group``         create the ``nodes`` (path to document, a group's or an array's; with ``values`` of arrays)
``read_group``          the answer maps each path found to its attributes, and to its values if it is an array
======================  ========================================================================================

Elements cross as in :mod:`interop.elements`: little-endian, in C order, whatever the array's own orders. Nothing here
needs pytest or blizzarr: a peer runs in an environment of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interop.documents import Document, dtype_of
from interop.elements import Packed, pack, unpack

Message = dict[str, Any]


def box_of(message: Message) -> tuple[slice, ...]:
    """Return the box of a write message as a selection."""
    return tuple(slice(start, stop) for start, stop in message["box"])


def values_of(message: Message) -> NDArray[Any]:
    """Return the values of a write message, in the shape of its box."""
    shape = [stop - start for start, stop in message["box"]]
    return unpack(message["values"], dtype_of(message["document"]), shape)


def all_values(node: Mapping[str, Any]) -> NDArray[Any]:
    """Return the values of an array in a message about a group."""
    document: Document = node["document"]
    return unpack(node["values"], dtype_of(document), document["shape"])


def array_answer(
    values: NDArray[Any],
    *,
    data_type: Any,
    fill: Any,
    attributes: Mapping[str, Any],
    names: Any = None,
) -> Message:
    """Say what was found in an array; `fill` is its fill value or None, `names` its dimension names or None."""
    return {
        "shape": list(values.shape),
        "data_type": data_type,
        "values": pack(values),
        "fill": None if fill is None else pack_fill(fill, values.dtype),
        "attributes": dict(attributes),
        "dimension_names": None if names is None else list(names),
    }


def pack_fill(fill: Any, dtype: np.dtype[Any]) -> Packed:
    """Return a fill value as the elements of an array are."""
    if isinstance(fill, np.generic | np.ndarray) and fill.dtype == dtype:
        return pack(fill)
    one = np.empty((), dtype)
    one[()] = fill
    return pack(one)
