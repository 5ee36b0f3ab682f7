"""Specs, schemas, contexts and key-value stores, as TensorStore has them: what to open or create, in JSON."""
