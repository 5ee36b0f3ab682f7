"""The module ``zarr.testing``, a plugin of pytest that zarr-python installs; it does nothing here."""
