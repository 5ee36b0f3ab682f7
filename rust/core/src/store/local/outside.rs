//! What is said of links that lead out of the root.

use std::path::Path;

use super::place::Beneath;
use crate::error::Error;
use crate::store::durability::Directories;

/// Names the link, by looking for it again: it was found by the system, which does not say.
pub fn explained(mut error: Error, root: &Beneath, path: &Path) -> Error {
    let key = error.key.as_deref().map(Path::new);
    let link = root.link_out(path).or_else(|| root.link_out(key?));
    let link = match link {
        Some((link, target)) => format!("the link {link:?} (to {target:?})"),
        None => "a link that is gone by now".to_owned(),
    };
    let what = error.reason.split(": ").next().unwrap_or_default();
    error.reason = format!(
        "{what}: {link} leads out of the root {:?}, and this store keeps within it (links=\"within-root\", which takes \
         relative links that stay below the root)",
        root.root()
    );
    error
}
