//! Systems that cannot keep to a directory while others change it: there is no such root.

use std::path::Path;

use crate::error::{Error, Kind, Result};

/// Never there.
#[derive(Debug)]
pub enum Beneath {}

impl Beneath {
    pub fn new(root: &Path) -> Result<Self> {
        Err(Error::new(
            Kind::Unsupported,
            format!(
                "links=\"within-root\" needs Linux 5.6 or newer: nothing that this system has keeps a store within {}",
                root.display()
            ),
        ))
    }
}
