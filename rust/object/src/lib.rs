//! Objects in S3, Google Cloud, Azure or behind HTTP, for the engine: requests run outside of Python, on threads of their own.
//!
//! 1. [`settings`] turns what a user has configured into a store of the `object_store` crate, which signs requests, makes
//!    them again and reads answers.
//! 2. [`exchange`] stands between that crate and the HTTP client. It notes what was asked and answered, so that the
//!    meaning of a failure comes from the status and the code of an answer, never from the text of an error. [`encoding`]
//!    undoes a compression, and [`xml`] reads what stores say.
//! 3. [`connections`] has the HTTP clients, which stores with the same options share.
//! 4. [`limiter`] decides how many requests are in flight, by what was learnt of a server ([`servers`]).
//! 5. [`client`] makes the requests for one value: ranges, of one version, or the whole.
//! 6. [`write`] makes those that change what is stored, some of them on the condition that an object is of a version.
//! 7. [`reader`] is the engine's view of values.

#![forbid(unsafe_code)]

pub mod client;
pub mod connections;
pub mod encoding;
pub mod exchange;
pub mod failure;
pub mod limiter;
pub mod list;
pub mod reader;
pub mod runtime;
pub mod servers;
pub mod settings;
pub mod spans;
pub mod traffic;
pub mod write;
pub mod xml;
