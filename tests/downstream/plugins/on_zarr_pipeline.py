"""zarr-python reads and writes through blizzarr's codec pipeline, also after a test has reset its settings.

zarr-python finds the pipeline by its entry point, in child processes as well.
"""

import os

import zarr

import blizzarr.for_zarr  # noqa: F401  registers the pipeline

# A reset of the settings reads the environment again, not what was set.
os.environ["ZARR_CODEC_PIPELINE__PATH"] = "blizzarr.ZarrPipeline"
os.environ["ZARR_NDBUFFER"] = "blizzarr.zarr_pipeline.NDBuffer"
zarr.config.refresh()
