//! The beginning of a zstd frame, decoded no further than needed.
//!
//! A frame is a chain of blocks of at most 128 KiB that can only be decoded in order; but what lies behind the wanted
//! bytes need not be. What a full decoding would notice is still noticed where the frame can tell: it must be the only
//! one, whole, and of the expected length (its block headers are walked, which costs next to nothing). A frame with a
//! checksum is always decoded fully: no byte that a checksum covers is handed out unchecked.

use std::cell::RefCell;

use zstd_safe::{DCtx, InBuffer, OutBuffer, ResetDirective};

use super::room;
use crate::error::Direction;

/// The longest block; at least one must be saved for the detour by the stream decoder to pay.
const BLOCK: usize = 128 << 10;
/// The stream decoder keeps a window as long as the frame, per thread.
const LONGEST: usize = 8 << 20;

const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Bits of the frame header's descriptor: a checksum follows the blocks; a dictionary is needed.
const CHECKSUM: u8 = 0b100;
const DICTIONARY: u8 = 0b11;

thread_local! {
    static STREAM: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
    static SKIPPED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Decodes bytes `offset..offset + dst.len()` of a value of `decoded` bytes; `false` when it is better, or necessary,
/// to decode everything: also for whatever is wrong, which the full decoding reports.
pub fn decode(src: &[u8], decoded: usize, offset: usize, dst: &mut [u8]) -> bool {
    let pays = offset.checked_add(dst.len()).and_then(|end| end.checked_add(BLOCK)).is_some_and(|end| end <= decoded);
    pays && decoded <= LONGEST && is_one_unchecked_frame(src, decoded) && stream(src, offset, dst).is_some()
}

fn is_one_unchecked_frame(src: &[u8], decoded: usize) -> bool {
    src.len() > 5
        && src[..4] == MAGIC
        && src[4] & (CHECKSUM | DICTIONARY) == 0
        && zstd_safe::get_frame_content_size(src).ok().flatten() == Some(decoded as u64)
        && zstd_safe::find_frame_compressed_size(src) == Ok(src.len())
}

fn stream(src: &[u8], offset: usize, dst: &mut [u8]) -> Option<()> {
    STREAM.with_borrow_mut(|slot| {
        if slot.is_none() {
            *slot = DCtx::try_create();
        }
        let context = slot.as_mut()?;
        context.reset(ResetDirective::SessionOnly).ok()?;
        let mut input = InBuffer::around(src);
        SKIPPED.with_borrow_mut(|skipped| {
            room::scratch("zstd", Direction::Decode, skipped, BLOCK).ok()?;
            let mut left = offset;
            while left > 0 {
                let length = left.min(BLOCK);
                fill(context, &mut input, &mut skipped[..length])?;
                left -= length;
            }
            fill(context, &mut input, dst)
        })
    })
}

/// Decodes on until `dst` is full; `None` when the frame ends or breaks before.
fn fill(context: &mut DCtx<'_>, input: &mut InBuffer<'_>, dst: &mut [u8]) -> Option<()> {
    let length = dst.len();
    let mut output = OutBuffer::around(dst);
    while output.pos() < length {
        let (before, consumed) = (output.pos(), input.pos());
        let more = context.decompress_stream(&mut output, input).ok()?;
        let stuck = output.pos() == before && input.pos() == consumed;
        if output.pos() < length && (more == 0 || stuck) {
            return None;
        }
    }
    Some(())
}
