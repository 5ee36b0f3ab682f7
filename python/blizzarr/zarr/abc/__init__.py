"""The module ``zarr.abc``: base classes for the stores and codecs of users."""
