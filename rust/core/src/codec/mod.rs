//! Codecs that turn bytes into bytes, one file each, and the elements of the `bytes` codec. To add a codec, add its file,
//! its module below, and its arm in `prepare`.

pub mod bitround;
mod blocks;
pub mod blosc;
pub mod cast_value;
pub mod checksum;
pub mod compressed_segmentation;
pub mod crc32c;
pub(crate) mod deflate;
pub mod delta;
pub mod element;
pub mod fixed_scale_offset;
mod fletcher32;
mod float_blocks;
pub mod foreign;
pub mod function;
pub mod gdeflate;
pub mod gzip;
pub mod lz4;
pub mod n5;
mod number;
pub mod packbits;
mod repetitive;
pub(crate) mod report;
pub(crate) mod room;
pub mod scale_offset;
pub mod shuffle;
pub mod swap;
#[cfg(test)]
pub(crate) mod tests;
pub mod vlen;
pub mod zlib;
pub mod zstd;
mod zstd_part;

use crate::error::Result;

/// One option of a codec, as plain data.
pub enum Value {
    Flag(bool),
    Integer(i64),
    Text(String),
}

/// The codec of this name with these options, in the order in which its `step` in Python has them; `None` if there is no such codec.
pub fn prepare(name: &str, options: &[Value]) -> Result<Option<Box<dyn BytesToBytes>>> {
    use Value::{Flag, Integer, Text};

    Ok(Some(match (name, options) {
        ("bitround", [Integer(bytes), Integer(mantissa), Integer(keepbits)]) => {
            Box::new(bitround::Bitround::new(*bytes, *mantissa, *keepbits)?)
        }
        ("blosc", [Text(cname), Integer(clevel), Integer(shuffle), Integer(typesize), Integer(blocksize)]) => {
            Box::new(blosc::Blosc::new(cname, *clevel, *shuffle, *typesize, *blocksize)?)
        }
        ("cast_value", options) => Box::new(cast_value::CastValue::new(options)?),
        ("crc32c", []) => Box::new(checksum::Checksum::CRC32C),
        ("delta", [Text(elements), Text(differences)]) => Box::new(delta::Delta::new(elements, differences)?),
        ("adler32" | "crc32" | "fletcher32", [Flag(at_start)]) => match checksum::Checksum::new(name, *at_start) {
            Some(codec) => Box::new(codec),
            None => return Ok(None),
        },
        ("fixedscaleoffset", [Text(elements), Text(stored), Text(offset), Text(scale)]) => {
            Box::new(fixed_scale_offset::FixedScaleOffset::new(elements, stored, offset, scale)?)
        }
        ("gdeflate", [Integer(level)]) => Box::new(gdeflate::Gdeflate::new(*level)?),
        ("gzip", [Integer(level)]) => Box::new(gzip::Gzip::new(*level)?),
        ("lz4", [Integer(acceleration)]) => Box::new(lz4::Lz4::new(*acceleration)?),
        ("packbits", [Integer(width), Integer(first), Integer(last), Flag(signed), Text(padding)]) => {
            Box::new(packbits::Packbits::new(*width, *first, *last, *signed, padding)?)
        }
        ("scale_offset", [Text(data_type), Text(offset), Text(scale)]) => {
            Box::new(scale_offset::ScaleOffset::new(data_type, offset, scale)?)
        }
        ("shuffle", [Integer(element)]) => Box::new(shuffle::Shuffle::new(*element)?),
        ("swap", [Integer(unit)]) => Box::new(swap::Swapped::new(*unit)?),
        ("zlib", [Integer(level)]) => Box::new(zlib::Zlib::new(*level)?),
        ("zstd", [Integer(level), Flag(checksum)]) => Box::new(zstd::Zstd::new(*level, *checksum)?),
        _ => return Ok(None),
    }))
}

/// Fills a slice from a place in an encoded value.
pub type Fetch<'a> = &'a dyn Fn(usize, &mut [u8]) -> Result<bool>;

/// One bytes-to-bytes codec, prepared: its options are checked, its sizes can be asked.
pub trait BytesToBytes: Send + Sync {
    /// The registered name, for error messages.
    fn name(&self) -> &'static str;

    /// No encoder makes more than this from `decoded` bytes (generous: other writers' worst case too); bounds decoding of what precedes it.
    fn max_encoded_len(&self, decoded: usize) -> usize;

    /// The exact encoded length, for codecs whose output size does not depend on the values (crc32c).
    fn fixed_encoded_len(&self, _decoded: usize) -> Option<usize> {
        None
    }

    /// The encoded bytes of an element of `size` bytes, when each element is encoded by itself and stays in its place.
    fn encoded_element(&self, _size: usize) -> Option<usize> {
        None
    }

    /// The same of the fewest elements that fill whole encoded bytes: their number, and those bytes.
    fn encoded_elements(&self, size: usize) -> Option<(usize, usize)> {
        self.encoded_element(size).map(|bytes| (1, bytes))
    }

    /// Whether each decoded byte is 0 or 1.
    fn makes_booleans(&self) -> bool {
        false
    }

    /// Whether decoding changes no byte.
    fn decodes_to_itself(&self) -> bool {
        false
    }

    /// Whether one call costs as much as decoding thousands of elements.
    fn has_costly_calls(&self) -> bool {
        false
    }

    /// The checksum that this codec adds, if it does nothing else.
    fn checksum(&self) -> Option<checksum::Checksum> {
        None
    }

    /// Decodes into exactly `dst`; more, fewer or damaged bytes are an error that names both sizes. Never allocates by what a header claims.
    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<()>;

    /// Decodes when the size is not known beforehand; `dst` is cleared, more than `limit` bytes are a limit error found before they are produced.
    fn decode_bounded(&self, src: &[u8], limit: usize, dst: &mut Vec<u8>) -> Result<()>;

    /// Decodes only `[offset, offset + dst.len())` of a value of `decoded` bytes; `Ok(false)` when this codec must decode everything.
    fn decode_part(&self, _src: &[u8], _decoded: usize, _offset: usize, _dst: &mut [u8]) -> Result<bool> {
        Ok(false)
    }

    /// The same of an encoded value as long as `src`, whose bytes `fetch` puts into `src`: only those that are needed.
    /// `false` when all of it is better read, also for whatever is wrong, which decoding all of it reports.
    fn decode_fetched(
        &self,
        _src: &mut [u8],
        _decoded: usize,
        _offset: usize,
        _dst: &mut [u8],
        _fetch: Fetch<'_>,
    ) -> bool {
        false
    }

    /// Whether `encode` may be given memory that another thread changes meanwhile: it stays within its bounds, and makes bytes
    /// that decode, to some mixture. Not so where a checksum is taken in a pass of its own, or room is measured in one.
    fn source_may_change(&self) -> bool {
        false
    }

    /// Lets go of what the elements of a decoded cell stand for, but for those that are wanted, which are changed to
    /// stand for it elsewhere. Only for elements that stand for something.
    fn keep(&self, _wanted: &mut [u8], _cell: &[u8]) -> Result<()> {
        Ok(())
    }

    /// Whether decoded elements stand for something that is kept in memory (see `keep`).
    fn keeps(&self) -> bool {
        false
    }

    /// Appends the encoded form of `src` to `dst`.
    fn encode(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()>;
}
