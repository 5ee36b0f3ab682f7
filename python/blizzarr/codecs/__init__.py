"""Codecs: their names and options, one class each, and the codec chain of an array.

Pass them to `create_array` as `compressors`, `filters` or `serializer`. The engine does their work, or the codec does
it as a step in Python. `blizzarr.register_codec` adds your own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from blizzarr.codecs.catalogue import CATALOGUE as CATALOGUE
from blizzarr.codecs.catalogue import EXPORTED
from blizzarr.codecs.chain import MAX_CODECS as MAX_CODECS
from blizzarr.codecs.chain import MAX_DEPTH as MAX_DEPTH
from blizzarr.codecs.chain import CodecChain as CodecChain
from blizzarr.codecs.codec import Chunk as Chunk
from blizzarr.codecs.codec import Codec as Codec
from blizzarr.codecs.codec import Option as Option
from blizzarr.codecs.codec import Stage as Stage
from blizzarr.codecs.codec import Step as Step
from blizzarr.codecs.objects import ObjectCodec as ObjectCodec
from blizzarr.lazy_imports import lazy_names

if TYPE_CHECKING:
    from blizzarr.codecs.catalogue import *  # noqa: F403
else:
    __getattr__, __dir__ = lazy_names(__name__, EXPORTED, "CODECS")
    __all__ = [name for name in __dir__() if name[0].isupper() and name not in ("EXPORTED", "TYPE_CHECKING")]
