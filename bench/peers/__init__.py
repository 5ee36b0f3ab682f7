"""The implementations, by name, in the order in which they run."""

from __future__ import annotations

import importlib

from bench.peers.base import Peer

MODULES = {
    "tensorstore": "tensorstore",
    "zarrista": "zarrista",
    "zarrs-python": "zarr_python",
    "zarr-python fused": "zarr_python",
    "blizzarr in zarr-python": "zarr_python",
    "blizzarr": "blizzarr",
    "limit": "limit",
}
# Not compared by default: what durability costs, TensorStore's calls, and zarr-python as it comes.
OPTIONAL = {
    "blizzarr tensorstore": "tensorstore",
    "tensorstore fsync": "tensorstore",
    "zarr-python": "zarr_python",
    "blizzarr none": "blizzarr",
    "blizzarr ordered": "blizzarr",
    "blizzarr full": "blizzarr",
}


def load(name: str) -> Peer | str:
    """Return a peer, or why there is none."""
    module = {**MODULES, **OPTIONAL}[name]
    try:
        peer: Peer = importlib.import_module(f"bench.peers.{module}").PEERS[name]()
    except (ImportError, OSError) as error:
        return f"{type(error).__name__}: {error}"
    return peer
