"""``zarr_dask.py DIRECTORY``: Dask writes and reads a sharded array of zarr-python with our pipeline.

Its chunks are not aligned with those of the array. It prints whether everything is the same as in NumPy.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    # Before zarr-python is imported; worker processes have it from here, too.
    os.environ["ZARR_CODEC_PIPELINE__PATH"] = "blizzarr.ZarrPipeline"

import dask
import dask.array as da
import numpy as np
import zarr

import blizzarr


def main(directory: str) -> None:
    assert zarr.registry.get_pipeline_class() is blizzarr.ZarrPipeline
    data = np.arange(60 * 50, dtype="int32").reshape(60, 50)
    for scheduler in ("threads", "processes"):
        path = f"{directory}/{scheduler}"
        array = zarr.create_array(path, shape=data.shape, dtype=data.dtype, chunks=(5, 10), shards=(20, 20))
        with dask.config.set(scheduler=scheduler, num_workers=2):
            # The locks of the pipeline make these chunks safe.
            da.from_array(data, chunks=(15, 25)).store(array, lock=False)
            read = da.from_array(zarr.open_array(path, mode="r"), chunks=(31, 29))
            found = (read[3:, ::2] + 1).compute()
        is_same = np.array_equal(found, data[3:, ::2] + 1) and np.array_equal(array[:], data)
        print(f"{scheduler}: {'the same' if is_same else 'something else'}")


if __name__ == "__main__":
    main(*sys.argv[1:])
