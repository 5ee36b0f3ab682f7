//! `zstd` (RFC 8878), by libzstd with one context of each kind per thread.
//!
//! Specification: <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/zstd>.
//! Names: `zstd` in v3 (`numcodecs.zstd` is another name for it) and in v2 (numcodecs).
//! Several frames one behind the other, skippable ones among them, are one value, as RFC 8878 says. Of the formats that
//! preceded it only the last, of zstd 0.7, is decoded, and only inside of Blosc: zarr-python 1 wrote that (Zarr v1).

use std::cell::RefCell;
use std::io::Cursor;

use zstd_safe::{CCtx, CParameter, DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};

use super::{report, room, zstd_part, BytesToBytes};
use crate::error::{Direction, Error, Result};

const NAME: &str = "zstd";

/// libzstd's numbers for errors that we tell apart (`zstd_errors.h`, declared stable there), as `zstd_safe` hands them on.
const CHECKSUM_WRONG: usize = 0usize.wrapping_sub(22);
const NO_ROOM: usize = 0usize.wrapping_sub(70);
const NO_MEMORY: usize = 0usize.wrapping_sub(64);
const UNKNOWN_PREFIX: usize = 0usize.wrapping_sub(10);

/// How much is decoded at a time only to see where it breaks.
const WINDOW: usize = 16 << 10;

/// A context bigger than this is not kept: level 22 of one big chunk should not stay in memory for ever.
const KEEP: usize = 64 << 20;

/// From this level and length on an encoder is not kept either. Reused search tables are full of stale entries, which libzstd
/// visits and rejects: for 512 KiB that costs 7 % at level 3, 13 % at level 9 and 38 % at level 12 of the thread's time, more
/// than fresh tables do. Short or fast encodings gain from the reuse: 8 KiB at level 3 take 13 instead of 23 µs.
const FRESH: (i32, usize) = (3, 128 << 10);

/// What libzstd takes level 0 for.
const DEFAULT_LEVEL: i32 = 3;

struct Encoder {
    context: CCtx<'static>,
    level: i32,
    checksum: bool,
}

thread_local! {
    static DECODER: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
    static ENCODER: RefCell<Option<Encoder>> = const { RefCell::new(None) };
}

/// The `zstd` codec with its options checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zstd {
    level: i32,
    checksum: bool,
}

impl Zstd {
    /// `level` is −131072 (fastest) to 22 (smallest), 0 is libzstd's default; `checksum` adds four bytes of XXH64 per frame.
    pub fn new(level: i64, checksum: bool) -> Result<Self> {
        match i32::try_from(level) {
            Ok(level @ -131_072..=22) => Ok(Zstd { level, checksum }),
            _ => Err(report::option(NAME, "level", "an integer in [-131072, 22]", level)),
        }
    }
}

impl BytesToBytes for Zstd {
    fn name(&self) -> &'static str {
        NAME
    }

    fn max_encoded_len(&self, decoded: usize) -> usize {
        room::generous(decoded)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let expected = dst.len();
        match frames(src, dst, Some(expected))? {
            None => Err(report::too_long(NAME, expected)),
            Some(made) if made < expected => Err(report::ended(NAME, made, Some(expected))),
            Some(_) => Ok(()),
        }
    }

    fn decode_bounded(&self, src: &[u8], limit: usize, dst: &mut Vec<u8>) -> Result<()> {
        // What the first frame claims is a guess like any other, except that a claim beyond the limit needs no attempt.
        let claimed = zstd_safe::get_frame_content_size(src).ok().flatten();
        if claimed.is_some_and(|size| size > limit as u64) {
            return Err(report::over_limit(NAME, limit));
        }
        let guess = claimed.map_or(src.len().saturating_mul(4), |size| size as usize);
        room::grow(NAME, limit, guess, dst, |dst| frames(src, dst, None))
    }

    fn decode_part(&self, src: &[u8], decoded: usize, offset: usize, dst: &mut [u8]) -> Result<bool> {
        Ok(zstd_part::decode(src, decoded, offset, dst))
    }

    /// libzstd copies literals when it finds them, and codes the copies.
    fn source_may_change(&self) -> bool {
        !self.checksum
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        match append(NAME, self.level, self.checksum, src, dst, zstd_safe::compress_bound(src.len()))? {
            Some(_) => Ok(()),
            None => Err(Error::encode(NAME, format!("cannot encode {} bytes", report::grouped(src.len())))),
        }
    }
}

/// Decodes every frame of `src`; `None` when they do not fit into `dst`. `expected` is for error messages.
fn frames(src: &[u8], dst: &mut [u8], expected: Option<usize>) -> Result<Option<usize>> {
    // libzstd takes no bytes for no frames, a legal value of length 0; in a store they are a lost write.
    if src.is_empty() {
        return Err(report::ended(NAME, 0, expected));
    }
    match decompress(NAME, false, src, dst)? {
        Ok(made) => Ok(Some(made)),
        Err(NO_ROOM) => Ok(None),
        Err(NO_MEMORY) => Err(report::no_memory(NAME, Direction::Decode, src.len())),
        Err(code) => Err(diagnose(src, code, expected)),
    }
}

