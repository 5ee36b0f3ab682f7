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
