"""Arrays of Zarr v2, as TensorStore's driver ``zarr`` describes, creates and checks them."""
