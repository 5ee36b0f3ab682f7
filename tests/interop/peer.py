"""How a test talks to a peer: in this process, or in one long-lived process of the peer's own environment."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import tempfile
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import IO

from interop.message import Message


class PeerError(Exception):
    """The peer answered with an error, or died."""


class PeerMissing(Exception):  # noqa: N818  not an error of the peer: it is not installed
    """The peer cannot be tried here; the text says what to do."""


@dataclass
class InProcess:
    """A peer that is installed beside the tests."""

    module: str
    silent: bool = True
    """Whether its warnings are left out: a peer's are its own affair, ours fail the tests."""
    loaded: ModuleType | None = None

    def call(self, verb: str, message: Message) -> Message:
        if self.loaded is None:
            try:
                self.loaded = importlib.import_module(self.module)
            except ModuleNotFoundError as error:
                raise PeerMissing(f"{error.name} is not installed: pip install -r tests/interop/peers.txt") from error
        function = getattr(self.loaded, verb, None)
        if function is None:
            raise PeerError(f"{self.module} has no {verb}")
        try:
            with warnings.catch_warnings():
                if self.silent:
                    warnings.simplefilter("ignore")
                answer: Message = function(message)
        except BaseException as error:
            # Panics of Rust peers are BaseExceptions. Leave the user's Ctrl-C alone.
            if isinstance(error, KeyboardInterrupt):
                raise
            raise PeerError(f"{type(error).__name__}: {error}") from error
        return answer

    def close(self) -> None:
        """End what was started: nothing."""


@dataclass
class Subprocess:
    """A peer that answers one JSON line with another on its standard streams; started at its first message.

    What it complains about meanwhile is shown only when its process ends.
    """

    command: Sequence[str]
    missing: str
    needs: Path | None = None
    environment: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[str] | None = None
    complaints: IO[bytes] | None = None

    def call(self, verb: str, message: Message) -> Message:
        stdin, stdout = self._streams()
        try:
            print(json.dumps({"verb": verb, **message}), file=stdin, flush=True)
            line = stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            code, last = self.process.wait() if self.process else None, self._last_words()
            self.close()
            raise PeerError(f"its process ended with exit status {code}: {last}")
        answer: Message = json.loads(line)
        if "error" in answer:
            raise PeerError(answer["error"])
        return answer

    def _streams(self) -> tuple[IO[str], IO[str]]:
        if self.process is None:
            if not Path(self.command[0]).exists() or not (self.needs is None or self.needs.exists()):
                raise PeerMissing(self.missing)
            self.complaints = tempfile.TemporaryFile()  # noqa: SIM115  it is closed with the process
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.complaints,
                text=True,
                env={**os.environ, **self.environment},
            )
        stdin, stdout = self.process.stdin, self.process.stdout
        if stdin is None or stdout is None:
            raise PeerError("its process has no standard streams")
        return stdin, stdout

    def _last_words(self) -> str:
        if self.complaints is None:
            return ""
        self.complaints.seek(0)
        return self.complaints.read().decode(errors="replace")[-2000:]

    def close(self) -> None:
        """End the process; the next message starts another."""
        if self.process is not None and self.process.stdin is not None:
            with suppress(BrokenPipeError):
                self.process.stdin.close()
            self.process.wait()
            if self.process.stdout is not None:
                self.process.stdout.close()
        if self.complaints is not None:
            self.complaints.close()
        self.process = self.complaints = None


Link = InProcess | Subprocess
