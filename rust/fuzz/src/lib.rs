//! What the fuzz targets do, one module per target: each takes bytes, makes something valid of them, damages it where a format
//! has its numbers, and compares what the engine says of it with a model that does everything the slow and obvious way.
//!
//! Bytes alone find nothing here: a flipped bit of a compressed stream is refused by the first check it meets. So the bytes are
//! choices ([`input::Input`]): of a codec's options, of a value that it encodes, of header fields and what they are to say.

pub mod input;
mod model;
mod mutation;
mod room;
mod store;

mod blosc;
mod chunk;
mod codec;
mod deflate;
mod keys;
mod lz4;
mod n5;
mod numbers;
mod plan;
mod segmentation;
mod shard;
mod strided;
mod uint64_shard;
mod vlen;
mod zstd;

pub use blosc::blosc;
pub use chunk::chunk;
pub use deflate::gzip;
pub use keys::keys;
pub use lz4::lz4;
pub use n5::n5;
pub use numbers::numbers;
pub use plan::plan;
pub use segmentation::segmentation;
pub use shard::shard;
pub use strided::strided;
pub use uint64_shard::uint64_shard;
pub use vlen::vlen;
pub use zstd::zstd;
