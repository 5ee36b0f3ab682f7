//! The engine of blizzarr: bytes between stores and memory. No Python in here.

pub mod codec;
pub mod error;
pub mod store;
