//! Sums of what this process has read from object stores, and written to them.

use std::sync::atomic::{AtomicU64, Ordering};

/// The protocols of stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    S3,
    Gcs,
    Azure,
    Http,
}

pub const PROTOCOLS: [(Protocol, &str); 4] =
    [(Protocol::S3, "s3"), (Protocol::Gcs, "gcs"), (Protocol::Azure, "azure"), (Protocol::Http, "http")];

/// What is counted.
#[derive(Debug, Clone, Copy)]
pub enum Count {
    Read,
    BytesRead,
    Write,
    BytesWritten,
}

const NAMES: [&str; 4] = ["read", "bytes_read", "write", "bytes_written"];

static SUMS: [[AtomicU64; NAMES.len()]; PROTOCOLS.len()] =
    [const { [const { AtomicU64::new(0) }; NAMES.len()] }; PROTOCOLS.len()];

pub fn add(protocol: Protocol, what: Count, more: u64) {
    SUMS[protocol as usize][what as usize].fetch_add(more, Ordering::Relaxed);
}

/// All sums that are not 0, by the names of the protocol and of what is counted.
pub fn sums() -> impl Iterator<Item = (&'static str, &'static str, u64)> {
    PROTOCOLS
        .into_iter()
        .zip(&SUMS)
        .flat_map(|((_, protocol), sums)| {
            NAMES.into_iter().zip(sums).map(move |(name, sum)| (protocol, name, sum.load(Ordering::Relaxed)))
        })
        .filter(|(_, _, sum)| *sum > 0)
}
