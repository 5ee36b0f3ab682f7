"""blizzarr: every Zarr there has been, on one fast native engine."""
