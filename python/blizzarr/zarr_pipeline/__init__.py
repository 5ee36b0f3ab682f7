"""The codec pipeline for zarr-python: its arrays are read and written by the engine.

zarr-python hands a pipeline one piece for each chunk that a selection touches. `selection` puts them together again,
`bound` has the array as the engine knows it, `pace` says in which thread something is done, and `pipeline` is what
zarr-python calls. What the engine does not take goes to zarr-python's own pipeline.
"""

from blizzarr.zarr_pipeline.pipeline import ZarrPipeline

__all__ = ["ZarrPipeline"]
