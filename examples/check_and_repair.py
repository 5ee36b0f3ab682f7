"""Find damage in a shard, save its intact chunks, and write the lost one again.

python examples/check_and_repair.py
"""

from pathlib import Path

import numpy as np

import blizzarr

data = np.arange(64.0).reshape(8, 8)
z = blizzarr.create_array("heat.zarr", data=data, chunks=(2, 2), shards=(4, 4), overwrite=True)
with Path("heat.zarr/c/0/0").open("r+b") as shard:
    shard.write(b"?")  # the first byte of the first chunk in this shard

print(blizzarr.check(z))  # one error
report = blizzarr.check(z, repair=True)  # the damaged shard is kept in heat.zarr.quarantine
for repair in report.repairs:
    print(repair)

z[:2, :2] = data[:2, :2]  # the one chunk that could not be saved
assert blizzarr.check(z).ok
assert (z[:] == data).all()
