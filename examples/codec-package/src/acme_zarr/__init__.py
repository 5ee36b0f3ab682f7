"""A codec and a data type for Zarr."""
