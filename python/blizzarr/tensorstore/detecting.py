"""Detecting the format of a stored array for a spec that names no driver."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from blizzarr.errors import ConstraintError, PlaceError, SpecError
from blizzarr.formats import find_many, get_many
from blizzarr.json_values import quote
from blizzarr.spec.drivers import DRIVERS, StoredDriver
from blizzarr.spec.drivers.stored import SOUGHT
from blizzarr.spec.kvstore_drivers import KV_DRIVERS
from blizzarr.spec.members import Members
from blizzarr.spec.spec_node import KvNode, SpecNode
from blizzarr.tensorstore.stored_place import locate
from blizzarr.transactions import Transaction


def find_stored(node: SpecNode, transaction: Transaction | None = None) -> SpecNode:
    """Return the bound spec of the array at a bound ``auto`` spec: its driver, and its place within files."""
    kvstore = node.kvstore
    if kvstore is None:
        raise SpecError('"kvstore" must be specified')
    if kvstore.driver == "file" and os.path.isfile(kvstore.path):
        from zipfile import is_zipfile

        if is_zipfile(kvstore.path):
            kvstore = _within_zip(kvstore, node)
    there = replace(node, kvstore=kvstore)
    matches = _matches(SOUGHT, there, transaction)
    if not matches:
        # Drivers of other packages are imported for arrays of none of the usual formats only.
        others = {driver.name: driver for driver in DRIVERS.values() if isinstance(driver, StoredDriver)}
        matches = _matches([driver for driver in others.values() if driver not in SOUGHT], there, transaction)
    if len(matches) != 1:
        shown = quote(kvstore.path)
        if kvstore.driver == "file":
            shown = f"local file {shown}"
        if not matches:
            raise ConstraintError(f"Failed to detect format for {shown}")
        schemes = sorted(driver.scheme for driver in matches)
        raise ConstraintError(f"Multiple possible formats detected for {shown}: {{{', '.join(schemes)}}}")
    (driver,) = matches
    usual = driver.take(Members({}), SpecNode(driver.name))
    resources = {name: held for name, held in node.resources.items() if name in driver.resources}
    return replace(
        usual, schema=node.schema, transform=node.transform, kvstore=kvstore.directory(), resources=resources
    )


def _matches(drivers: Sequence[StoredDriver], node: SpecNode, transaction: Transaction | None) -> list[StoredDriver]:
    return [driver for driver in drivers if _is_there(node, driver.name, transaction)]


def _is_there(node: SpecNode, driver: str, transaction: Transaction | None) -> bool:
    try:
        place = locate(replace(node, driver=driver), transaction)
    except PlaceError:
        return False
    keys = [form.node_keys(place.path)[0] for form in place.forms]
    if all(value is None for value in get_many(place.store, keys)):
        return False
    # One format may have the name of a document from another.
    return find_many(place.store, [place.path], place.forms) != [None]


def _within_zip(kvstore: KvNode, node: SpecNode) -> KvNode:
    resources = {name: node.resources[name] for name in KV_DRIVERS["zip"].resources}
    options = {name: option.default for name, option in KV_DRIVERS["zip"].options.items()}
    return KvNode("zip", "", options, resources, kvstore)
