"""The driver ``neuroglancer_precomputed``: scales of Neuroglancer's volumes."""

from __future__ import annotations

from typing import Any, Final

from blizzarr.errors import SpecError
from blizzarr.formats import Format
from blizzarr.json_members import Members, as_integer
from blizzarr.neuroglancer.constraints import ScaleConstraints, check_dtype, multiscale, scale
from blizzarr.neuroglancer.format import Precomputed
from blizzarr.neuroglancer.volume_constraints import VolumeConstraints
from blizzarr.neuroglancer.volume_driver import VolumeDriver
from blizzarr.spec.drivers import StoredDriver
from blizzarr.spec.metadata import MetadataConstraints
from blizzarr.spec.spec_node import SpecNode
from blizzarr.tensorstore.driver import Request
from blizzarr.tensorstore.facts import driver_of
from blizzarr.tensorstore.open_stored import open_stored
from blizzarr.tensorstore.store import TensorStore, store_of

_LARGEST: Final = (1 << 64) - 1


class PrecomputedDriver(StoredDriver):
    """Scales of volumes: members of the spec select a scale, and constrain it."""

    forms = ()

    def formats_of(self, node: SpecNode) -> tuple[Format, ...]:
        """Return the format of the scale that the constraints select."""
        constraints: VolumeConstraints = node.options.get("metadata") or VolumeConstraints()
        return (Precomputed(lambda volume: constraints.choose(volume, node.schema)),)

    def open(self, node: SpecNode, request: Request) -> TensorStore:
        """Return a scale, whose indices begin at the offset of the volume."""
        driver = driver_of(open_stored(node, request, VolumeDriver))
        assert isinstance(driver, VolumeDriver), "as asked for"
        return store_of(driver, driver.outside)

    def take_constraints(self, members: Members, node: SpecNode) -> VolumeConstraints:
        """Take the number of a scale, and the constraints on it and on all scales."""
        dtype = node.schema.dtype
        number = members.take("scale_index", as_integer(0, _LARGEST, "64-bit unsigned integer"), None)
        of_all = members.take("multiscale_metadata", lambda value: multiscale(value, dtype), None)
        if of_all is None:
            of_all = multiscale({}, dtype)
        if of_all.dtype is not None:
            check_dtype(of_all.dtype)
        of_one = members.take("scale_metadata", lambda value: scale(value, of_all), ScaleConstraints())
        return VolumeConstraints(number, of_all, of_one)

    def constraints_json(self, constraints: MetadataConstraints, include_defaults: bool) -> dict[str, Any]:
        return constraints.to_json(include_defaults)

    def minimal(self, constraints: MetadataConstraints) -> MetadataConstraints:
        """Return the constraints that select the scale."""
        assert isinstance(constraints, VolumeConstraints), "those of this driver"
        return VolumeConstraints(constraints.number)

    def url(self, node: SpecNode) -> str:
        """Return the URL of the key-value store, followed by the scheme; a URL can name the first scale only."""
        constraints = node.options["metadata"]
        assert isinstance(constraints, VolumeConstraints), "those of this driver"
        if constraints.number:
            raise SpecError(f"{self.scheme} URL syntax not supported with non-zero scale_index")
        return super().url(node)


DRIVER: Final = PrecomputedDriver(
    "neuroglancer_precomputed", ("precomputed",), VolumeConstraints, "neuroglancer-precomputed"
)
