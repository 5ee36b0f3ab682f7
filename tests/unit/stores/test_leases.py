"""Files on which another process has a lease, as file servers take them for their clients."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import blizzarr
from blizzarr.stores import LocalStore

fcntl = pytest.importorskip("fcntl")
if not hasattr(fcntl, "F_SETLEASE"):
    pytest.skip("this system has no leases", allow_module_level=True)

HOLDER = """
import fcntl, os, signal, sys, time
path, kind = sys.argv[1], int(sys.argv[2])
file = os.open(path, os.O_RDONLY if kind == fcntl.F_RDLCK else os.O_RDWR)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGIO])
try:
    fcntl.fcntl(file, fcntl.F_SETLEASE, kind)
except OSError as error:
    sys.exit(str(error))
print("held", flush=True)
signal.sigwait([signal.SIGIO])
time.sleep(0.1)
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
"""


@pytest.mark.parametrize("links", ["follow", "within-root"])
@pytest.mark.parametrize("kind", ["read", "write"])
def test_who_holds_a_lease_is_waited_for(tmp_path: Path, links: str, kind: str) -> None:
    """A write locks the document, which a client may be reading; a read opens a chunk that a client may be writing."""
    try:
        store = LocalStore(tmp_path, links=links)  # type: ignore[arg-type]
    except blizzarr.errors.UnsupportedOperationError as error:
        pytest.skip(str(error))
    z = blizzarr.create_array(store, shape=4, chunks=2, dtype="i4")
    z[...] = 1
    path = tmp_path / ("zarr.json" if kind == "read" else "c/0")
    lease = fcntl.F_RDLCK if kind == "read" else fcntl.F_WRLCK
    command = [sys.executable, "-c", HOLDER, str(path), str(lease)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        if holder.stdout.readline() != "held\n":
            pytest.skip(f"no leases here: {holder.communicate()[1]}")
        if kind == "read":
            z[0] = 5
            assert z[...].tolist() == [5, 1, 1, 1]
        else:
            assert z[0] == 1
        holder.communicate(timeout=60)
        assert holder.returncode == 0
