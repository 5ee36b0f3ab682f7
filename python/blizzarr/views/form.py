"""The value behind views, which is that of all selections: see `blizzarr.indexing.form`."""

from blizzarr.indexing.form import ArrayMap, Form, IndexArray, Map, dims_of, fits_64_bits, identity_maps, without_arrays

__all__ = ["ArrayMap", "Form", "IndexArray", "Map", "dims_of", "fits_64_bits", "identity_maps", "without_arrays"]
