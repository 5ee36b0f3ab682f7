//! Writing back what was merged only if nobody else has written meanwhile, for stores that can tell.
//!
//! Locks keep writers of this process apart, not those of others. If one of them was faster, all begins again with what is
//! stored then, so the parts of all writers are kept. Somebody gets further each time, so nobody waits for who is gone.

use std::time::Duration;

use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::store::Conditional;

/// So often it is tried again at once.
const AT_ONCE: u32 = 10;
/// From then on each pause is longer by so much than the one before, but no longer than this.
const STEP: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_millis(100);

/// Calls `write` with what is stored and its version, until it has found that it could replace it.
pub fn persistently(
    store: &dyn Conditional,
    key: &str,
    interrupt: Interrupt<'_>,
    mut write: impl FnMut(Option<&[u8]>, Option<&str>) -> Result<bool>,
) -> Result<()> {
    let mut attempts = 0u32;
    loop {
        let found = store.get_with_version(key)?;
        let (bytes, version) = found.as_ref().map(|(bytes, version)| (bytes.as_slice(), version.as_str())).unzip();
        if write(bytes, version)? {
            return Ok(());
        }
        interrupt()?;
        attempts = attempts.saturating_add(1);
        std::thread::sleep(STEP.saturating_mul(attempts.saturating_sub(AT_ONCE)).min(LONGEST));
    }
}
