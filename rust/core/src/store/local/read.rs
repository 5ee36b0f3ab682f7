//! One version of one value: an open file keeps what it was opened on, also when the key gets a new value meanwhile.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, IoSliceMut};

use super::super::version::{Status, Version};
use super::super::{ranges, Reader};
use super::place::{is_link, Access, Place};
use super::times::Times;
use crate::error::{Error, Kind, Result};
use crate::progress::{self, Count};

pub struct OpenFile<'a> {
    key: &'a str,
    file: File,
    size: u64,
    times: Times,
}

impl<'a> OpenFile<'a> {
    /// `None` only when there is no such file; a directory, FIFO, socket, device or link to nothing is an error and is not
    /// waited for.
    pub fn open(key: &'a str, place: Place<'_>) -> Result<Option<Self>> {
        let opened = match place.open(Access::ReadItself) {
            Err(cause) if is_link(&cause) => match place.open(Access::Read) {
                Err(cause) if cause.kind() == ErrorKind::NotFound => return Err(refused(key, BROKEN, libc::ENXIO)),
                opened => opened,
            },
            opened => opened,
        };
        match opened.and_then(|file| inspect(&file).map(|entry| (file, entry))) {
            Ok((file, Entry::File(size, times))) => {
                progress::add(Count::FilesOpened, 1);
                Ok(Some(OpenFile { key, file, size, times }))
            }
            Ok((_, entry)) => Err(entry.refused(key)),
            Err(cause) if cause.kind() == ErrorKind::NotFound => check_directory(key, place.parent()).map(|()| None),
            Err(cause) => Err(Error::io(key, "open", &cause)),
        }
    }

    /// Refuses bytes that the value does not have.
    fn check(&self, offset: u64, wanted: usize) -> Result<()> {
        match offset.checked_add(wanted as u64) {
            Some(end) if end <= self.size => Ok(()),
            _ => Err(ranges::truncated(offset, wanted, self.size).at_key(self.key)),
        }
    }

    /// Reads at `offset` until `buffer` is full; a file that has been cut since it was opened is an error.
    fn fill(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        read_exact_at(&self.file, buffer, offset).map_err(|cause| self.failed(offset, buffer.len(), &cause))
    }

    fn failed(&self, offset: u64, wanted: usize, cause: &io::Error) -> Error {
        match cause.kind() {
            ErrorKind::UnexpectedEof => ranges::truncated(offset, wanted, self.size_now()).at_key(self.key),
            _ => Error::io(self.key, "read", cause),
        }
    }

    fn size_now(&self) -> u64 {
        self.file.metadata().map_or(self.size, |metadata| metadata.len())
    }
}

fn has_read(bytes: usize) {
    progress::add(Count::FileReads, 1);
    progress::add(Count::FileBytesRead, bytes);
}

/// The length of the value in this file, looked up without opening it.
pub fn size(key: &str, place: Place<'_>) -> Result<Option<u64>> {
    match place.metadata() {
        Ok(metadata) => match Entry::new(&metadata) {
            Entry::File(size, _) => Ok(Some(size)),
            found => Err(found.refused(key)),
        },
        Err(cause) if cause.kind() == ErrorKind::NotFound => check_missing(key, place).map(|()| None),
        Err(cause) => Err(Error::io(key, "look up", &cause)),
    }
}

/// Which version of the value is in this file, looked up without opening it.
pub fn status(key: &str, place: Place<'_>) -> Result<Status> {
    match place.metadata().map(|metadata| Entry::new(&metadata)) {
        Ok(Entry::File(size, times)) => Ok(times.version(size).map_or(Status::Unknown, Status::Is)),
        Ok(entry) => Err(entry.refused(key)),
        Err(cause) if cause.kind() == ErrorKind::NotFound => check_missing(key, place).map(|()| Status::Missing),
        Err(cause) => Err(Error::io(key, "look up", &cause)),
    }
}

/// Refuses to call a value missing whose file is a link to nothing, or behind one.
fn check_missing(key: &str, place: Place<'_>) -> Result<()> {
    match place.is_broken_link() {
        Ok(Some(true)) => Err(refused(key, BROKEN, libc::ENXIO)),
        _ => check_directory(key, place.parent()),
    }
}

