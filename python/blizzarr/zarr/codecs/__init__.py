"""The module ``zarr.codecs``: codecs with the options and the defaults that zarr-python gives them."""

from __future__ import annotations

from blizzarr.zarr.codecs.named import NamedCodec, codec_from_dict, codec_of_engine
from blizzarr.zarr.codecs.numcodecs import *  # noqa: F403
from blizzarr.zarr.codecs.numcodecs import __all__ as _of_numcodecs
from blizzarr.zarr.codecs.registered import *  # noqa: F403
from blizzarr.zarr.codecs.registered import __all__ as _registered

__all__ = ["NamedCodec", "codec_from_dict", "codec_of_engine", *_of_numcodecs, *_registered]
