//! Which keys are keys: the same rule for every store, so that data can move between them.
//!
//! A key is one or more segments joined by `/`. Segments are not empty, not `.` or `..`, hold no NUL, have at most 255
//! bytes, and do not begin with `.blizzarr-`, which names values that are being written. So no key leaves the store's
//! root, and no two keys name one value. A backslash, `%2e`, `C:` or a newline are ordinary characters; only on Windows
//! does the local store refuse what that system would read differently (see [`check_windows`]).

use crate::error::{Error, Kind, Result};

/// Begins the names of files and directories that are not values (yet, or any more); never listed.
pub const RESERVED: &str = ".blizzarr-";

/// What file systems allow for one name.
const LONGEST_SEGMENT: usize = 255;

/// Refuses what is not a key.
pub fn check(key: &str) -> Result<()> {
    match broken_rule(key) {
        None => Ok(()),
        Some(rule) => Err(Error::new(Kind::Path, format!("expected a key, found {key:?}: {rule}")).at_key(key)),
    }
}

/// The prefix without its final `/`: empty (everything), or shaped like a key.
pub fn check_prefix(prefix: &str) -> Result<&str> {
    let bare = prefix.strip_suffix('/').unwrap_or(prefix);
    if prefix.is_empty() {
        return Ok(prefix);
    }
    match broken_rule(bare) {
        None => Ok(bare),
        Some(rule) => {
            Err(Error::new(Kind::Path, format!("expected a prefix, found {prefix:?}: {rule}")).at_key(prefix))
        }
    }
}

fn broken_rule(key: &str) -> Option<&'static str> {
    if key.is_empty() {
        return Some("it is empty");
    }
    let mut start = 0;
    let bytes = key.as_bytes();
    loop {
        let rest = &bytes[start..];
        let mut end = 0;
        while end < rest.len() && rest[end] != b'/' {
            match rest[end] {
                0 => return Some("it holds a NUL character"),
                b'\\' => return Some("it holds a backslash; segments are separated by '/'"),
                _ => {}
            }
            end += 1;
        }
        let segment = &rest[..end];
        if segment.is_empty() {
            return Some(match (start, end == rest.len()) {
                (0, _) => "it begins with '/'",
                (_, true) => "it ends with '/'",
                _ => "one of its segments is empty ('//')",
            });
        }
        if segment.len() > LONGEST_SEGMENT {
            return Some("one of its segments is longer than 255 bytes");
        }
        if segment[0] == b'.' {
            match segment {
                b"." => return Some("one of its segments is '.'"),
                b".." => return Some("one of its segments is '..'"),
                _ if segment.starts_with(RESERVED.as_bytes()) => {
                    return Some("names that begin with '.blizzarr-' are reserved for values being written")
                }
                _ => {}
            }
        }
        start += end + 1;
        if end == rest.len() {
            return None;
        }
    }
}

/// Refuses segments that Windows would read as something else: two keys must never name one file.
#[cfg(any(windows, test))]
pub fn check_windows(key: &str) -> Result<()> {
    const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "COM", "LPT"];
    for segment in key.split('/') {
        let stem = segment.split('.').next().unwrap_or(segment).trim_end().to_ascii_uppercase();
        let device = DEVICES.iter().any(|device| match stem.strip_prefix(device) {
            Some("") => device.len() == 3 && !matches!(*device, "COM" | "LPT"),
            Some(digit) => matches!(*device, "COM" | "LPT") && digit.len() == 1 && digit.as_bytes()[0].is_ascii_digit(),
            None => false,
        });
        let rule = if segment.contains(|c: char| matches!(c, '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|') || c < ' ')
        {
            "it holds a character that Windows does not allow in names"
        } else if segment.ends_with(['.', ' ']) {
            "one of its segments ends with a dot or a space, which Windows drops"
        } else if device {
            "one of its segments is the name of a device on Windows"
        } else {
            continue;
        };
        return Err(Error::new(Kind::Path, format!("expected a key, found {key:?}: {rule}")).at_key(key));
    }
    Ok(())
}

#[cfg(test)]
#[path = "key_tests.rs"]
mod tests;
