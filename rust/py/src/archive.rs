//! `_native.OpenFile`: a zip file of which the engine reads values without asking Python for each. There are none on Windows.

#![cfg_attr(not(unix), allow(dead_code, unused_imports))]

use std::collections::HashMap;
use std::fs::File;
use std::sync::Arc;

use blizzarr_core::store::archive::{Entry, EntryReader};
#[cfg(unix)]
use blizzarr_core::store::local::read::duplicate;
use blizzarr_core::store::Reader;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple, PyType};

use crate::errors::entry;

/// A key, and where its value lies: the offset of the local record, the name in the file, flags, checksum and length.
type Row = (String, u64, Vec<u8>, u16, u32, u64);

/// A file that is open elsewhere, too, for as long as Python has it.
pub struct Archive {
    file: Arc<File>,
    entries: HashMap<String, Entry>,
}

impl Archive {
    /// A reader of the value under `key`, if that lies here as it is; `otherwise` says what is wrong with one that is not sound.
    pub fn open<'a>(
        &self,
        key: &str,
        otherwise: impl FnOnce() -> Box<dyn Reader + 'a>,
    ) -> Option<Box<dyn Reader + 'a>> {
        let entry = self.entries.get(key)?;
        Some(Box::new(EntryReader::new(Arc::clone(&self.file), entry.clone(), otherwise())))
    }
}

#[pyclass(module = "blizzarr._native", frozen)]
pub struct OpenFile(pub Arc<Archive>);

#[pymethods]
impl OpenFile {
    /// The descriptor is copied, and must be open meanwhile; the values of `rows` lie in the file as they are.
    #[cfg(unix)]
    #[new]
    fn new(py: Python<'_>, descriptor: i32, rows: Vec<Row>) -> PyResult<Self> {
        entry(py, "open a zip file", None, || {
            let lies = |(key, offset, name, flags, crc, size)| (key, Entry { offset, name, flags, crc, size });
            let (file, entries) = (Arc::new(duplicate(descriptor)?), rows.into_iter().map(lies).collect());
            Ok(OpenFile(Arc::new(Archive { file, entries })))
        })
    }
}

/// What all records of a directory begin with, and how long they are without their name (PKWARE APPNOTE 6.3, 4.3.12).
const CENTRAL: &[u8; 4] = b"PK\x01\x02";
const CENTRAL_LEN: usize = 46;
/// In place of a number that did not fit, which another part of the record has.
const MAX32: u32 = u32::MAX;
/// Files of Unix, and symbolic links among them.
const UNIX: u16 = 3;
const KIND: u32 = 0o170_000 << 16;
const LINK: u32 = 0o120_000 << 16;

/// At most `most` entries of the part of a zip file's directory that begins at `at`, and where the next one begins.
///
/// Names in ASCII without backslashes and numbers of 32 bits are usual; the first record that is not usual, or that is cut,
/// ends the list. `kind` is the named tuple `Entry`.
#[pyfunction]
pub fn usual_entries<'py>(
    py: Python<'py>,
    data: &[u8],
    at: usize,
    most: usize,
    shift: i64,
    kind: &Bound<'py, PyType>,
) -> PyResult<(Vec<Bound<'py, PyAny>>, usize)> {
    entry(py, "read a zip file", None, || {
        let make = py.get_type::<PyTuple>().getattr("__new__")?;
        let (mut entries, mut at) = (Vec::new(), at);
        while entries.len() < most {
            let Some((record, behind)) = data.get(at..).and_then(|rest| rest.split_first_chunk::<CENTRAL_LEN>()) else {
                break;
            };
            let short = |at: usize| u16::from_le_bytes([record[at], record[at + 1]]);
            let long = |at: usize| u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]]);
            let (name_len, others) = (usize::from(short(28)), usize::from(short(30)) + usize::from(short(32)));
            let (stored_size, size, offset) = (long(20), long(24), long(42));
            let name = behind.get(..name_len).filter(|name| name.is_ascii() && !name.contains(&b'\\'));
            let Some(name) = name.and_then(|name| std::str::from_utf8(name).ok()) else { break };
            let is_usual = record.starts_with(CENTRAL) && ![stored_size, size, offset].contains(&MAX32);
            if !is_usual || behind.len() < name_len + others {
                break;
            }
            let is_link = short(4) >> 8 == UNIX && long(38) & KIND == LINK;
            let raw_name = PyBytes::new(py, name.as_bytes());
            let (flags, method, crc) = (short(8), short(10), long(16));
            let offset = i64::from(offset) + shift;
            let fields = (name, raw_name, method, flags, crc, stored_size, size, offset, is_link);
            entries.push(make.call1((kind, fields.into_pyobject(py)?))?);
            at += CENTRAL_LEN + name_len + others;
        }
        Ok((entries, at))
    })
}
