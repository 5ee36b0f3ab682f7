"""A child that reads and writes while its memory is measured: `python -m soak.measured`, orders in, peaks out.

Each order is a JSON object a line. Whatever it asks for happens in a fork of its own, so that nothing is kept from what
came before; the answer is the number of bytes by which the process grew at most, or what went wrong.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import traceback
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import blizzarr

__all__ = ["selected", "values"]

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def values(places: tuple[npt.NDArray[np.int64], ...], dtype: str, noisy: bool) -> npt.NDArray[Any]:
    """What is stored at these places, one array of indices for each axis; `noisy` ones compress badly.

    Examples
    --------
    >>> values((np.arange(3), np.arange(2)), "int16", False).tolist()
    [[0, 3], [1, 4], [2, 5]]
    """
    shape = tuple(map(len, places))
    found = np.zeros(shape, np.uint32)
    for axis, indices in enumerate(places):
        factor = 2654435761 + 2 * axis if noisy else 1 + 2 * axis
        along = (indices.astype(np.uint64) * np.uint64(factor)).astype(np.uint32)
        found += along.reshape([-1 if number == axis else 1 for number in range(len(shape))])
    if noisy:
        found ^= found >> np.uint32(15)
        found *= np.uint32(2246822519)
        found >>= np.uint32(7)
    return found.astype(dtype)


def selected(order: Mapping[str, Any]) -> tuple[npt.NDArray[np.int64], ...]:
    """The indices along each axis that an order is about."""
    return tuple(
        np.array(wanted["listed"]) if "listed" in wanted else np.arange(*wanted["sliced"])
        for wanted in order["selection"]
    )


def _terms(order: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(
        np.array(wanted["listed"]) if "listed" in wanted else slice(*wanted["sliced"]) for wanted in order["selection"]
    )


def _do(order: Mapping[str, Any]) -> int:
    """Do it, and say by how many bytes the process grew."""
    blizzarr.config.set(threads=order["threads"])
    if order["do"] == "build":
        array = blizzarr.create_array(order["path"], **order["array"])
        array[...] = values(tuple(map(np.arange, order["array"]["shape"])), array.dtype.name, order["noisy"])
        return 0
    array = blizzarr.open_array(order["path"], mode="r+")
    places, terms = selected(order), _terms(order)
    new = ~values(places, array.dtype.name, order["noisy"]) if order["do"] == "write" else np.empty(0)
    # What was freed is given back, or it would be used again unseen.
    ctypes.CDLL(None).malloc_trim(0)
    RESET.write_text("5")
    base = _line("VmRSS")
    if order["do"] == "write":
        array.oindex[terms] = new
        return _line("VmHWM") - base
    found = array.oindex[terms]
    grown = _line("VmHWM") - base
    assert np.array_equal(found, values(places, array.dtype.name, order["noisy"])), "other values were read"
    return grown


def _line(name: str) -> int:
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) * 1024


def _serve() -> None:
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            try:
                answer: Any = _do(order)
            except BaseException as error:
                answer = "".join(traceback.format_exception(error))
            os.write(1, (json.dumps(answer) + "\n").encode())
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            os.write(1, (json.dumps(f"it died: {status}") + "\n").encode())


if __name__ == "__main__":
    _serve()
