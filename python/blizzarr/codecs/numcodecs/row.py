"""What the codecs of numcodecs have in common: ids in v1 and v2, prefixed names in v3, defaults for options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blizzarr.codecs.codec import Chunk, Codec
from blizzarr.problems import Problems

__all__ = ["PREFIX", "NumcodecsCodec"]

PREFIX = "numcodecs."
"""Before the name that a codec has in numcodecs, in v3 documents."""


class NumcodecsCodec(Codec):
    """The base of codecs that numcodecs defines.

    Documents may leave any option out, or say null: it then has the default that numcodecs gives it, which is also the
    default of the field here.
    """

    __slots__ = ()

    @classmethod
    def read_options(cls, configuration: Mapping[str, Any], path: str, problems: Problems) -> dict[str, Any] | None:
        given = {name: value for name, value in configuration.items() if value is not None}
        return super().read_options(given, path, problems)

    def standard(self, chunk: Chunk) -> Codec:
        """The codec that does the same under a registered name, for chunks of this type; itself where there is none."""
        return self

    def to_json(self) -> dict[str, Any]:
        # Of these, zarr-python wants a configuration, empty or not.
        prefixed = self.name.startswith(PREFIX)
        return {"name": self.name, "configuration": self.configuration()} if prefixed else super().to_json()

    def config(self) -> dict[str, Any]:
        """The codec as v1 and v2 documents have it: an object with an id, and the options beside it."""
        return {"id": self.name.removeprefix(PREFIX), **self.configuration()}
