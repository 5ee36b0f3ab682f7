"""The draft of Zarr v3 of 2 December 2022, in the document's spelling and in that of zarr-python 2.12 to 2.18.

https://github.com/zarr-developers/zarr-specs/blob/89f92f9/docs/core/v3.0.rst

A hierarchy has one entry point, ``zarr.json``, and is opened at its root. Documents of nodes are in one tree,
``meta/``, chunks in another, ``data/``. A group needs no document if there are nodes below it. See `spelling` for the
differences.
"""

from typing import Final

from blizzarr.formats.draft.form import Draft, draft_named, search
from blizzarr.formats.draft.spelling import Spelling

DOCUMENT: Final = Draft(Spelling.DOCUMENT)
"""The document's spelling, ``v3_draft``."""
ZARR_PYTHON: Final = Draft(Spelling.ZARR_PYTHON)
"""zarr-python's spelling, ``v3_draft_zarr_python``."""
