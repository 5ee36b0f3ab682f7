//! What a codec has accepted although it should not be there: zeros behind the encoded data. The values are certain, so
//! this is no failure, but whoever reads or checks is told of it.
//!
//! A codec knows neither its array nor its chunk, so it leaves a note in its thread, and who has the key of the chunk takes
//! that. Inner chunks that other threads decode are not noted: no program is known that wrote such shards.

use std::cell::Cell;

use crate::codec::report;
use crate::error::{Error, Kind};

thread_local! {
    static NOTED: Cell<Option<(&'static str, usize)>> = const { Cell::new(None) };
}

/// Notes that so many zeros follow what this codec has decoded.
#[cold]
pub(crate) fn note(codec: &'static str, count: usize) {
    NOTED.set(Some((codec, count)));
}

/// Decodes one chunk; an error that nobody need raise says what was noted meanwhile.
pub(crate) fn noting<T>(decode: impl FnOnce() -> T) -> (T, Option<Error>) {
    NOTED.set(None);
    let done = decode();
    let told = NOTED.take().map(|(codec, count)| {
        let reason = format!("{} zero bytes follow the end of the encoded data", report::grouped(count));
        Error { codec: Some(codec), ..Error::new(Kind::Codec, reason) }
    });
    (done, told)
}
