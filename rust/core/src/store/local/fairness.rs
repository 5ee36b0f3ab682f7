//! Which process goes first among those that want the same lock, so that nobody waits for ever.
//!
//! A lock that is only tried for favours whoever comes back at once over those who sleep between two tries. And while
//! several processes write chunk after chunk, a try hardly ever meets a moment when all chunks are free together. So
//! whoever waits puts up a *sign*, and those who come later give way.
//!
//! | bytes of the document | lock | meaning |
//! |---|---|---|
//! | 0 to 2^62 | exclusive | somebody has the whole; byte 0 tells this from a chunk |
//! | 1 + part | exclusive | somebody writes this chunk |
//! | 2^62 + 1 | shared | a sign: somebody waits for the whole |
//! | 2^62 + 2 + part | shared | a sign: somebody has waited for this chunk longer than [`OVERDUE`] |
//!
//! 1. Whoever comes looks for signs. There are hardly ever any, so this is one question to the system. Whoever meets a sign
//!    for something that excludes his own lock waits until somebody has gone first: until the sign is gone, or until what
//!    it asks for has been taken.
//! 2. He then tries for his lock, and puts up his own sign if that takes long. He does not look for signs again.
//!
//! So whoever waits for the whole lets each of the others go on for a millisecond or one more chunk at most
//! ([`super::process_lock`] has them look that often), and after each change of the whole those who waited have a chance.
//!
//! Signs exclude nobody: what is written stays correct whatever they say. Like all locks of the system they are gone when
//! their process is. A process that is stopped while its sign is up costs the others [`ABSENT`] each time: nobody gives way
//! for longer to somebody who could take the lock and does not. Releases that know nothing of signs are excluded as
//! before, because the exclusive locks are the same; they give way to nobody.

use std::io;
use std::time::{Duration, Instant};

use super::super::exclusion::Scope;
use crate::error::Result;
use crate::interrupt::{Interrupt, Patience};

#[cfg(all(test, shuttle))]
mod model;
#[cfg(all(test, any(target_os = "linux", windows)))]
mod tests;

/// First byte and number of bytes.
pub type Range = (i64, i64);

// On Windows all of this is moved behind the end of the file.
const PARTS: i64 = 1 << if cfg!(windows) { 60 } else { 62 };
const WHOLE: Range = (0, PARTS + 1);
/// All bytes for signs; a length of 0 means: without end.
const SIGNS: Range = (PARTS + 1, 0);
const SIGN_FOR_WHOLE: Range = (PARTS + 1, 1);

/// From when on a process that waits for a chunk is given way to. Many are let in sooner, and handing over each time costs
/// more than it is worth.
const OVERDUE: Duration = if cfg!(all(test, shuttle)) { Duration::ZERO } else { Duration::from_millis(10) };

/// Ten times the longest nap: a process that has not tried for so long is stopped. None is in the model.
const ABSENT: Duration = if cfg!(all(test, shuttle)) { Duration::MAX } else { Duration::from_millis(100) };

/// The bytes that a scope locks.
pub const fn range(scope: Scope) -> Range {
    match scope {
        Scope::Part(part) => (1 + (part % PARTS as u64) as i64, 1),
        Scope::Whole => WHOLE,
    }
}

const fn sign(scope: Scope) -> Range {
    match scope {
        // Half as many as parts, so that the last one has a byte, too.
        Scope::Part(part) => (PARTS + 2 + (part % (PARTS as u64 / 2)) as i64, 1),
        Scope::Whole => SIGN_FOR_WHOLE,
    }
}

/// Locks on the bytes of one open file. Its own locks never stand in its way.
pub trait ByteLocks {
    fn try_exclusive(&self, range: Range) -> io::Result<()>;

    fn try_shared(&self, range: Range) -> io::Result<()>;

    fn unlock(&self, range: Range);

    /// Some range within this one that others have locked, shared or not. Nobody, where the system does not know.
    fn held_by_others(&self, range: Range) -> Option<Range>;

    /// Whether this open file itself has parts locked, for other threads.
    fn holds_parts(&self) -> bool;
}

/// Waits for an exclusive lock, at first for those who wait already if the caller `gives_way`. `Ok(Err(cause))` is what the
/// system said.
pub fn acquire(
    locks: &impl ByteLocks,
    scope: Scope,
    gives_way: bool,
    interrupt: Interrupt<'_>,
) -> Result<io::Result<()>> {
    if gives_way {
        give_way(locks, scope, interrupt)?;
    }
    let (mut patience, mut sign): (Option<Patience>, _) = (None, None);
    loop {
        match locks.try_exclusive(range(scope)) {
            Ok(()) => return Ok(Ok(())),
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => interrupt()?,
            Err(cause) if is_held(&cause) => {
                interrupt()?;
                let patience = patience.get_or_insert_default();
                if sign.is_none() && (scope == Scope::Whole || patience.waited() >= OVERDUE) {
                    sign = Sign::put_up(locks, scope);
                }
                nap(patience);
            }
            Err(cause) => return Ok(Err(cause)),
        }
    }
}

/// Lets somebody go first who waits already.
fn give_way(locks: &impl ByteLocks, scope: Scope, interrupt: Interrupt<'_>) -> Result<()> {
    let mut patience: Option<Patience> = None;
    let mut free_since: Option<Instant> = None;
    while let Some(wanted) = wanted_by_others(locks, scope) {
        match locks.held_by_others(wanted) {
            // What this process wants is taken, and perhaps by those who waited.
            Some((first, _)) if scope == Scope::Whole || wanted != WHOLE || first == WHOLE.0 => break,
            None if !locks.holds_parts() => {
                if free_since.get_or_insert_with(Instant::now).elapsed() >= ABSENT {
                    break;
                }
            }
            // Chunks are still being written, and no new ones are begun.
            _ => free_since = None,
        }
        interrupt()?;
        nap(patience.get_or_insert_default());
    }
    Ok(())
}

/// What others wait for that excludes this scope.
fn wanted_by_others(locks: &impl ByteLocks, scope: Scope) -> Option<Range> {
    locks.held_by_others(SIGNS)?;
    match scope {
        Scope::Whole => Some(WHOLE),
        Scope::Part(_) if locks.held_by_others(SIGN_FOR_WHOLE).is_some() => Some(WHOLE),
        Scope::Part(_) => locks.held_by_others(sign(scope)).map(|_| range(scope)),
    }
}

/// Says that somebody waits, until it is dropped.
struct Sign<'a, L: ByteLocks> {
    locks: &'a L,
    range: Range,
}

impl<'a, L: ByteLocks> Sign<'a, L> {
    /// `None` while a release that locks all bytes for the whole has it.
    fn put_up(locks: &'a L, scope: Scope) -> Option<Self> {
        let range = sign(scope);
        locks.try_shared(range).ok().map(|()| Sign { locks, range })
    }
}

impl<L: ByteLocks> Drop for Sign<'_, L> {
    fn drop(&mut self) {
        self.locks.unlock(self.range);
    }
}

#[cfg(not(all(test, shuttle)))]
fn nap(patience: &mut Patience) {
    patience.nap();
}

#[cfg(all(test, shuttle))]
fn nap(_patience: &mut Patience) {
    shuttle::thread::yield_now();
}

/// Whether somebody else has it.
#[cfg(unix)]
fn is_held(cause: &io::Error) -> bool {
    matches!(cause.raw_os_error(), Some(libc::EAGAIN | libc::EACCES))
}

#[cfg(windows)]
use super::by_handle::is_held;
