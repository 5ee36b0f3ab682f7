"""Codec chains as v1 and v2 spell them: a list of filters and a compressor, each an object with an ``id``.

In these formats the byte order belongs to the data type, and the order of axes to the array; in a chain they are the
codecs ``bytes`` and ``transpose``.
"""

from blizzarr.codecs.configs.read import chain_from_configs, codec_from_config
from blizzarr.codecs.configs.write import Configs, chain_to_configs