/// One call of the library into memory that is there: needs no window, so no header can make it allocate.
///
/// `old` allows frames of zstd 0.7. Those before it reach no decoder of theirs, in whatever place.
pub fn decompress(
    codec: &'static str,
    old: bool,
    src: &[u8],
    dst: &mut [u8],
) -> Result<std::result::Result<usize, usize>> {
    if !are_allowed(src, old) {
        return Ok(Err(UNKNOWN_PREFIX));
    }
    DECODER.with_borrow_mut(|slot| {
        if slot.is_none() {
            *slot = DCtx::try_create();
        }
        let Some(context) = slot else { return Err(report::no_memory(codec, Direction::Decode, 1 << 18)) };
        Ok(context.decompress(dst, src))
    })
}

/// Whether no frame is of a format that is not decoded. What is no frame at all is left to the decoder to report.
fn are_allowed(src: &[u8], old: bool) -> bool {
    let mut rest = src;
    while let Some(magic) = rest.first_chunk::<4>() {
        if matches!(magic, [0xfd, 0x2f, 0xb5, 0x1e] | [0..=0x26, 0xb5, 0x2f, 0xfd])
            || (*magic == [0x27, 0xb5, 0x2f, 0xfd] && !old)
        {
            return false;
        }
        match zstd_safe::find_frame_compressed_size(rest) {
            Ok(length) if length > 0 && length < rest.len() => rest = &rest[length..],
            _ => break,
        }
    }
    true
}

/// Appends one frame of at most `room` bytes; `None` when it does not fit.
pub fn append(
    codec: &'static str,
    level: i32,
    checksum: bool,
    src: &[u8],
    dst: &mut Vec<u8>,
    room: usize,
) -> Result<Option<usize>> {
    room::reserve(codec, Direction::Encode, dst, room)?;
    let before = dst.len();
    let made = ENCODER.with_borrow_mut(|slot| {
        if slot.as_ref().is_none_or(|encoder| (encoder.level, encoder.checksum) != (level, checksum)) {
            let context = slot.take().map(|encoder| encoder.context).or_else(CCtx::try_create);
            let Some(mut context) = context else { return Err(report::no_memory(codec, Direction::Encode, 1 << 20)) };
            // Whoever ran out of room before has left a frame behind, within which no parameter can be set.
            let _ = context.reset(ResetDirective::SessionOnly);
            for parameter in [CParameter::CompressionLevel(level), CParameter::ChecksumFlag(checksum)] {
                let set = context.set_parameter(parameter);
                set.map_err(|code| Error::encode(codec, zstd_safe::get_error_name(code)))?;
            }
            *slot = Some(Encoder { context, level, checksum });
        }
        let Some(encoder) = slot else { return Ok(None) };
        let mut end = Cursor::new(&mut *dst);
        end.set_position(before as u64);
        let made = encoder.context.compress2(&mut end, src);
        let searched = if level == 0 { DEFAULT_LEVEL } else { level };
        if (searched >= FRESH.0 && src.len() >= FRESH.1) || encoder.context.sizeof() > KEEP {
            *slot = None;
        }
        match made {
            Ok(made) => Ok(Some(made)),
            Err(NO_ROOM) => Ok(None),
            Err(NO_MEMORY) => Err(report::no_memory(codec, Direction::Encode, src.len())),
            Err(code) => Err(Error::encode(codec, zstd_safe::get_error_name(code))),
        }
    })?;
    if made.is_none() || made.is_some_and(|made| made > room) {
        dst.truncate(before);
        return Ok(None);
    }
    Ok(made)
}

/// Says where `src` ends or breaks, by decoding it once more as a stream. Cold and slow.
#[cold]
fn diagnose(src: &[u8], code: usize, expected: Option<usize>) -> Error {
    if code == UNKNOWN_PREFIX && (!are_allowed(src, false) || zstd_safe::find_frame_compressed_size(src).is_err()) {
        return report::foreign(NAME, "a zstd frame (28 b5 2f fd)", src);
    }
    let Some(mut context) = DCtx::try_create() else { return report::no_memory(NAME, Direction::Decode, 1 << 18) };
    // A stream needs a window of its own: cap it, a frame that wants more is then reported without its position.
    let _ = context.set_parameter(DParameter::WindowLogMax(24));
    let Some(mut window) = room::zeroed(WINDOW) else { return report::no_memory(NAME, Direction::Decode, WINDOW) };
    let mut input = InBuffer::around(src);
    let (mut total, mut frame_ended) = (0, false);
    loop {
        let mut output = OutBuffer::around(window.as_mut_slice());
        let step = context.decompress_stream(&mut output, &mut input);
        let made = output.pos();
        total += made;
        match step {
            Ok(0) => frame_ended = true,
            Ok(_) if made == window.len() => frame_ended = false,
            Ok(_) if input.pos() == src.len() => return report::ended(NAME, total, expected),
            Ok(_) => frame_ended = false,
            Err(UNKNOWN_PREFIX) if frame_ended => return report::trailing(NAME, src.len() - input.pos()),
            Err(CHECKSUM_WRONG) => {
                let mut error = report::damaged(NAME, total, expected);
                error.kind = crate::error::Kind::Checksum;
                error.reason = "the checksum does not match the data".to_owned();
                return error;
            }
            Err(NO_MEMORY) => return report::no_memory(NAME, Direction::Decode, window.len()),
            Err(_) => return report::damaged(NAME, total, expected),
        }
        if frame_ended && input.pos() == src.len() {
            // The stream decoder is content where the one-shot decoder was not.
            return Error::decode(NAME, zstd_safe::get_error_name(code));
        }
    }
}
