//! Values that lie as they are in a zip file, read without asking whoever knows its directory.
//!
//! What is read here is sound: the record before a value is that of its entry, and the checksum of a whole value is right.
//! In any other case another reader is asked, which says what is wrong.

use std::fs::File;
use std::sync::{Arc, OnceLock};

use super::local::read::{append, read_exact_at};
use super::{ranges, Reader};
use crate::codec::deflate::crc32;
use crate::error::Result;

/// The length of a local record without its name (PKWARE APPNOTE 6.3, section 4.3.7).
const RECORD: usize = 30;
/// Flags: the value is encrypted; its sizes follow it; its name is in UTF-8.
const ENCRYPTED: u16 = 0x0001;
const SIZES_FOLLOW: u16 = 0x0008;
const UTF8: u16 = 0x0800;

/// An entry that is not compressed, as the directory of the file has it.
#[derive(Clone)]
pub struct Entry {
    /// Where its local record begins.
    pub offset: u64,
    pub name: Vec<u8>,
    pub flags: u16,
    pub crc: u32,
    pub size: u64,
}

impl Entry {
    /// Where its value begins; `None` if the local record is not what is expected of it.
    fn start(&self, file: &File) -> Option<u64> {
        let mut record = vec![0; RECORD + self.name.len()];
        read_exact_at(file, &mut record, self.offset).ok()?;
        let (head, name) = record.split_at(RECORD);
        let short = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
        let long = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (flags, method, length, extra) = (short(6), short(8), short(26), short(28));
        let is_same = head.starts_with(b"PK\x03\x04")
            && name == self.name
            && usize::from(length) == name.len()
            && (flags ^ self.flags) & UTF8 == 0
            && flags & ENCRYPTED == 0
            && method == 0;
        // Sizes of 64 bits are behind the name.
        let sizes = (long(14), u64::from(long(18)), u64::from(long(22)));
        let is_known = flags & SIZES_FOLLOW != 0 || sizes == (self.crc, self.size, self.size);
        (is_same && is_known).then(|| self.offset.checked_add((record.len() + usize::from(extra)) as u64))?
    }
}

/// Reads a value from `file`, or else through `otherwise`.
pub struct EntryReader<'a> {
    file: Arc<File>,
    entry: Entry,
    start: OnceLock<Option<u64>>,
    otherwise: Box<dyn Reader + 'a>,
}

impl<'a> EntryReader<'a> {
    pub fn new(file: Arc<File>, entry: Entry, otherwise: Box<dyn Reader + 'a>) -> Self {
        EntryReader { file, entry, start: OnceLock::new(), otherwise }
    }

    /// Where so many bytes of the value lie in the file, if they do.
    fn place(&self, offset: u64, length: u64) -> Option<u64> {
        offset.checked_add(length).filter(|&end| end <= self.entry.size)?;
        (*self.start.get_or_init(|| self.entry.start(&self.file)))?.checked_add(offset)
    }

    fn is_sound(&self, bytes: &[u8]) -> bool {
        (bytes.len() as u64) < self.entry.size || crc32(bytes) == self.entry.crc
    }
}

