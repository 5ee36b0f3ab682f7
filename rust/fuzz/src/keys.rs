//! Keys, byte ranges, and the names of chunks.

use std::path::{Component, Path};

use blizzarr_core::array::{Keys, Places};
use blizzarr_core::error::Kind;
use blizzarr_core::store::memory::MemoryStore;
use blizzarr_core::store::{hashed, key, ranges, Store};

use crate::input::Input;

/// What is a key is one by the rule, leaves no directory that it is joined to, and names one value.
pub fn keys(data: &[u8]) {
    let mut input = Input(data);
    match input.range(0..=3) {
        0 => range(&mut input),
        1 => name(&mut input),
        _ => text(&mut input),
    }
}

/// Text of the characters that matter, or the fuzzer's own.
fn text(input: &mut Input<'_>) {
    const PARTS: [&str; 24] = [
        "/",
        "a",
        "..",
        ".",
        "//",
        "\0",
        "\\",
        "%2e",
        "C:",
        "\n",
        "é",
        "e\u{301}",
        ".blizzarr-",
        ".blizzarr",
        "zarr.json",
        "c/",
        "..\\",
        "\u{202e}",
        " ",
        "CON",
        "...",
        "~",
        "/..",
        "./",
    ];
    let own = input.flag();
    let text = if own {
        String::from_utf8_lossy(&input.bytes(600)).into_owned()
    } else {
        let mut text = String::new();
        for _ in 0..input.range(0..=12) {
            let part = input.pick(&PARTS);
            let times = if input.one_in(12) { input.range(0..=260) } else { 1 };
            text.extend(std::iter::repeat_n(part, times));
        }
        text
    };
    let good = |segment: &str| {
        !segment.is_empty()
            && segment != "."
            && segment != ".."
            && !segment.contains(['\0', '\\'])
            && segment.len() <= 255
            && !segment.starts_with(".blizzarr-")
    };
    let is_key = text.split('/').all(good);
    let found = key::check(&text);
    assert_eq!(found.is_ok(), is_key, "{text:?}");
    let bare = text.strip_suffix('/').unwrap_or(&text);
    assert_eq!(key::check_prefix(&text).is_ok(), text.is_empty() || bare.split('/').all(good), "{text:?}");
    let store = MemoryStore::new();
    let stored = store.set(&text, &[b"v", &text.as_bytes()[..text.len().min(3)]]);
    assert_eq!(stored.is_ok(), is_key);
    if is_key {
        assert!(Path::new(&text).components().all(|part| matches!(part, Component::Normal(_))), "{text:?}");
        assert_eq!(Path::new(&text).components().count(), text.split('/').count());
        assert!(store.get(&text).expect("a key").is_some());
        assert!(store.delete(&text).expect("a key"));
    } else {
        let error = found.expect_err("no key");
        assert_eq!(error.kind, Kind::Path);
        assert_eq!(error.key.as_deref(), Some(&*text));
    }
    // A name by its hash is a key wherever the name was one.
    let rename = hashed::directories(String::new(), input.range(0..=3), input.range(1..=2));
    if let (Ok(renamed), true) = (rename(&text), is_key) {
        assert!(key::check(&renamed).is_ok() || renamed.split('/').any(|part| part.len() > 255), "{renamed:?}");
    }
}

fn range(input: &mut Input<'_>) {
    let size = input.u64() >> input.range(0..=63);
    let start = input.u64() as i64 >> input.range(0..=63);
    let length = input.flag().then(|| input.u64() >> input.range(0..=63));
    let (offset, found) = ranges::resolve(size, (start, length));
    let wide = i128::from(size);
    let first = if start < 0 { (wide + i128::from(start)).max(0) } else { i128::from(start).min(wide) };
    let last = length.map_or(wide, |length| (first + i128::from(length)).min(wide));
    assert_eq!((i128::from(offset), i128::from(found)), (first, last - first));
}

fn name(input: &mut Input<'_>) {
    let separator = input.pick(&["/", ".", ""]);
    let keys = Keys {
        prefix: "a/".into(),
        head: "c/".into(),
        separator: separator.into(),
        scalar: "c".into(),
        axes: usize::MAX,
        places: Places::Indices,
    };
    let place: Vec<i64> = (0..input.range(0..=4)).map(|_| (input.u64() >> 1 >> input.range(0..=62)) as i64).collect();
    let mut found = String::from("left over");
    keys.write(&place, &mut found);
    let numbers: Vec<String> = place.iter().map(i64::to_string).collect();
    let expected = if place.is_empty() { "a/c".into() } else { format!("a/c/{}", numbers.join(separator)) };
    assert_eq!(found, expected);
}
