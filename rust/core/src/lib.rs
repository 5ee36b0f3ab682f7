//! The engine of blizzarr: bytes between stores and memory. No Python in here.
//!
//! [`read::read`] and [`write::write`] move elements between an array's chunks and the caller's memory. A request is a
//! [`region::Region`]; [`split::Split`] takes it apart along a grid; [`chain::Chain`] knows how a chunk is encoded;
//! [`store::Store`] holds the bytes; [`pool`] runs the loop over chunks.

#![deny(unsafe_code)]
#![deny(unsafe_op_in_unsafe_fn)]
#![warn(clippy::undocumented_unsafe_blocks)]

pub mod array;
pub mod cache;
pub mod chain;
pub mod chains;
pub mod check;
mod check_shard;
pub mod codec;
pub mod document;
pub mod error;
pub mod fill;
pub mod fork;
pub mod grid;
mod index;
pub mod interrupt;
pub mod memory;
pub mod notices;
pub mod panics;
pub mod pool;
pub mod progress;
pub mod read;
mod read_ahead;
mod read_cached;
pub mod read_element;
mod read_packed;
mod read_raw;
mod read_shard;
pub mod reduce;
pub mod region;
pub mod reserve;
pub mod results;
pub mod salvage;
mod salvage_index;
pub mod scratch;
pub mod source;
pub mod split;
mod split_parts;
mod square;
pub mod store;
pub mod stored;
mod stream;
mod strided;
pub mod subchunk_order;
mod surplus;
#[cfg(test)]
mod tests;
pub mod write;
mod write_conditionally;
pub mod write_gathered;
mod write_shard;
