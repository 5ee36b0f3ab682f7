"""What to open or create, said in JSON: specs, schemas, contexts and key-value stores, as TensorStore has them."""
