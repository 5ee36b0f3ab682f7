"""The codec pipeline for zarr-python: its arrays are read and written by the engine.

zarr-python hands a pipeline one piece for each chunk that a selection touches. `selection` puts them together again,
`bound` has the array as the engine knows it, `buffer` has memory for results, `threads` says in which thread something
is done, and `pipeline` is what zarr-python calls. What the engine does not take goes to zarr-python's own pipeline.
"""

try:
    from blizzarr.zarr_pipeline.buffer import NDBuffer
    from blizzarr.zarr_pipeline.pipeline import ZarrPipeline
except ImportError as error:
    if error.name is None or error.name.partition(".")[0] != "zarr":
        raise
    raise ImportError(
        "this pipeline is for programs with zarr-python 3.1 or newer: pip install 'zarr>=3.1'; programs without it can "
        "import blizzarr.zarr, which has zarr-python's interface"
    ) from error

__all__ = ["NDBuffer", "ZarrPipeline"]
