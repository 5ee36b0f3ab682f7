"""zarr-python reads and writes through blizzarr's codec pipeline, also after a test has reset its settings.

zarr-python finds the pipeline by its entry point, in child processes as well.
"""

import os

import pytest
import zarr

import blizzarr.for_zarr  # noqa: F401  registers the pipeline

# A reset of the settings reads the environment again, not what was set.
os.environ["ZARR_CODEC_PIPELINE__PATH"] = "blizzarr.ZarrPipeline"
zarr.config.refresh()


@pytest.fixture(autouse=True)
def memory_of_results() -> None:
    """Results lie in our memory, which child processes that do not import this plugin could not find by its name."""
    zarr.config.set({"ndbuffer": "blizzarr.zarr_pipeline.NDBuffer"})
