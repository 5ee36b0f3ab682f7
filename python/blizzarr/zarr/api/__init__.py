"""The module ``zarr.api``."""
