"""TensorStore's interface to the same arrays: ``import blizzarr.tensorstore as ts``."""

from blizzarr.futures import Future, FutureLike, Promise, WriteFutures

__all__ = ["Future", "FutureLike", "Promise", "WriteFutures"]