impl Reader for EntryReader<'_> {
    fn len(&self) -> Option<u64> {
        Some(self.entry.size)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<bool> {
        let place = self.place(offset, buffer.len() as u64);
        let read = place.is_some_and(|place| read_exact_at(&self.file, buffer, place).is_ok());
        if read && self.is_sound(buffer) {
            return Ok(true);
        }
        if read {
            // It is the whole value, but another reader that is asked for a part would not look at the checksum.
            let mut whole = Vec::new();
            if !self.otherwise.read_all(&mut whole, self.entry.size)? {
                return Ok(false);
            }
            if whole.len() != buffer.len() {
                return Err(ranges::too_short(buffer.len(), whole.len() as u64));
            }
            buffer.copy_from_slice(&whole);
            return Ok(true);
        }
        self.otherwise.read_at(offset, buffer)
    }

    fn read_suffix(&self, buffer: &mut [u8]) -> Result<bool> {
        match self.entry.size.checked_sub(buffer.len() as u64) {
            Some(offset) => self.read_at(offset, buffer),
            None => self.otherwise.read_suffix(buffer),
        }
    }

    fn read_all(&self, buffer: &mut Vec<u8>, limit: u64) -> Result<bool> {
        let size = self.entry.size;
        if let Some(place) = self.place(0, size).filter(|_| size <= limit) {
            ranges::reserve(buffer, size)?;
            if append(&self.file, buffer, place, size as usize).is_ok() && self.is_sound(buffer) {
                return Ok(true);
            }
        }
        self.otherwise.read_all(buffer, limit)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::error::{Error, Kind};
    use crate::store::tests::Scratch;

    /// Says that it was asked.
    struct Otherwise;

    impl Reader for Otherwise {
        fn len(&self) -> Option<u64> {
            None
        }

        fn read_at(&self, _: u64, _: &mut [u8]) -> Result<bool> {
            Err(Error::new(Kind::Store, "asked"))
        }

        fn read_suffix(&self, _: &mut [u8]) -> Result<bool> {
            Err(Error::new(Kind::Store, "asked"))
        }

        fn read_all(&self, _: &mut Vec<u8>, _: u64) -> Result<bool> {
            Err(Error::new(Kind::Store, "asked"))
        }
    }

    fn record(value: &[u8], extra: &[u8]) -> Vec<u8> {
        let mut record = b"PK\x03\x04\x14\0\0\0\0\0\0\0\x21\0".to_vec();
        record.extend(crc32(value).to_le_bytes());
        record.extend((value.len() as u32).to_le_bytes().repeat(2));
        record.extend([3, 0, extra.len() as u8, 0]);
        [&record, b"a/b".as_slice(), extra, value].concat()
    }

    /// What reading the whole value, five bytes of it, and the last five gives; `None` where the other reader was asked.
    fn read(bytes: &[u8], entry: Entry, limit: u64) -> [Option<Vec<u8>>; 3] {
        let folder = Scratch::new();
        std::fs::create_dir_all(&folder.0).expect("a directory");
        let path = folder.0.join("file");
        std::fs::write(&path, bytes).expect("written");
        let file = File::open(&path).expect("opened");
        let reader = EntryReader::new(Arc::new(file), entry, Box::new(Otherwise));
        let (mut all, mut part, mut last) = (vec![9; 3], vec![0; 5], vec![0; 5]);
        let all = reader.read_all(&mut all, limit).ok().map(|_| all);
        let part = reader.read_at(2, &mut part).ok().map(|_| part);
        [all, part, reader.read_suffix(&mut last).ok().map(|_| last)]
    }

    fn entry(value: &[u8]) -> Entry {
        Entry { offset: 4, name: b"a/b".to_vec(), flags: 0, crc: crc32(value), size: value.len() as u64 }
    }

    #[test]
    fn a_sound_value_is_read_from_the_file() {
        let value = b"0123456789";
        for extra in [b"".as_slice(), b"\x01\0\x02\0ab"] {
            let bytes = [b"here".as_slice(), &record(value, extra), b"PK"].concat();
            let expected = [Some(value.to_vec()), Some(b"23456".to_vec()), Some(b"56789".to_vec())];
            assert_eq!(read(&bytes, entry(value), 10), expected);
            assert_eq!(read(&bytes, entry(value), 9)[0], None, "longer than it may be");
            for cut in 1..=10 {
                let part = read(&bytes[..bytes.len() - 2 - cut], entry(value), 10);
                assert_eq!((&part[0], &part[2]), (&None, &None), "without the last {cut} bytes");
            }
        }
    }

    #[test]
    fn of_what_is_not_sound_another_reader_decides() {
        let value = b"0123456789";
        let bytes = [b"here".as_slice(), &record(value, b"")].concat();
        let none = [None, None, None];
        for other in [
            Entry { name: b"a/c".to_vec(), ..entry(value) },
            Entry { name: b"a".to_vec(), ..entry(value) },
            Entry { flags: UTF8, ..entry(value) },
            Entry { crc: 1, ..entry(value) },
            Entry { size: 11, ..entry(value) },
            Entry { offset: 0, ..entry(value) },
            Entry { offset: u64::MAX - 2, ..entry(value) },
        ] {
            assert_eq!(read(&bytes, other, 100), none);
        }
        for bit in 0..8 * bytes.len() {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let found = read(&changed, entry(value), 100);
            assert!(found[0].is_none() || found[0].as_deref() == Some(value), "bit {bit}");
        }
    }
}
