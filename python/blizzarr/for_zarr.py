"""``import blizzarr.for_zarr``: zarr-python reads and writes with blizzarr's engine from then on.

It sets ``codec_pipeline.path`` in zarr-python's settings; arrays that are open already keep what they have.
It also sets ``ndbuffer``, so that large results use the memory of former results again.

>>> import zarr
>>> import blizzarr.for_zarr
>>> zarr.config.get("codec_pipeline.path")
'blizzarr.ZarrPipeline'
"""

from blizzarr.zarr_pipeline import NDBuffer, ZarrPipeline  # first: it says what to do without zarr-python

# isort: split
import zarr

__all__ = ["NDBuffer", "ZarrPipeline"]

zarr.config.set({"codec_pipeline.path": "blizzarr.ZarrPipeline", "ndbuffer": "blizzarr.zarr_pipeline.NDBuffer"})
