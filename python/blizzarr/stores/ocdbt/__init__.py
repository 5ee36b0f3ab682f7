"""Databases of TensorStore's format OCDBT, in which Orbax saves checkpoints of JAX: read as stores."""

from blizzarr.stores.ocdbt.store import OcdbtStore as OcdbtStore
