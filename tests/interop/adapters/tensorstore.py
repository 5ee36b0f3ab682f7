"""TensorStore; it has arrays only, so the two functions for groups are not here."""

from __future__ import annotations

from importlib.metadata import version as version_of
from typing import Any

import numpy as np
import tensorstore as ts

from interop.message import Message, array_answer, box_of, values_of

# Durable writes are not what is tested, and cost a disk flush per chunk.
CONTEXT = ts.Context({"file_io_sync": False})


def version() -> str:
    return version_of("tensorstore")


def write(message: Message) -> Message:
    # The keys say which document this is; TensorStore knows from the driver.
    metadata = {key: value for key, value in message["document"].items() if key != "fill_value" or value is not None}
    array = ts.open(_spec(message) | {"metadata": metadata}, create=True, context=CONTEXT).result()
    array[box_of(message)] = values_of(message)
    return {}


def read(message: Message) -> Message:
    array = ts.open(_spec(message), open=True, context=CONTEXT).result()
    metadata = array.spec(retain_context=False).to_json()["metadata"]
    fill = metadata["fill_value"]
    return array_answer(
        np.asarray(array.read().result()),
        data_type=metadata["data_type"],
        fill=array.fill_value if array.fill_value is not None else fill,
        attributes=metadata.get("attributes", {}),
        names=metadata.get("dimension_names"),
    )


def _spec(message: Message) -> dict[str, Any]:
    return {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{message['root']}/{message['path']}/"}}
