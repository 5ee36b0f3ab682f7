//! gzip and zlib.

use blizzarr_core::codec::gzip::Gzip;
use blizzarr_core::codec::zlib::Zlib;
use blizzarr_core::codec::BytesToBytes;

use crate::codec::{check, every_way, Checked, MOST};
use crate::input::Input;
use crate::mutation::{field, Field};

/// A stream of gzip or zlib, damaged; or any bytes behind the header of one.
pub fn gzip(data: &[u8]) {
    let mut input = Input(data);
    let kind = input.range(0..=7);
    let level = input.pick(&[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 2, 4, 6, 8, 9]);
    let (gzip, zlib) = (Gzip::new(level).expect("a level"), Zlib::new(level).expect("a level"));
    let (codec, header): (&dyn BytesToBytes, &[u8]) =
        if kind % 2 == 0 { (&gzip, b"\x1f\x8b\x08\0\0\0\0\0\0\xff") } else { (&zlib, b"\x78\x9c") };
    if kind >= 4 {
        let size = input.range(0..=600);
        let raw = input.bytes(usize::MAX);
        let raw = if kind >= 6 { raw } else { [header, &raw].concat() };
        let mut input = Input(&raw);
        every_way(&mut input, codec, &raw, size);
        return;
    }
    let length = input.length(MOST);
    let value = input.value(length);
    check(&mut input, codec, &value, if kind % 2 == 0 { gzip_fields } else { zlib_fields }, Checked::Yes);
}

fn gzip_fields(encoded: &[u8]) -> Vec<Field> {
    let end = encoded.len();
    // Magic, method, flags, time, extra flags, system; the first block's header; sum and length.
    [
        (0, 1),
        (1, 1),
        (2, 1),
        (3, 1),
        (3, 1),
        (4, 4),
        (8, 1),
        (9, 1),
        (10, 1),
        (11, 2),
        (13, 2),
        (end - 8, 4),
        (end - 4, 4),
    ]
    .map(|(at, length)| field(at, length))
    .to_vec()
}

fn zlib_fields(encoded: &[u8]) -> Vec<Field> {
    [(0, 1), (1, 1), (2, 1), (3, 2), (5, 2), (encoded.len() - 4, 4)].map(|(at, length)| field(at, length)).to_vec()
}
