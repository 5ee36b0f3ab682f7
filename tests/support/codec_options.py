"""Options of every codec that a v3 document may name, as such a document has them: one row per codec."""

from __future__ import annotations

from typing import Any

__all__ = ["OPTIONS"]

OPTIONS: dict[str, dict[str, Any]] = {
    "bitround": {"keepbits": 3},
    "blosc": {"cname": "zstd", "clevel": 3, "shuffle": "shuffle", "typesize": 4, "blocksize": 0},
    "bytes": {"endian": "big"},
    "cast_value": {
        "data_type": "int32",
        "rounding": "towards-zero",
        "out_of_range": "clamp",
        "scalar_map": {"encode": [[7, 8]], "decode": [[8, 7]]},
    },
    "categorize": {"labels": ["a", "b"], "dtype": "|O", "astype": "|u1"},
    "conditional": {"codecs": [{"name": "gzip", "configuration": {"level": 1}}], "header_bits": 16},
    "crc32c": {},
    "endian": {"endian": "little"},
    "gzip": {"level": 3},
    "n5_default": {
        "codecs": [
            {"name": "transpose", "configuration": {"order": [1, 0]}},
            {"name": "bytes", "configuration": {"endian": "big"}},
        ]
    },
    "numcodecs.adler32": {"location": "end"},
    "numcodecs.astype": {"encode_dtype": "<f4", "decode_dtype": "<f8"},
    "numcodecs.base64": {},
    "numcodecs.bitround": {"keepbits": 7},
    "numcodecs.blosc": {"cname": "lz4", "clevel": 5, "shuffle": 2, "blocksize": 0},
    "numcodecs.bz2": {"level": 9},
    "numcodecs.categorize": {"labels": ["a", "b"], "dtype": "<U1", "astype": "|u1"},
    "numcodecs.crc32": {"location": "start"},
    "numcodecs.crc32c": {"location": "end"},
    "numcodecs.delta": {"dtype": "<i4", "astype": "<i2"},
    "numcodecs.fixedscaleoffset": {"offset": 1, "scale": 10, "dtype": "<f8", "astype": "|u1"},
    "numcodecs.fletcher32": {},
    "numcodecs.gzip": {"level": 1},
    "numcodecs.jenkins_lookup3": {"initval": 7},
    "numcodecs.json2": {},
    "numcodecs.lz4": {"acceleration": 3},
    "numcodecs.lzma": {"format": 1, "check": 0, "preset": 1},
    "numcodecs.msgpack2": {},
    "numcodecs.packbits": {},
    "numcodecs.pcodec": {"level": 4},
    "numcodecs.pickle": {},
    "numcodecs.quantize": {"digits": 2, "dtype": "<f8"},
    "numcodecs.shuffle": {"elementsize": 4},
    "numcodecs.vlen-array": {"dtype": "<i4"},
    "numcodecs.zfpy": {"mode": 4, "tolerance": 0.5},
    "numcodecs.zlib": {"level": 3},
    "numcodecs.zstd": {"level": 3, "checksum": True},
    "packbits": {"padding_encoding": "last_byte", "first_bit": 1, "last_bit": 12},
    "reshape": {"shape": [[0, 1], -1]},
    "scale_offset": {"offset": 5, "scale": 2},
    "sharding_indexed": {
        "chunk_shape": [4, 3],
        "codecs": ["bytes"],
        "index_codecs": ["bytes"],
        "index_location": "end",
    },
    "transpose": {"order": [1, 0]},
    "vlen-array": {},
    "vlen-bytes": {},
    "vlen-utf8": {},
    "zarrs.gdeflate": {"level": 3},
    "zarrs.optional": {"mask_codecs": ["packbits"], "data_codecs": ["bytes"]},
    "zarrs.squeeze": {},
    "zarrs.vlen": {
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "big"}}],
        "data_codecs": ["bytes"],
        "index_data_type": "uint64",
        "index_location": "end",
    },
    "zarrs.vlen_v2": {},
    "zfp": {"mode": "fixed_accuracy", "tolerance": 0.5},
    "zstd": {"level": 5, "checksum": True},
}
