"""The draft of Zarr v3 of 2 December 2022, in the document's spelling and in that of zarr-python 2.12 to 2.18.

https://github.com/zarr-developers/zarr-specs/blob/89f92f9/docs/core/v3.0.rst

A hierarchy has one entry point, ``zarr.json``, and is opened at its root. Documents of nodes are in one tree,
``meta/``, chunks in another, ``data/``. A group needs no document if there are nodes below it.

=========================  =============================  ==================================
what                       the document's                 zarr-python's (2.12 to 2.18)
=========================  =============================  ==================================
entry point                ``metadata_encoding`` object   a URI, and the suffix beside it
document of array /foo     ``meta/foo.array.json``        ``meta/root/foo.array.json``
document of the root       ``meta/group.json``            ``meta/root.group.json``
chunk (1, 0) of /foo       ``data/foo/c1/0``              ``data/root/foo/c1/0``
chunk of a scalar /foo     ``data/foo/c``                 ``data/root/foo/c0``
data types                 ``float64``                    ``<f8``
byte order                 the codec ``endian``           in the data type
codecs                     ``codecs``, with URIs          ``compressor``, and filters among
                                                          the attributes
fill value null            not allowed                    nothing is said of unwritten ones
=========================  =============================  ==================================

No writer of the document's spelling is known; zarr-python wrote an earlier state of the draft as an experiment.
"""

from typing import Final

from blizzarr.formats.draft.form import Draft, draft_named, search
from blizzarr.formats.draft.keys import Spelling

DOCUMENT: Final = Draft(Spelling.DOCUMENT)
"""The document's spelling, ``v3_draft``."""
ZARR_PYTHON: Final = Draft(Spelling.ZARR_PYTHON)
"""zarr-python's spelling, ``v3_draft_zarr_python``."""
