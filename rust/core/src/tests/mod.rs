//! Tests of the engine as a whole, against models that do everything the slow and obvious way.

mod caches;
mod check;
mod counting;
mod edges;
mod engine;
mod geometry;
pub mod random;
mod within;
