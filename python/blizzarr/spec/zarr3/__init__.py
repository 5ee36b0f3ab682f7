"""Arrays of Zarr v3, as TensorStore's driver ``zarr3`` describes, creates and checks them."""
