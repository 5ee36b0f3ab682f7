"""Specs of Neuroglancer volumes: the members that select a scale and constrain it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from blizzarr.errors import SpecError
from blizzarr.spec.drivers.stored import StoredDriver
from blizzarr.spec.members import Members, as_integer
from blizzarr.spec.metadata import MetadataConstraints
from blizzarr.spec.spec_node import SpecNode

if TYPE_CHECKING:
    from blizzarr.spec.precomputed.driver import VolumeConstraints

__all__ = ["PrecomputedSpec"]

_LARGEST: Final = (1 << 64) - 1


class PrecomputedSpec(StoredDriver):
    """Scales of volumes."""

    def take_constraints(self, members: Members, node: SpecNode) -> VolumeConstraints:
        """Take the number of a scale, and the constraints on it and on all scales."""
        from blizzarr.spec.precomputed.constraints import ScaleConstraints, check_dtype, multiscale, scale
        from blizzarr.spec.precomputed.driver import VolumeConstraints

        dtype = node.schema.dtype
        number = members.take("scale_index", as_integer(0, _LARGEST, "64-bit unsigned integer"), None)
        of_all = members.take("multiscale_metadata", lambda said: multiscale(said, dtype), None)
        if of_all is None:
            of_all = multiscale({}, dtype)
        if of_all.dtype is not None:
            check_dtype(of_all.dtype)
        of_one = members.take("scale_metadata", lambda said: scale(said, of_all), ScaleConstraints())
        return VolumeConstraints(number, of_all, of_one)

    def said_constraints(self, constraints: MetadataConstraints, include_defaults: bool) -> dict[str, Any]:
        """Return the members that are given."""
        return constraints.to_json(include_defaults)

    def minimal(self, constraints: MetadataConstraints) -> MetadataConstraints:
        """Return the constraints that select the scale."""
        from blizzarr.spec.precomputed.driver import VolumeConstraints

        assert isinstance(constraints, VolumeConstraints)
        return constraints.minimal()

    def url(self, node: SpecNode) -> str:
        """Return the URL of the key-value store, followed by the scheme; a URL can name the first scale only."""
        from blizzarr.spec.precomputed.driver import VolumeConstraints

        constraints = self._metadata(node)
        assert isinstance(constraints, VolumeConstraints)
        if constraints.number:
            raise SpecError(f"{self.scheme} URL syntax not supported with non-zero scale_index")
        return super().url(node)