/// Refuses to call missing what should be in a directory that is a link to nothing, or behind one.
pub fn check_directory(key: &str, directory: Place<'_>) -> Result<()> {
    if !directory.is_behind_broken_link() {
        return Ok(());
    }
    let reason = format!("one of the directories that it should be in is {BROKEN}");
    Err(Error { key: Some(key.into()).filter(|_| !key.is_empty()), ..Error::new(Kind::Store, reason) })
}

/// Whether there is a value in this file, looked up without opening it; not where a directory is in its place, or a file
/// in the place of a directory above it.
pub fn has(key: &str, place: Place<'_>) -> Result<bool> {
    match place.metadata() {
        Ok(metadata) => Ok(metadata.is_file()),
        Err(cause) if matches!(cause.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(false),
        Err(cause) => Err(Error::io(key, "look up", &cause)),
    }
}

const BROKEN: &str = "a link to nothing: bring its target back, or remove it";

/// What is at a path.
enum Entry {
    File(u64, Times),
    Directory,
    Other,
}

impl Entry {
    fn new(metadata: &Metadata) -> Self {
        match metadata.file_type() {
            kind if kind.is_file() => Entry::File(metadata.len(), Times::new(metadata)),
            kind if kind.is_dir() => Entry::Directory,
            _ => Entry::Other,
        }
    }

    fn refused(&self, key: &str) -> Error {
        match self {
            Entry::Directory => refused(key, "a directory", libc::EISDIR),
            _ => refused(key, "a FIFO, socket or device", libc::ENXIO),
        }
    }
}

/// Something there that is not a value is an error: to answer "missing" would make it read as fill values.
fn refused(key: &str, what: &str, errno: i32) -> Error {
    let mut error = Error::new(Kind::Store, format!("expected a file, found {what}")).at_key(key);
    error.errno = Some(errno);
    error
}

/// `fstat`, which on Linux costs 0.3 us less than the `statx` of [`File::metadata`]: a tenth of what opening costs.
#[cfg(target_os = "linux")]
fn inspect(file: &File) -> io::Result<Entry> {
    use std::os::fd::AsRawFd;

    let mut status = std::mem::MaybeUninit::<libc::stat64>::uninit();
    // SAFETY: the descriptor is open, and there is room for what the system writes.
    if unsafe { libc::fstat64(file.as_raw_fd(), status.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the system has filled it.
    let status = unsafe { status.assume_init() };
    Ok(match status.st_mode & libc::S_IFMT {
        libc::S_IFREG => Entry::File(status.st_size as u64, Times::of(&status)),
        libc::S_IFDIR => Entry::Directory,
        _ => Entry::Other,
    })
}

#[cfg(not(target_os = "linux"))]
fn inspect(file: &File) -> io::Result<Entry> {
    file.metadata().map(|metadata| Entry::new(&metadata))
}

impl Reader for OpenFile<'_> {
    fn len(&self) -> Option<u64> {
        Some(self.size)
    }

    fn version(&self) -> Option<Version> {
        self.times.version(self.size)
    }

    fn reads_blocks(&self) -> bool {
        true
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<bool> {
        self.check(offset, buffer.len())?;
        self.fill(offset, buffer)?;
        has_read(buffer.len());
        Ok(true)
    }

    fn read_suffix(&self, buffer: &mut [u8]) -> Result<bool> {
        let Some(offset) = self.size.checked_sub(buffer.len() as u64) else {
            return Err(ranges::too_short(buffer.len(), self.size).at_key(self.key));
        };
        self.fill(offset, buffer)?;
        has_read(buffer.len());
        Ok(true)
    }

    fn read_all(&self, buffer: &mut Vec<u8>, limit: u64) -> Result<bool> {
        if self.size > limit {
            return Err(ranges::too_long(self.size, limit).at_key(self.key));
        }
        ranges::reserve(buffer, self.size).map_err(|error| error.at_key(self.key))?;
        append(&self.file, buffer, 0, self.size as usize)
            .map_err(|cause| self.failed(0, self.size as usize, &cause))?;
        has_read(self.size as usize);
        Ok(true)
    }

    fn read_scattered(&self, offset: u64, pieces: &mut [IoSliceMut<'_>]) -> Result<bool> {
        let wanted = pieces.iter().map(|piece| piece.len()).sum();
        self.check(offset, wanted)?;
        let mut offset = offset;
        let mut next = 0;
        while next < pieces.len() {
            let mut read = read_vectored_at(&self.file, &mut pieces[next..], offset)
                .map_err(|cause| self.failed(offset, pieces[next].len(), &cause))?;
            while next < pieces.len() && read >= pieces[next].len() {
                read -= pieces[next].len();
                offset += pieces[next].len() as u64;
                next += 1;
            }
            // A piece that was filled only in part: the system stopped early, or the file has been cut.
            if next < pieces.len() {
                let piece = &mut pieces[next];
                self.fill(offset + read as u64, &mut piece[read..])?;
                offset += piece.len() as u64;
                next += 1;
            }
        }
        has_read(wanted);
        Ok(true)
    }
}

#[cfg(unix)]
pub fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(not(unix))]
pub fn read_exact_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, buffer, offset) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                buffer = &mut buffer[read..];
                offset += read as u64;
            }
            Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause),
        }
    }
    Ok(())
}

