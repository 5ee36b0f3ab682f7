//! What the machine can do: the bytes of a benchmark row with plain reads or writes and the bare codec, on every core, into
//! memory that is already there. No format, no planning, no assembly of chunks into an array.
//!
//! The C functions below are called through ctypes. Each gets a list prepared beforehand, so that nothing but reading,
//! writing and coding is timed. They return -1, or the index of the first piece or file that failed.

mod codec;
mod every_core;
mod files;

use std::ffi::{c_char, CStr};

pub use codec::Codec;
use files::{list, read_piece, update_file, write_file};

/// A range of a file that decodes to `size` bytes at `memory`.
#[repr(C)]
pub struct Piece {
    path: *const c_char,
    offset: u64,
    stored: u64,
    size: u64,
    memory: *mut u8,
}

/// A file made of pieces one after the other and `trailer` more bytes, as a shard has its index.
#[repr(C)]
pub struct File {
    path: *const c_char,
    pieces: *const Piece,
    count: usize,
    trailer: u64,
}

// SAFETY: the caller keeps what the pointers name alive and apart from each other for the time of one call.
unsafe impl Sync for Piece {}
// SAFETY: as above.
unsafe impl Sync for File {}

unsafe fn slice<'a, T>(start: *const T, count: usize) -> &'a [T] {
    if count == 0 {
        &[]
    } else {
        std::slice::from_raw_parts(start, count)
    }
}

/// Read and decode every piece.
///
/// # Safety
/// `pieces` names `count` pieces, each with a path that ends in NUL and `size` writable bytes, none overlapping another.
#[no_mangle]
pub unsafe extern "C" fn limit_read(codec: &Codec, pieces: *const Piece, count: usize, threads: usize) -> i64 {
    let pieces = slice(pieces, count);
    every_core::run(count, threads, |scratch, index| read_piece(codec, &pieces[index], scratch))
}

/// Encode every piece and write every file.
///
/// # Safety
/// `files` names `count` files, each with pieces as for `limit_read`.
#[no_mangle]
pub unsafe extern "C" fn limit_write(codec: &Codec, files: *const File, count: usize, threads: usize) -> i64 {
    let files = slice(files, count);
    every_core::run(count, threads, |scratch, index| write_file(codec, &files[index], scratch))
}

/// Read every file whole, decode and encode its pieces, and write the file again.
///
/// # Safety
/// As for `limit_write`.
#[no_mangle]
pub unsafe extern "C" fn limit_update(codec: &Codec, files: *const File, count: usize, threads: usize) -> i64 {
    let files = slice(files, count);
    every_core::run(count, threads, |scratch, index| update_file(codec, &files[index], scratch))
}

/// List a directory and read `zarr.json` in every directory in it; return how many bytes these have, or -1.
///
/// # Safety
/// `path` ends in NUL.
#[no_mangle]
pub unsafe extern "C" fn limit_list(path: *const c_char) -> i64 {
    list(CStr::from_ptr(path))
}
