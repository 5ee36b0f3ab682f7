"""Codecs that users, or packages that they installed, registered with numcodecs.

>>> UserCodec("squash", {"how": "hard"}).config()
{'id': 'squash', 'how': 'hard'}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from blizzarr.codecs.codec import Chunk, Stage, Step
from blizzarr.codecs.numcodecs.row import NumcodecsCodec


@dataclass(frozen=True, slots=True)
class UserCodec(NumcodecsCodec):
    """A codec of which only the configuration is known; it is always part of a `NumcodecsRun`."""

    name: ClassVar[str] = "numcodecs"
    stage: ClassVar[Stage] = Stage.FILTER

    id: str
    settings: Mapping[str, Any] = field(hash=False)

    def config(self) -> dict[str, Any]:
        return {"id": self.id, **self.settings}

    def step(self, chunk: Chunk) -> Step:
        raise AssertionError("codecs of users run within the step for all of them")
