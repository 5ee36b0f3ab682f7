"""The verbs that a user calls first."""

from blizzarr.api.check import check
from blizzarr.api.consolidate import consolidate_metadata
from blizzarr.api.copy import copy
from blizzarr.api.create import (
    array,
    create,
    create_array,
    create_group,
    empty,
    empty_like,
    full,
    full_like,
    group,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from blizzarr.api.diff import diff
from blizzarr.api.open import open, open_array, open_consolidated, open_group
from blizzarr.api.register import (
    register_chunk_grid,
    register_chunk_key_encoding,
    register_codec,
    register_data_type,
    register_storage_transformer,
    register_store,
)
from blizzarr.api.save import load, save, save_array, save_group
from blizzarr.api.show import show
from blizzarr.api.tree import tree
from blizzarr.api.upgrade import upgrade
