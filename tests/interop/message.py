"""The messages between a test and a peer: one JSON object a line, arrays as their bytes in base64.

An adapter is a module with four functions, each from one message to another:

======================  ========================================================================================
``write(message)``      create the array ``document`` at ``path`` under ``root``, write ``values`` into ``box``
``read(message)``       read the array at ``path``; the answer is :func:`array_answer`
``write_group``         create the ``nodes`` (path to document, a group's or an array's; with ``values`` of arrays)
``read_group``          the answer maps each path found to its attributes, and to its values if it is an array
======================  ========================================================================================

Elements cross as little-endian bytes in C order, whatever the array's own byte order. Nothing here needs pytest or
blizzarr: a peer runs in an environment of its own.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interop.case import numpy_dtype

Message = dict[str, Any]


def pack(array: NDArray[Any]) -> str:
    """Return the elements as base64 text."""
    array = np.asarray(array)
    if array.dtype.kind != "V":
        array = array.astype(array.dtype.newbyteorder("<"))
    return base64.b64encode(array.tobytes()).decode()


def unpack(text: str, data_type: str, shape: tuple[int, ...] | list[int]) -> NDArray[Any]:
    """Return the elements of `pack` as an array that may be written to."""
    return np.frombuffer(base64.b64decode(text), numpy_dtype(data_type)).reshape(shape).copy()


def box_of(message: Message) -> tuple[slice, ...]:
    """Return the box of a write message as a selection."""
    return tuple(slice(start, stop) for start, stop in message["box"])


def values_of(message: Message) -> NDArray[Any]:
    """Return the values of a write message, in the shape of its box."""
    return unpack(message["values"], message["document"]["data_type"], [stop - start for start, stop in message["box"]])


def array_answer(
    values: NDArray[Any],
    *,
    data_type: str,
    fill: Any,
    attributes: Mapping[str, Any],
    names: Any,
) -> Message:
    """Say what was found in an array; `fill` is its fill value, `names` its dimension names or None."""
    if not isinstance(fill, np.generic | np.ndarray):
        fill = np.asarray(fill, numpy_dtype(data_type))
    return {
        "shape": list(values.shape),
        "data_type": data_type,
        "values": pack(values),
        "fill": pack(fill),
        "attributes": dict(attributes),
        "dimension_names": None if names is None else list(names),
    }
