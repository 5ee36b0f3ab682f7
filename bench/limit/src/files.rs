//! Plain reads and writes: open, pread or write, close.

use std::ffi::{c_char, c_int, CStr};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::codec::{Codec, Scratch, RAW};
use crate::{slice, File, Piece};

/// Read and decode one piece.
pub fn read_piece(codec: &Codec, piece: &Piece, scratch: &mut Scratch) -> bool {
    // SAFETY: the caller of `limit_read` promises this much memory, for this piece alone.
    let out = unsafe { std::slice::from_raw_parts_mut(piece.memory, piece.size as usize) };
    if codec.kind == RAW {
        return with_open(piece.path, libc::O_RDONLY, |file| read_at(file, out, piece.offset));
    }
    let stored = piece.stored as usize;
    scratch.set_used(stored);
    with_open(piece.path, libc::O_RDONLY, |file| read_at(file, &mut scratch.encoded[..stored], piece.offset))
        && codec.decode(scratch, 0..stored, out)
}

/// Encode the pieces of one file and write it.
pub fn write_file(codec: &Codec, file: &File, scratch: &mut Scratch) -> bool {
    scratch.set_used(0);
    // SAFETY: the caller of `limit_write` promises the pieces and their memory.
    let pieces = unsafe { slice(file.pieces, file.count) };
    if codec.kind == RAW && pieces.len() == 1 && file.trailer == 0 {
        return write_whole(file.path, memory_of(&pieces[0]));
    }
    if !pieces.iter().all(|piece| codec.encode(scratch, memory_of(piece))) {
        return false;
    }
    let start = scratch.used;
    scratch.set_used(start + file.trailer as usize);
    scratch.encoded[start..scratch.used].fill(0);
    write_whole(file.path, &scratch.encoded[..scratch.used])
}

/// Read one file, decode and encode its pieces, and write it again as long as it was.
pub fn update_file(codec: &Codec, file: &File, scratch: &mut Scratch) -> bool {
    // SAFETY: the caller of `limit_update` promises the pieces and their memory.
    let pieces = unsafe { slice(file.pieces, file.count) };
    let length = with_length(file.path).unwrap_or(0);
    scratch.set_used(length);
    if !with_open(file.path, libc::O_RDONLY, |open| read_at(open, &mut scratch.encoded[..length], 0)) {
        return false;
    }
    for piece in pieces {
        let range = piece.offset as usize..(piece.offset + piece.stored) as usize;
        // SAFETY: as in `read_piece`.
        let out = unsafe { std::slice::from_raw_parts_mut(piece.memory, piece.size as usize) };
        if !codec.decode(scratch, range, out) || !codec.encode(scratch, out) {
            return false;
        }
        // The piece is the same as before, so what was encoded behind the file is not needed in its place.
        scratch.used = length;
    }
    write_whole(file.path, &scratch.encoded[..length])
}

/// Read the documents of all that is in a directory.
pub fn list(path: &CStr) -> i64 {
    let Ok(entries) = fs::read_dir(Path::new(std::ffi::OsStr::from_bytes(path.to_bytes()))) else { return -1 };
    let mut bytes = 0;
    for entry in entries.flatten() {
        match fs::read(entry.path().join("zarr.json")) {
            Ok(document) => bytes += document.len() as i64,
            Err(_) if entry.file_name() == "zarr.json" => {}
            Err(_) => return -1,
        }
    }
    bytes
}

fn memory_of(piece: &Piece) -> &[u8] {
    // SAFETY: the caller of the C function promises this much memory.
    unsafe { std::slice::from_raw_parts(piece.memory, piece.size as usize) }
}

fn with_open(path: *const c_char, flags: c_int, work: impl FnOnce(c_int) -> bool) -> bool {
    // SAFETY: the path ends in NUL; the descriptor is closed once.
    unsafe {
        let file = libc::open(path, flags | libc::O_CLOEXEC, 0o666);
        if file < 0 {
            return false;
        }
        let done = work(file);
        libc::close(file) == 0 && done
    }
}

fn with_length(path: *const c_char) -> Option<usize> {
    // SAFETY: the path ends in NUL, and stat fills the structure when it returns 0.
    unsafe {
        let mut facts = std::mem::zeroed::<libc::stat>();
        (libc::stat(path, &mut facts) == 0).then_some(facts.st_size as usize)
    }
}

fn read_at(file: c_int, mut out: &mut [u8], mut offset: u64) -> bool {
    while !out.is_empty() {
        // SAFETY: `out` is writable for its length.
        let read = unsafe { libc::pread(file, out.as_mut_ptr().cast(), out.len(), offset as libc::off_t) };
        if read <= 0 {
            return false;
        }
        out = &mut out[read as usize..];
        offset += read as u64;
    }
    true
}

fn write_whole(path: *const c_char, mut data: &[u8]) -> bool {
    with_open(path, libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC, |file| {
        while !data.is_empty() {
            // SAFETY: `data` is readable for its length.
            let written = unsafe { libc::write(file, data.as_ptr().cast(), data.len()) };
            if written <= 0 {
                return false;
            }
            data = &data[written as usize..];
        }
        true
    })
}
