"""Stores of many kinds of chunks, and damages that are planted in them: what `soak.damages` is made of."""
