"""A file system of its own, in a file, whose power can be cut: what it has not written by then is gone."""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

__all__ = ["OPTIONS", "Disk", "reason_without"]

OPTIONS: Final = ("", "commit=1,noauto_da_alloc", "data=writeback")
"""How ext4 is mounted: as it comes; without its own care for files that replace others; without data before names."""
SHUTDOWN: Final = 0x8004587D
"""FS_IOC_SHUTDOWN."""
WITHOUT_LOG: Final = 2
"""FS_SHUTDOWN_FLAGS_NOLOGFLUSH: not even the journal is written."""


class Disk:
    """A file with an ext4, mounted while it is a context."""

    def __init__(self, folder: Path, options: str, size: int = 96 << 20) -> None:
        self._image, self.place, self._options = folder / "image", folder / "place", options
        self.place.mkdir(parents=True)
        with open(self._image, "wb") as file:
            file.truncate(size)
        _run("mkfs.ext4", "-q", "-F", str(self._image))

    def __enter__(self) -> Disk:
        _run("mount", "-o", ",".join(filter(None, ("loop", self._options))), str(self._image), str(self.place))
        return self

    def __exit__(self, *_: object) -> None:
        for _attempt in range(50):
            if subprocess.run(["umount", str(self.place)], capture_output=True).returncode == 0:
                return
            time.sleep(0.1)
        _run("umount", "--lazy", str(self.place))

    def cut(self) -> None:
        """From now on nothing reaches the device, and every call fails."""
        root = os.open(self.place, os.O_RDONLY)
        try:
            fcntl.ioctl(root, SHUTDOWN, struct.pack("I", WITHOUT_LOG))
        finally:
            os.close(root)


def reason_without() -> str | None:
    """Why there can be no such disk here."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "cutting a file system's power takes Linux and root"
    missing = [name for name in ("mkfs.ext4", "mount", "umount") if shutil.which(name) is None]
    if missing:
        return f"there is no {', '.join(missing)}"
    with tempfile.TemporaryDirectory() as folder:
        try:
            with Disk(Path(folder) / "disk", "", 16 << 20) as disk:
                disk.cut()
        except (OSError, subprocess.CalledProcessError) as error:
            return f"no file system can be mounted and shut down here: {error}"
    return None


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
