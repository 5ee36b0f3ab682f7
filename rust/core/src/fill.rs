//! The one rule about chunks that hold nothing but the fill value.

/// Whether every element of `bytes` has exactly the bits of `fill`.
///
/// Bits, not values: a chunk of `-0.0` under a fill value of `0.0`, or of NaNs with another payload, is not the fill
/// value, because reading it back would give something else.
pub fn is_fill(bytes: &[u8], fill: &[u8]) -> bool {
    let size = fill.len();
    // The first element is the fill value, and each element equals the one before it. The second test is one long
    // comparison of memory with itself, which ends at the first difference.
    bytes.len() < size || (&bytes[..size] == fill && bytes[..bytes.len() - size] == bytes[size..])
}

/// Sets every element of `bytes` to `fill`.
pub fn set_fill(bytes: &mut [u8], fill: &[u8]) {
    if fill.iter().all(|&byte| byte == fill[0]) {
        return bytes.fill(fill[0]);
    }
    let size = fill.len();
    let mut done = size.min(bytes.len());
    bytes[..done].copy_from_slice(&fill[..done]);
    while done < bytes.len() {
        let take = done.min(bytes.len() - done);
        bytes.copy_within(..take, done);
        done += take;
    }
}
