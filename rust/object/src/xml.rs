//! What stores say in XML: errors and listings.

use object_store::path::Path;

/// A listing without the entries whose names no key can have, like `a//b`, and these names. The `object_store` crate would
/// refuse the whole listing, or take the slash off the end of a name.
///
/// Empty objects whose names end with a slash are only left out: consoles make them to show directories.
pub fn possible(listing: &str) -> (String, Vec<String>) {
    // S3 and Google Cloud, and Azure.
    const ENTRIES: [(&str, &str); 4] =
        [("Contents", "Key"), ("CommonPrefixes", "Prefix"), ("Blob", "Name"), ("BlobPrefix", "Name")];
    const EMPTY: [&str; 2] = ["<Size>0</Size>", "<Content-Length>0</Content-Length>"];
    let (mut cuts, mut impossible) = (Vec::new(), Vec::new());
    for (entry, name) in ENTRIES {
        let (open, close, named) = (format!("<{entry}>"), format!("</{entry}>"), format!("<{name}>"));
        let mut end = 0;
        while let Some(start) = listing[end..].find(&open).map(|start| end + start) {
            let Some(length) = listing[start..].find(&close) else { break };
            end = start + length + close.len();
            let whole = &listing[start..end];
            let text = whole.split_once(&named).and_then(|(_, rest)| rest.split_once('<'));
            let key = text.map(|(name, _)| unescaped(name)).unwrap_or_default();
            let is_directory = key.ends_with('/') && !entry.ends_with("Prefix") && !entry.ends_with("Prefixes");
            if is_directory || Path::parse(&key).is_err() {
                cuts.push(start..end);
                let is_marker = is_directory && EMPTY.iter().any(|empty| whole.contains(empty));
                impossible.extend((!is_marker).then_some(key));
            }
        }
    }
    cuts.sort_by_key(|cut| cut.start);
    let (mut kept, mut end) = (String::new(), 0);
    for cut in cuts {
        kept.push_str(&listing[end..cut.start]);
        end = cut.end;
    }
    kept.push_str(&listing[end..]);
    (kept, impossible)
}

/// A text of XML with the characters that its references stand for.
fn unescaped(text: &str) -> String {
    let mut pieces = text.split('&');
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (name, rest) = piece.split_once(';').unwrap_or(("", piece));
        let number = name.strip_prefix('#').and_then(|number| match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => number.parse().ok(),
        });
        let named = [("amp", '&'), ("lt", '<'), ("gt", '>'), ("quot", '"'), ("apos", '\'')];
        let known = named.into_iter().find(|(known, _)| *known == name).map(|(_, character)| character);
        match number.and_then(char::from_u32).or(known) {
            Some(character) => plain.push(character),
            None => {
                plain.push('&');
                plain.push_str(name);
            }
        }
        plain.push_str(rest);
    }
    plain
}

/// The text within an element of an error in XML.
pub fn element(text: &str, name: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let (inside, _) = rest.split_once(&format!("</{name}>"))?;
    let inside = inside.trim().trim_end_matches('.');
    (!inside.is_empty()).then(|| inside.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{element, possible};

    #[test]
    fn names_that_no_key_can_have_are_taken_out_of_a_listing() {
        let entry = |name: &str| format!("<Contents><Key>{name}</Key><Size>1</Size></Contents>");
        let listing = |entries: &[&str]| {
            let inside: String = entries.iter().map(|name| entry(name)).collect();
            format!("<ListBucketResult><Prefix>a//</Prefix>{inside}</ListBucketResult>")
        };
        let (kept, impossible) = possible(&listing(&["a/b", "a//b", "c", "d&#10;e&amp;", "f/&lt;/.."]));
        assert_eq!(kept, listing(&["a/b", "c"]));
        assert_eq!(impossible, ["a//b", "d\ne&", "f/</.."]);
        let marked = format!("<L>{}<Contents><Key>a/c/</Key><Size>0</Size></Contents></L>", entry("b/"));
        assert_eq!(possible(&marked), ("<L></L>".to_owned(), vec!["b/".to_owned()]), "a directory, and no directory");
        let azure = "<Blobs><Blob><Name>a</Name><P/></Blob><BlobPrefix><Name>b//</Name></BlobPrefix>\
                     <BlobPrefix><Name>c/</Name></BlobPrefix></Blobs>";
        assert_eq!(
            possible(azure),
            (azure.replace("<BlobPrefix><Name>b//</Name></BlobPrefix>", ""), vec!["b//".to_owned()])
        );
    }

    #[test]
    fn the_code_and_the_message_of_an_error() {
        let text = "<?xml version=\"1.0\"?><Error><Code>NoSuchKey</Code><Message>Gone.</Message></Error>";
        assert_eq!(element(text, "Code").as_deref(), Some("NoSuchKey"));
        assert_eq!(element(text, "Message").as_deref(), Some("Gone"));
        assert_eq!(element("<html>", "Code"), None);
        assert_eq!(element("<Code></Code>", "Code"), None);
    }
}
