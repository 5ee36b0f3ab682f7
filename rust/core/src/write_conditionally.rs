//! Writing back what was merged only if nobody else has written meanwhile, for stores that can tell.
//!
//! Locks keep writers of this process apart, not those of others. If one of them was faster, all begins again with what is
//! stored then, so the parts of all writers are kept. Somebody gets further each time, so nobody waits for who is gone.

use std::time::{Duration, Instant};

use crate::error::{Error, Kind, Result};
use crate::interrupt::Interrupt;
use crate::notices::{self, Topic};
use crate::store::Conditional;

/// So often it is tried again at once.
const AT_ONCE: u32 = 10;
/// From then on each pause is longer by so much than the one before, but no longer than this.
const STEP: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_millis(100);
/// How long a write may be refused although the value is still of the version that it is to replace: others may be at work.
const UNFOUNDED: Duration = Duration::from_millis(if cfg!(test) { 100 } else { 30_000 });
/// How long a write may be refused at all.
const PATIENCE: Duration = Duration::from_millis(if cfg!(test) { 300 } else { 300_000 });

/// Calls `write` with what is stored and its version, until it has found that it could replace it.
///
/// A server that refuses what it should not (an intermediary that gives values other versions than the server compares)
/// is an error, and so is a value that others change all the time.
pub fn persistently(
    store: &dyn Conditional,
    key: &str,
    interrupt: Interrupt<'_>,
    mut write: impl FnMut(Option<&[u8]>, Option<&str>) -> Result<bool>,
) -> Result<()> {
    let begun = Instant::now();
    let mut attempts = 0u32;
    let mut refused: Option<(Option<String>, Instant)> = None;
    loop {
        let stored = store.get_with_version(key)?;
        let (bytes, version) = stored.as_ref().map(|(bytes, version)| (bytes.as_slice(), version.as_str())).unzip();
        if write(bytes, version)? {
            return Ok(());
        }
        interrupt()?;
        attempts = attempts.saturating_add(1);
        notices::add(Topic::Conflicts, format!("{key} was replaced by somebody else; merged anew, attempt {attempts}"));
        let since = match refused {
            Some((before, since)) if before.as_deref() == version => since,
            _ => Instant::now(),
        };
        let why = if since.elapsed() >= UNFOUNDED {
            Some("although nobody changed it; something between here and the store may change its ETags")
        } else if begun.elapsed() >= PATIENCE {
            Some("as others changed it each time")
        } else {
            None
        };
        if let Some(why) = why {
            let seconds = begun.elapsed().as_secs();
            let reason = format!("the store refused {attempts} attempts in {seconds} s to replace the value, {why}");
            return Err(Error::new(Kind::Store, reason).at_key(key));
        }
        refused = Some((version.map(str::to_owned), since));
        std::thread::sleep(STEP.saturating_mul(attempts.saturating_sub(AT_ONCE)).min(LONGEST));
    }
}
