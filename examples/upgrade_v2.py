"""Upgrade Zarr v2 to v3 in place: the documents are replaced, and no chunk is read or written.

python examples/upgrade_v2.py
"""

import numpy as np

import blizzarr

old = blizzarr.create_group("old.zarr", attributes={"site": "north ridge"}, zarr_format=2, overwrite=True)
old.create_array("depth", data=np.arange(12.0).reshape(3, 4), chunks=(2, 2), dimension_names=["y", "x"])

print(blizzarr.upgrade("old.zarr", dry_run=True))  # what would be done, and what v3 could not express
print(blizzarr.upgrade("old.zarr"))

new = blizzarr.open("old.zarr", mode="r")
print(new["depth"].info)
assert (new["depth"][:] == np.arange(12.0).reshape(3, 4)).all()
