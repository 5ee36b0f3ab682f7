"""Write with Dask from several processes, in blocks that do not match the chunks: every block arrives.

python examples/dask_writers.py
"""

import dask.array
import numpy as np

import blizzarr

if __name__ == "__main__":
    expected = np.arange(300 * 300).reshape(300, 300)
    blocks = dask.array.from_array(expected, chunks=(70, 110))  # what each task writes
    z = blizzarr.create_array("grid.zarr", shape=(300, 300), chunks=(100, 100), dtype="int64", overwrite=True)

    # No lock of Dask's is needed: on a local directory, writers of one chunk wait for each other.
    dask.array.store(blocks, z, lock=False, scheduler="processes", num_workers=2)
    assert (z[:] == expected).all()
    print(f"{blocks.npartitions} blocks in {z.nchunks} chunks, every element as expected")
