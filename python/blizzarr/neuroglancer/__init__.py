"""Volumes of Neuroglancer: a format and a driver of TensorStore's interface, on the interface that all packages have.

https://github.com/google/neuroglancer/blob/master/src/datasource/precomputed/volume.md

No other package of this library imports this one, apart from the rows in `blizzarr.formats.table` and
`blizzarr.spec.driver_table` that name it. They are what an entry point is for an installed package.
"""
