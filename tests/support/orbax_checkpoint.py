"""Save a tree of sharded arrays with Orbax on `blizzarr.tensorstore`, restore it otherwise sharded, and compare.

Run it with ``python tests/support/orbax_checkpoint.py DIRECTORY``, where orbax-checkpoint and jax are installed. With
``save`` behind the directory, TensorStore saves the tree as OCDBT, which with ``restore`` is restored on
`blizzarr.tensorstore`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    # Before JAX is imported: eight devices on any machine.
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
    os.environ["JAX_PLATFORMS"] = "cpu"

import numpy as np

import blizzarr
import blizzarr.tensorstore


def main(directory: Path, *steps: str) -> None:
    """Save, restore, compare."""
    if "save" not in steps:
        sys.modules["tensorstore"] = blizzarr.tensorstore
    import jax
    import jax.numpy as jnp
    import orbax.checkpoint as ocp
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    devices: Any = np.array(jax.devices())
    assert devices.size == 8
    rows = NamedSharding(Mesh(devices.reshape(8), ("x",)), PartitionSpec("x"))
    tiles = NamedSharding(Mesh(devices.reshape(4, 2), ("x", "y")), PartitionSpec("x", "y"))
    tree = {
        "weights": jax.device_put(jnp.arange(64 * 32, dtype=jnp.float32).reshape(64, 32), tiles),
        "moments": {"first": jax.device_put(jnp.linspace(0, 1, 128, dtype=jnp.bfloat16).reshape(16, 8), rows)},
        "step": jnp.int32(1234),
    }
    for zarr3 in (False, True):
        place = directory / ("zarr3" if zarr3 else "zarr")
        handler = ocp.PyTreeCheckpointHandler(use_ocdbt=bool(steps), use_zarr3=zarr3)
        with ocp.Checkpointer(handler) as checkpointer:
            if "restore" not in steps:
                checkpointer.save(place, tree)
            plain = checkpointer.restore(place)
            # Other devices have other parts than when it was saved.
            other = {"weights": rows, "moments": {"first": tiles}, "step": rows.update(spec=PartitionSpec())}
            target = jax.tree.map(
                lambda leaf, way: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=way), tree, other
            )
            restored = checkpointer.restore(
                place, item=target, restore_args=ocp.checkpoint_utils.construct_restore_args(target)
            )
        for found in (plain, restored):
            jax.tree.map(compare, found, tree)
        assert restored["weights"].sharding.is_equivalent_to(rows, 2)
        # It is Zarr: blizzarr's own interface reads the parameters.
        stored = blizzarr.open(f"{place}|ocdbt:weights" if steps else place / "weights", mode="r")
        np.testing.assert_array_equal(stored[:], np.arange(64 * 32, dtype="float32").reshape(64, 32))
        assert stored.chunks == (16, 16), stored.chunks
    if steps:
        print("restored what was saved")
        return
    counted: Any = blizzarr.tensorstore.experimental_collect_matching_metrics("/tensorstore/kvstore/file/bytes_written")
    assert counted[0]["values"][0]["value"] > 2 * tree["weights"].nbytes / 10
    print("restored what was saved")


def compare(found: Any, expected: Any) -> None:
    """Compare elements and types."""
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
