//! Byte ranges of one value, as the store interface of the specification has them.

use crate::error::{Error, Kind, Result};

/// One range: where it starts (negative: that many bytes before the end) and how long it is (`None`: to the end).
pub type ByteRange = (i64, Option<u64>);

/// Offset and length of `range` within a value of `size` bytes, clipped where the value begins and ends.
pub fn resolve(size: u64, range: ByteRange) -> (u64, u64) {
    let (start, length) = range;
    let offset = match u64::try_from(start) {
        Ok(start) => start.min(size),
        Err(_) => size.saturating_sub(start.unsigned_abs()),
    };
    let rest = size - offset;
    (offset, length.map_or(rest, |length| length.min(rest)))
}

/// An empty vector with room for `size` bytes; what does not fit into memory is an error, not an abort.
pub fn with_room(size: u64) -> Result<Vec<u8>> {
    let mut buffer = Vec::new();
    reserve(&mut buffer, size)?;
    Ok(buffer)
}

/// Clears `buffer` and makes room for `size` bytes.
pub fn reserve(buffer: &mut Vec<u8>, size: u64) -> Result<()> {
    buffer.clear();
    usize::try_from(size)
        .ok()
        .and_then(|size| buffer.try_reserve_exact(size).ok())
        .ok_or_else(|| Error::new(Kind::Limit, format!("expected room for {size} bytes, found too little memory")))
}

/// The value is longer than its reader allows.
pub fn too_long(size: u64, limit: u64) -> Error {
    Error::new(Kind::Codec, format!("expected at most {limit} bytes, found {size}"))
}

/// The value ends before the wanted bytes do.
pub fn truncated(offset: u64, wanted: usize, size: u64) -> Error {
    let reason = format!("expected {wanted} bytes at offset {offset}, found a value of {size} bytes");
    Error::new(Kind::Codec, reason)
}

/// The value is shorter than the suffix wanted of it.
pub fn too_short(wanted: usize, size: u64) -> Error {
    Error::new(Kind::Codec, format!("expected at least {wanted} bytes, found a value of {size} bytes"))
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn d_88_ranges_are_clipped_to_the_value() {
        for (range, expected) in [
            ((0, None), (0, 10)),
            ((0, Some(4)), (0, 4)),
            ((3, None), (3, 7)),
            ((3, Some(100)), (3, 7)),
            ((3, Some(u64::MAX)), (3, 7)),
            ((10, None), (10, 0)),
            ((11, Some(1)), (10, 0)),
            ((i64::MAX, None), (10, 0)),
            ((-4, None), (6, 4)),
            ((-4, Some(2)), (6, 2)),
            ((-4, Some(9)), (6, 4)),
            ((-11, None), (0, 10)),
            ((i64::MIN, None), (0, 10)),
            ((2, Some(0)), (2, 0)),
        ] {
            assert_eq!(resolve(10, range), expected, "{range:?}");
        }
        assert_eq!(resolve(0, (-1, None)), (0, 0));
    }
}
