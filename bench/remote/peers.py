"""Who reads from the server, and writes there: each opens an array by its place, and gives what reads or writes a
selection of it; or opens a dataset with xarray.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import icechunk
import obstore
import tensorstore
import xarray
import zarr
import zarrista
from zarr.storage import ObjectStore

import blizzarr
from bench.peers.base import CannotError, Selection
from blizzarr.xarray import BlizzarrBackendEntrypoint

BUCKET = "bucket"
REGION = "us-east-1"


@dataclass(frozen=True, slots=True)
class Place:
    """An array on the server: by HTTP, or in a bucket of S3."""

    protocol: str
    server: str
    name: str

    @property
    def url(self) -> str:
        return f"{self.server}/{BUCKET}/{self.name}"

    def objects(self) -> Any:
        """Return a store of obstore."""
        options = {"allow_http": True}
        if self.protocol == "http":
            return obstore.store.HTTPStore.from_url(self.url, client_options=options)
        return obstore.store.S3Store(
            BUCKET,
            prefix=self.name,
            endpoint=self.server,
            region=REGION,
            skip_signature=True,
            client_options=options,
        )


Read = Callable[[Selection], Any]


Write = Callable[[Any, Any], None]
"""Stores values in a box."""


def source_of(place: Place) -> Any:
    """Return what blizzarr opens."""
    if place.protocol == "http":
        return place.url
    return blizzarr.stores.ObjectStore.from_url(
        f"s3://{BUCKET}/{place.name}", endpoint=place.server, region=REGION, skip_signature=True, allow_http=True
    )


def with_blizzarr(place: Place, mode: Any) -> blizzarr.Array:
    return blizzarr.open_array(source_of(place), mode=mode)


def blizzarrs(place: Place) -> Read:
    array = with_blizzarr(place, "r")
    return lambda wanted: (array.vindex if wanted.kind == "points" else array)[wanted.key]


def with_tensorstore(place: Place) -> Any:
    kvstore: Any = f"{place.url}/"
    if place.protocol == "s3":
        kvstore = {
            "driver": "s3",
            "bucket": BUCKET,
            "path": f"{place.name}/",
            "endpoint": place.server,
            "aws_region": REGION,
            "aws_credentials": {"type": "anonymous"},
        }
    return tensorstore.open({"driver": "zarr3", "kvstore": kvstore}).result()


def tensorstores(place: Place) -> Read:
    array = with_tensorstore(place)
    return lambda wanted: (array.vindex if wanted.kind == "points" else array)[wanted.key].read().result()


def zarrs(array: Any) -> Read:
    return lambda wanted: (array.vindex if wanted.kind == "points" else array)[wanted.key]


def zarr_pythons(place: Place) -> Read:
    return zarrs(zarr.open_array(ObjectStore(place.objects(), read_only=True), mode="r"))


def icechunks(place: Place) -> Read:
    name = f"{place.name}.icechunk"
    if place.protocol == "http":
        storage = icechunk.http_storage(f"{place.server}/{BUCKET}/{name}", {"allow_http": "true"})
    else:
        storage = icechunk.s3_storage(
            bucket=BUCKET,
            prefix=name,
            endpoint_url=place.server,
            region=REGION,
            allow_http=True,
            anonymous=True,
            force_path_style=True,
        )
    session = icechunk.Repository.open(storage).readonly_session("main")
    return zarrs(zarr.open_array(session.store, mode="r"))


# Its asynchronous arrays need a loop, which is that of the thread that measures.
LOOP = asyncio.new_event_loop()


def with_zarrista(place: Place) -> Any:
    async def opened() -> Any:
        return await zarrista.AsyncArray.open(place.objects())

    return LOOP.run_until_complete(opened())


def zarristas(place: Place) -> Read:
    array = with_zarrista(place)

    def read(wanted: Selection) -> Any:
        if wanted.kind != "basic":
            raise CannotError("selects boxes only")

        async def retrieve() -> Any:
            return (await array.retrieve_array_subset(wanted.key)).to_numpy()

        return LOOP.run_until_complete(retrieve())

    return read


PEERS: dict[str, Callable[[Place], Read]] = {
    "blizzarr": blizzarrs,
    "TensorStore": tensorstores,
    "zarrista": zarristas,
    "icechunk": icechunks,
    "zarr-python with obstore": zarr_pythons,
}


def tensorstore_writers(place: Place) -> Write:
    array = with_tensorstore(place)
    return lambda key, values: array[key].write(values).result()


def zarrista_writers(place: Place) -> Write:
    array = with_zarrista(place)

    def write(key: Any, values: Any) -> None:
        async def store() -> None:
            await array.store_array_subset(key, values)

        LOOP.run_until_complete(store())

    return write


WRITERS: dict[str, Callable[[Place], Write]] = {
    "blizzarr": lambda place: with_blizzarr(place, "r+").__setitem__,
    "TensorStore": tensorstore_writers,
    "zarrista": zarrista_writers,
    "zarr-python with obstore": lambda place: zarr.open_array(ObjectStore(place.objects()), mode="r+").__setitem__,
}


DATASETS: dict[str, Callable[[Place], xarray.Dataset]] = {
    "blizzarr": lambda place: xarray.open_dataset(source_of(place), engine=BlizzarrBackendEntrypoint),
    "zarr-python with obstore": lambda place: xarray.open_dataset(
        ObjectStore(place.objects(), read_only=True), engine="zarr"
    ),
}
