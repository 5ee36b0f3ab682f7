"""An array of blizzarr that stores chunks of nothing but the fill value, or not, whatever the settings say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import blizzarr
from blizzarr.transfer import Binding
from blizzarr.zarr.arguments import ArrayConfig


class Configured(blizzarr.Array):
    """An array with settings of its own."""

    __slots__ = ("_settings",)

    _settings: ArrayConfig

    @classmethod
    def of(cls, engine: blizzarr.Array, settings: ArrayConfig) -> Configured:
        """Return an array with these settings."""
        made = cls(engine.store, engine.path, engine.metadata)
        made._settings = settings
        return made

    def _in(self, store: Any) -> Configured:
        return type(self).of(super()._in(store), self._settings)

    def _bind(self) -> Binding:
        bound = super()._bind()
        # Where the fill value is undefined, chunks are stored in any case.
        self._binding = replace(bound, write_empty=bound.write_empty or self._settings.write_empty_chunks)
        return self._binding
