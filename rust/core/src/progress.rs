//! How far this process has come: sums of what it has done, which wrap. One call may take minutes for one shard; whoever
//! shows its progress looks at these from another thread.

use std::sync::atomic::{AtomicU64, Ordering};

/// What is counted.
#[derive(Clone, Copy)]
pub(crate) enum Count {
    /// Bytes of wanted elements, as each chunk (or inner chunk) is decoded.
    Decoded,
    /// Bytes of elements, as each chunk (or inner chunk) is encoded.
    Encoded,
    /// Files opened to be read.
    FilesOpened,
    /// Reads of a file, or of parts of it.
    FileReads,
    FileBytesRead,
    /// Values stored in, or removed from, directories.
    FileWrites,
    FileBytesWritten,
    /// Removals of whole directories.
    FileRangesDeleted,
    /// Decoded chunks, or indexes of shards, that a pool had.
    CacheHits,
    CacheMisses,
    CacheEvictions,
}

const NAMES: [&str; 11] = [
    "decoded",
    "encoded",
    "files_opened",
    "file_reads",
    "file_bytes_read",
    "file_writes",
    "file_bytes_written",
    "file_ranges_deleted",
    "cache_hits",
    "cache_misses",
    "cache_evictions",
];

static SUMS: [AtomicU64; NAMES.len()] = [const { AtomicU64::new(0) }; NAMES.len()];

pub(crate) fn add(what: Count, more: usize) {
    SUMS[what as usize].fetch_add(more as u64, Ordering::Relaxed);
}

/// All sums, by name.
pub fn so_far() -> impl Iterator<Item = (&'static str, u64)> {
    NAMES.into_iter().zip(SUMS.iter().map(|sum| sum.load(Ordering::Relaxed)))
}
