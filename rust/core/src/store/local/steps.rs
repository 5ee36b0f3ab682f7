//! Values that go to their file while they are being made.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

use super::super::{Steps, Stepwise, Store};
use super::publish::{Content, Existing};
use super::LocalStore;
use crate::cache::changes;
use crate::error::{Error, Result};
use crate::panics;
use crate::progress::{self, Count};

impl Stepwise for LocalStore {
    fn set_in_steps(&self, key: &str, make: &mut dyn FnMut(&dyn Steps) -> Result<bool>) -> Result<()> {
        let mut failure = None;
        let mut write = |file: &File| {
            // A panic leaves no file behind, either.
            let made = panics::catch(|| make(&FileSteps { file, key })).unwrap_or_else(Err);
            made.map_err(|error| {
                failure = Some(error);
                // Nobody reads this text; errors of other kinds would be tried again.
                io::Error::other("the value could not be made")
            })
        };
        let outcome = self.at(key, |place| self.publish(key, place, Content::Steps(&mut write), Existing::Replace));
        changes::value(|| self.full_name(key));
        match failure {
            Some(error) => Err(error),
            None => outcome.map(drop),
        }
    }
}

struct FileSteps<'f> {
    file: &'f File,
    key: &'f str,
}

impl FileSteps<'_> {
    fn written(&self, outcome: io::Result<()>) -> Result<()> {
        outcome.map_err(|cause| Error::io(self.key, "write", &cause))
    }
}

impl Steps for FileSteps<'_> {
    fn append(&self, bytes: &[u8]) -> Result<()> {
        let mut file = self.file;
        self.written(file.write_all(bytes))?;
        progress::add(Count::FileBytesWritten, bytes.len());
        Ok(())
    }

    fn replace_start(&self, bytes: &[u8]) -> Result<()> {
        let mut file = self.file;
        let begun = file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(bytes));
        self.written(begun.and_then(|()| file.seek(SeekFrom::End(0)).map(drop)))
    }
}