/// Reads `size` bytes from `offset` on into the empty `buffer`, without filling it with zeros first.
#[cfg(unix)]
pub fn append(file: &File, buffer: &mut Vec<u8>, offset: u64, size: usize) -> io::Result<()> {
    use std::os::fd::AsRawFd;

    debug_assert!(buffer.is_empty() && buffer.capacity() >= size);
    while buffer.len() < size {
        let filled = buffer.len();
        let Ok(place) = libc::off_t::try_from(offset + filled as u64) else {
            return Err(ErrorKind::UnexpectedEof.into());
        };
        let room = &mut buffer.spare_capacity_mut()[..size - filled];
        // SAFETY: `room` is writable memory of `room.len()` bytes that nobody else refers to, and the descriptor is open.
        let read = unsafe { libc::pread(file.as_raw_fd(), room.as_mut_ptr().cast(), room.len(), place) };
        match usize::try_from(read) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            // SAFETY: the system has written the first `read` bytes of `room`, which begins at `filled`, and `read` is
            // at most `room.len()`, so the new length is within the capacity.
            Ok(read) => unsafe { buffer.set_len(filled + read) },
            Err(_) => {
                let cause = io::Error::last_os_error();
                if cause.kind() != ErrorKind::Interrupted {
                    return Err(cause);
                }
            }
        }
    }
    Ok(())
}

#[cfg(not(unix))]
pub fn append(file: &File, buffer: &mut Vec<u8>, offset: u64, size: usize) -> io::Result<()> {
    buffer.resize(size, 0);
    read_exact_at(file, buffer, offset)
}

/// Another handle of the file that a descriptor of this process is open on, which the caller keeps open meanwhile.
#[cfg(unix)]
pub fn duplicate(descriptor: i32) -> io::Result<File> {
    // SAFETY: the descriptor is open, as the caller promises; a number that is not leads to the error EBADF, and never to
    // other memory. Nobody else has the new descriptor.
    unsafe {
        let copy = libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 0);
        match copy {
            -1 => Err(io::Error::last_os_error()),
            copy => Ok(std::os::fd::FromRawFd::from_raw_fd(copy)),
        }
    }
}

/// Reads into as many pieces as one system call takes; 0 also at the end of the file.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn read_vectored_at(file: &File, pieces: &mut [IoSliceMut<'_>], offset: u64) -> io::Result<usize> {
    use std::os::fd::AsRawFd;

    /// IOV_MAX of Linux.
    const MOST_PIECES: usize = 1024;

    let count = pieces.len().min(MOST_PIECES) as libc::c_int;
    let Ok(offset) = libc::off64_t::try_from(offset) else { return Ok(0) };
    loop {
        // SAFETY: `IoSliceMut` has the layout of `iovec` on Unix; `count` of them are there, each exclusively borrowed
        // memory of its length, and the descriptor is open.
        let read = unsafe { libc::preadv64(file.as_raw_fd(), pieces.as_mut_ptr().cast(), count, offset) };
        if let Ok(read) = usize::try_from(read) {
            return Ok(read);
        }
        let cause = io::Error::last_os_error();
        if cause.kind() != ErrorKind::Interrupted {
            return Err(cause);
        }
    }
}

/// No such system call that all systems have: the caller fills piece by piece.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn read_vectored_at(_file: &File, _pieces: &mut [IoSliceMut<'_>], _offset: u64) -> io::Result<usize> {
    Ok(0)
}
