//! The version of a stored value, without reading the value.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::fork::PerProcess;

/// The answer of a store about a value that it does not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// There is no value.
    Missing,
    Is(Version),
    /// The store cannot tell without reading the value.
    Unknown,
}

/// Numbers that differ between two versions of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    numbers: [u64; 6],
    /// Whether a later version is sure to have other numbers. A file that was changed only just now is not settled: clocks
    /// of file systems are coarse, so its next version may get the same time and the same inode.
    settled: bool,
}

impl Version {
    pub const fn new(numbers: [u64; 6], settled: bool) -> Self {
        Version { numbers, settled }
    }

    /// The version with this name; a hash of 128 bits tells two names apart.
    pub fn named(name: &[u8]) -> Self {
        static KEYS: PerProcess<[RandomState; 2]> = PerProcess::new(|| [RandomState::new(), RandomState::new()]);
        let hash = |state: &RandomState| {
            let mut hasher = state.build_hasher();
            hasher.write(name);
            hasher.finish()
        };
        let [first, second] = KEYS.get();
        Version::new([hash(first), hash(second), name.len() as u64, 0, 0, 0], true)
    }

    /// A name of the version for others; a version that is not settled gets a name that no other version will have.
    pub fn name(&self) -> Vec<u8> {
        if !self.settled {
            return Self::unlike_any();
        }
        self.numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    /// A name that no version has.
    pub fn unlike_any() -> Vec<u8> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed).to_le_bytes().to_vec()
    }

    /// Whether a later version is sure to have other numbers.
    pub fn is_settled(&self) -> bool {
        self.settled
    }

    /// Whether both have the same numbers; versions of a file that nobody has open may share their numbers.
    pub fn equals(&self, other: &Version) -> bool {
        self.numbers == other.numbers
    }

    /// Whether bytes of this version are still those of the version `now`.
    pub fn still(&self, now: &Version) -> bool {
        self.settled && self.numbers == now.numbers
    }
}
