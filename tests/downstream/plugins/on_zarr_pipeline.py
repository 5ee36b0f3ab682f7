"""zarr-python reads and writes through blizzarr's codec pipeline, also after a test has reset its settings."""

import os

import blizzarr.for_zarr  # noqa: F401  registers the pipeline
import zarr

# A reset of the settings reads the environment again, not what was set.
os.environ["ZARR_CODEC_PIPELINE__PATH"] = "blizzarr.ZarrPipeline"
zarr.config.refresh()
