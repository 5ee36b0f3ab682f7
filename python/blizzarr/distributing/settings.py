"""The settings under which a piece is worked on in another process: those of the process that gives it out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, fields
from threading import Condition
from typing import Any, Self
from uuid import uuid4

from blizzarr import _native
from blizzarr.config import config
from blizzarr.durability import Durability, durable

_TOKEN = uuid4().hex
"""Together with its number, it tells a process from all others; processes of other machines may have its number."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a process, and the durability that one of its threads has chosen."""

    process: tuple[str, int]
    values: tuple[tuple[str, Any], ...]
    durability: Durability | None

    @classmethod
    def here(cls) -> Self:
        """Return those of this process and this thread."""
        values = tuple((field.name, getattr(config, field.name)) for field in fields(config))
        chosen: Any = _native.durability_choice()[0]
        return cls((_TOKEN, os.getpid()), values, chosen)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """A context in which they count here.

        Without a number of threads on either side, another process uses one: there is usually one for each core.
        """
        here = (_TOKEN, os.getpid()) == self.process
        settings: AbstractContextManager[object] = nullcontext() if here else _SHARED.of(self)
        # At its end what the piece has written is safe: the process that gave it out cannot see to that.
        choice = nullcontext() if self.durability is None else durable(self.durability)
        with settings, choice:
            yield


class _Shared:
    """The settings of this process, lent to the pieces of another one; pieces of a third one wait."""

    def __init__(self) -> None:
        self._turn = Condition()
        self._active: Settings | None = None
        self._users = 0
        self._before: dict[str, Any] = {}

    @contextmanager
    def of(self, wanted: Settings) -> Iterator[None]:
        with self._turn:
            self._turn.wait_for(lambda: self._active in (None, wanted))
            if self._active is None:
                values = dict(wanted.values)
                values["threads"] = values["threads"] or config.threads or 1
                self._before = {name: getattr(config, name) for name in values}
                config.set(values)
                self._active = wanted
            self._users += 1
        try:
            yield
        finally:
            with self._turn:
                self._users -= 1
                if not self._users:
                    config.set(self._before)
                    self._active = None
                    self._turn.notify_all()


_SHARED = _Shared()
