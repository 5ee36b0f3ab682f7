//! Tests of the engine as a whole, against models that do everything the slow and obvious way.

mod caches;
mod check;
mod counting;
mod edges;
mod engine;
mod gathered;
mod geometry;
pub mod random;
mod requests;
mod stepwise;
mod versions;
mod within;

use crate::array::{Keys, Places};

/// Keys of chunks of an array at `a`, with slashes; `axes` as [`Keys`] has it.
fn keys(axes: usize) -> Keys {
    Keys {
        prefix: "a/".into(),
        head: "c/".into(),
        separator: "/".into(),
        scalar: "c".into(),
        axes,
        places: Places::Indices,
    }
}
