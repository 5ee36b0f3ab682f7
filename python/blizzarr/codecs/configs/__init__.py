"""Codec chains as v1 and v2 spell them: a list of filters and a compressor, each an object with an ``id``.

There, elements have their byte order from the data type and chunks their order of axes from the array; in a chain,
these are the codecs ``bytes`` and ``transpose``.
"""

from blizzarr.codecs.configs.read import chain_from_configs, codec_from_config
from blizzarr.codecs.configs.write import Configs, chain_to_configs

__all__ = ["Configs", "chain_from_configs", "chain_to_configs", "codec_from_config"]
