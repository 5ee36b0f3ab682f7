"""The codecs of numcodecs: ids in v1 and v2, prefixed names in v3, defaults for options; and those that users add."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from blizzarr.codecs.codec import Chunk, Codec, Stage, Step
from blizzarr.problems import Problems

PREFIX = "numcodecs."
"""The prefix of names of numcodecs in v3 documents."""
IMAGES = "imagecodecs_"
"""The beginning of the ids of imagecodecs, which registers them with numcodecs only when it is asked to."""


class NumcodecsCodec(Codec):
    """The base class of codecs that numcodecs defines.

    Documents may leave out any option, or set it to null: it then has the default of numcodecs, which is the default of
    the field here.
    """

    __slots__ = ()

    stage: ClassVar[Stage] = Stage.COMPRESSOR

    def step(self, chunk: Chunk) -> Step:
        return ("python", self)

    @classmethod
    def read_options(cls, configuration: Mapping[str, Any], path: str, problems: Problems) -> dict[str, Any] | None:
        given = {name: value for name, value in configuration.items() if value is not None}
        return super().read_options(given, path, problems)

    def standard(self, chunk: Chunk) -> Codec:
        """Return the codec with the same effect under a registered name, or this one if there is none."""
        return self

    def to_json(self) -> dict[str, Any]:
        # zarr-python requires a configuration for these, even an empty one.
        prefixed = self.name.startswith(PREFIX)
        return {"name": self.name, "configuration": self.configuration()} if prefixed else super().to_json()

    def config(self) -> dict[str, Any]:
        """Return the codec as an object for v1 and v2 documents: an ``id``, and the options beside it."""
        return {"id": self.name.removeprefix(PREFIX), **self.configuration()}


@dataclass(frozen=True, slots=True)
class UserCodec(NumcodecsCodec):
    """A codec that a user, or a package, registered with numcodecs; it is always part of a `NumcodecsRun`.

    >>> UserCodec("squash", {"how": "hard"}).config()
    {'id': 'squash', 'how': 'hard'}
    """

    name: ClassVar[str] = "numcodecs"
    stage: ClassVar[Stage] = Stage.FILTER

    id: str
    settings: Mapping[str, Any] = field(hash=False)

    def config(self) -> dict[str, Any]:
        return {"id": self.id, **self.settings}
