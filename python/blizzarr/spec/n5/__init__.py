"""Arrays of N5, as TensorStore's driver ``n5`` describes, creates and checks them."""
