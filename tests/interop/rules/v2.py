"""Version 2."""

from __future__ import annotations

import sys

from interop.rules import Rule, cannot, neither, only, reads

NUMBERS = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")
TEXTS = ("S1", "S3", "S7", "U1", "U3", "U4", "U5")
GDAL_TYPES = ("u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "c8", "c16", "S1", "S3", "S7", "struct")

ZARR_PYTHON_2: tuple[Rule, ...] = (
    cannot("writes", "has numcodecs without snappy", "blosc snappy"),
    cannot("writes", "writes -0.0 as 0.0", "fill -0.0", unless=("complex",)),
    cannot("writes", "shuffles elements behind this filter", "filter bitround", "order F"),
    cannot("reads", "multiplies infinity by the imaginary unit", "complex", "fill -Infinity"),
    cannot("reads", "takes what is written for a fill value of bytes for it", "filter vlen-bytes"),
    cannot("writes", "has 0 for the fill value of bytes", "filter vlen-bytes", unless=("fill zero",)),
)
ZARR_PYTHON: tuple[Rule, ...] = (
    *only("has objects of these codecs", "object codec ", "vlen-utf8", "vlen-bytes"),
    *neither("has no fields that are arrays", "struct with arrays"),
    cannot("writes", "writes no filters behind the codec of objects", "object", "filter crc32"),
    cannot("writes", "writes no such fields with blosc", "struct with datetime", "compressor blosc"),
    cannot("writes", "shuffles elements behind this filter", "filter bitround", "order F"),
)
ZARR_PYTHON_HERE = (
    *ZARR_PYTHON,
    *((cannot("reads", "knows no fields that are structs", "nested struct"),) if sys.version_info < (3, 12) else ()),
)
ZARRS_PYTHON: tuple[Rule, ...] = (
    *only("has numbers", "type ", *NUMBERS),
    *only("has these compressors", "compressor ", "blosc", "gzip", "zstd", "zlib", "bz2"),
    *only("has these filters", "filter ", "fixedscaleoffset", "shuffle"),
    *neither("has no such filter to another type", "type f4", "filter fixedscaleoffset"),
    cannot("writes", "writes no complex numbers without a fill value", "complex", "fill null"),
    cannot("writes", "refuses a transpose of rank 0", "v2", "order F", "rank 0"),
    cannot("reads", "reads numbers in the order of this machine", "v2", "big-endian"),
    cannot("reads", "reads no chunks in order F", "order F of planes", unless=("empty",)),
)
TENSORSTORE: tuple[Rule, ...] = (
    *only("has these types", "type ", *NUMBERS, "S1", "S3", "S7", "V1", "V2", "V10", "struct"),
    *only("has these compressors", "compressor ", "blosc", "zlib", "gzip", "bz2", "zstd"),
    *neither("has no filters", "filters"),
    *neither("has no attributes", "v2", "attributes"),
    *neither("has no such fields", "nested struct"),
    *neither("has no such fields", "struct with texts"),
    *neither("has no such fields", "struct with datetime"),
    cannot("writes", "writes a line in order C and says so", "order F", "rank 0"),
    cannot("writes", "writes a line in order C and says so", "order F", "rank 1"),
)
ZARRISTA: tuple[Rule, ...] = (
    *only("has these types", "type ", *NUMBERS, "U1", "U3", "U4", "U5", "V1", "V2", "V10", "O"),
    *only("has these compressors", "compressor ", "blosc", "gzip", "zstd"),
    *only("has these filters", "filter ", "vlen-utf8", "vlen-bytes", "fixedscaleoffset", "shuffle"),
    *neither("has no such filter to another type", "type f4", "filter fixedscaleoffset"),
    *neither("wants a fill value for such types", "fill null", "complex"),
    *neither("wants a fill value for such types", "fill null", "texts"),
    *neither("wants a fill value for such types", "fill null", "raw bytes"),
    cannot("reads", "takes a fill value of null for zero", "fill null"),
    cannot("writes", "takes no texts from NumPy", "object"),
    cannot("reads", "takes what is written for a fill value of bytes for it", "filter vlen-bytes"),
)
ZARRITA: tuple[Rule, ...] = reads(
    *only("has these types", "type ", *(name for name in NUMBERS if name[0] in "biu"), "f4", "f8", *TEXTS, "O"),
    *only("has these compressors", "compressor ", "blosc", "zlib", "gzip", "lz4", "zstd"),
    *only("has these filters", "filter ", "delta", "fixedscaleoffset", "shuffle", "bitround", "vlen-utf8"),
    *neither("keeps the type before delta", "delta to another type"),
    *neither("takes a fill value of bytes in base64 for itself", "byte strings"),
)
ZARR_JAVA: tuple[Rule, ...] = (
    *only("has booleans, integers and floats", "type ", *(name for name in NUMBERS if name[0] in "biu"), "f4", "f8"),
    *only("has blosc and zlib", "compressor ", "blosc", "zlib"),
    *neither("has little-endian numbers", "v2", "big-endian"),
    *neither("has no filters", "filters"),
    *neither("has no snappy", "blosc snappy"),
    cannot("writes", "has no such shuffle", "blosc shuffle -1"),
    *neither("takes order F for C", "order F of planes", unless=("empty",)),
    *neither("fails at arrays of rank 0", "v2", "rank 0"),
    *neither("has no infinite fill values", "v2", "fill Infinity"),
    cannot("writes", "writes nothing at all or something", "v2", "nothing written"),
)
GDAL: tuple[Rule, ...] = (
    *only("has these types", "type ", *GDAL_TYPES),
    *only("has these compressors", "compressor ", "blosc", "zlib", "gzip", "lzma", "zstd", "lz4"),
    *only("has one filter", "filter ", "delta"),
    *only("has lzma in .xz files", "lzma format ", "1"),
    *neither("keeps the type before delta", "delta to another type"),
    *neither("has numbers in fields of structs", "nested struct"),
    *neither("has numbers in fields of structs", "struct with arrays"),
    *neither("has numbers in fields of structs", "struct with byte strings"),
    *neither("has numbers in fields of structs", "struct with datetime"),
    *neither("has structs in the order of this machine", "mixed-endian struct"),
    *neither("has texts in UTF-8, and no fill values for them", "byte strings"),
    cannot("writes", "writes no fill values of complex numbers but zero", "complex", unless=("fill zero", "fill null")),
    cannot("reads", "reads no fill values of complex numbers", "complex", unless=("fill null",)),
    cannot("reads", "reads no empty arrays", "empty"),
    *neither("takes null for an empty text", "group", "attribute none"),
    cannot("writes", "fills the rest of such a chunk with zeros", "written from within a chunk to the end"),
    cannot("writes", "writes in the order of this machine", "big-endian"),
    cannot("reads", "ends at a scalar whose keys have slashes", "rank 0", "separator /", fatal=True),
    cannot("reads", "has fill values as float64", "type u8", "fill beyond 2**53"),
    cannot("reads", "has lists of numbers of one type", "attribute numbers"),
    cannot("reads", "has lists of numbers of one type", "attribute large"),
    cannot("reads", "takes it for its own names of dimensions", "attribute _ARRAY_DIMENSIONS"),
)
NETCDF: tuple[Rule, ...] = (
    *only("has integers and floats", "type ", *(name for name in NUMBERS if name[0] in "iu"), "f4", "f8"),
    *only("has these compressors", "compressor ", "blosc", "bz2", "zlib", "zstd"),
    *only("has these filters", "filter ", "shuffle", "fletcher32"),
    *neither("has no snappy", "blosc snappy"),
    *neither("has levels from 0", "negative level"),
    cannot("writes", "fails at chunks that blosc does not make smaller", "compressor blosc"),
    cannot("reads", "swaps no fill values", "v2", "big-endian", unless=("fill zero",)),
    cannot("writes", "has chunks in order C", "order F"),
    cannot("reads", "has chunks in order C", "order F of planes", unless=("empty", "nothing written")),
    cannot("reads", "swaps no fill values", "v2", "big-endian", "fill -0.0"),
    cannot("reads", "knows no scalars but its own", "rank 0"),
    cannot("writes", "writes -0.0 as 0", "fill -0.0"),
    cannot("writes", "writes a scalar as one of rank 1", "rank 0"),
    cannot("writes", "has unlimited axes where the length is 0", "empty"),
    cannot("writes", "has no chunks larger than the array", "chunks larger than the array"),
    *neither("writes control characters as they are", "attribute text", unless=("group",)),
    *neither("has lists of numbers of one type", "attribute numbers"),
    *neither("has attributes of texts and numbers", "attribute constants"),
    *neither("has attributes of texts and numbers", "attribute nested"),
    *neither("has attributes of texts and numbers", "attribute none"),
    *neither("has attributes of texts and numbers", "attribute deep"),
    cannot("reads", "has lists of numbers of one type", "v2", "attribute large"),
    cannot("writes", "writes no consolidated metadata", "consolidated"),
    *neither("keeps this attribute for itself", "attribute _ARRAY_DIMENSIONS"),
)
