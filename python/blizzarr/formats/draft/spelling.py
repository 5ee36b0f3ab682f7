"""The two spellings of the draft.

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

from __future__ import annotations

from enum import Enum


class Spelling(Enum):
    """A spelling of the draft; the value is the name of the format."""

    DOCUMENT = "v3_draft"
    ZARR_PYTHON = "v3_draft_zarr_python"
