//! Which version of a value is stored, told without reading it.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::fork::PerProcess;

/// What a store says of a value that it does not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// There is none.
    Missing,
    Is(Version),
    /// The store cannot say without reading it.
    Unknown,
}

/// Numbers that differ between two versions of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    numbers: [u64; 6],
    /// A later version will have other numbers. Not so of a file that has been changed only just now: clocks of file
    /// systems are coarse, and its next version may get the same time, and the same inode.
    settled: bool,
}

impl Version {
    pub const fn new(numbers: [u64; 6], settled: bool) -> Self {
        Version { numbers, settled }
    }

    /// The version that a store calls by this name. Two names differ for certain as far as 128 bits can.
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

    /// What others may call it; of a version that is not settled, what nothing else will be called.
    pub fn name(&self) -> Vec<u8> {
        if !self.settled {
            return Self::unlike_any();
        }
        self.numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    /// The name of no version.
    pub fn unlike_any() -> Vec<u8> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed).to_le_bytes().to_vec()
    }

    /// Whether a later version is sure to have other numbers.
    pub fn is_settled(&self) -> bool {
        self.settled
    }

    /// Whether both have the same numbers, which versions of a file may share that nobody has open.
    pub fn equals(&self, other: &Version) -> bool {
        self.numbers == other.numbers
    }

    /// Whether what was read as this version is what is stored as `now`.
    pub fn still(&self, now: &Version) -> bool {
        self.settled && self.numbers == now.numbers
    }
}
