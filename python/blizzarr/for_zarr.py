"""``import blizzarr.for_zarr``: zarr-python reads and writes with blizzarr's engine from then on.

It sets ``codec_pipeline.path`` in zarr-python's settings; arrays that are open already keep what they have.

>>> import zarr
>>> import blizzarr.for_zarr
>>> zarr.config.get("codec_pipeline.path")
'blizzarr.ZarrPipeline'
"""

from blizzarr.zarr_pipeline import ZarrPipeline  # first: it says what to do without zarr-python

# isort: split
import zarr

__all__ = ["ZarrPipeline"]

zarr.config.set({"codec_pipeline.path": "blizzarr.ZarrPipeline"})
