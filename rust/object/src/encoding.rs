//! Bodies that are not what is stored, but an encoding of that: the header `Content-Encoding`.

use blizzarr_core::codec::gzip::Gzip;
use blizzarr_core::codec::BytesToBytes;
use object_store::client::HttpResponse;

/// Values of the header `Content-Encoding` with which a body is none of a stored value. Some servers repeat others, like
/// `aws-chunked`, which say how the value was sent to them.
const COMPRESSED: [&str; 4] = ["deflate", "compress", "br", "zstd"];
/// Those that are undone: objects may have been stored with them, and are then sent like that to whoever asks.
const GZIP: [&str; 2] = ["gzip", "x-gzip"];
/// The most bytes that a body is decompressed to.
const UNPACKED: u64 = 1 << 30;

/// The values in the lists that the headers of a name are.
pub fn values_of(response: &HttpResponse, name: http::HeaderName) -> impl Iterator<Item = &str> {
    let lists = response.headers().get_all(name).iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).map(str::trim)
}

/// Whether the body of an answer is a compressed one that is decompressed here.
pub fn is_gzipped(response: &HttpResponse) -> bool {
    is_encoded(response, &GZIP)
}

/// Whether it is one that is not.
pub fn is_compressed(response: &HttpResponse) -> bool {
    is_encoded(response, &COMPRESSED)
}

fn is_encoded(response: &HttpResponse, ways: &[&str]) -> bool {
    values_of(response, http::header::CONTENT_ENCODING)
        .any(|value| ways.iter().any(|way| value.eq_ignore_ascii_case(way)))
}

/// What `gzip` has made these bytes of; an error if that is more than `most` bytes (0: nothing limits them).
pub fn unpacked(packed: &[u8], most: u64) -> Result<Vec<u8>, String> {
    let limit = if most == 0 { UNPACKED } else { most.min(UNPACKED) };
    let mut value = Vec::new();
    match Gzip::new(1).and_then(|gzip| gzip.decode_bounded(packed, limit as usize, &mut value)) {
        Ok(()) => Ok(value),
        Err(error) => Err(format!("its body cannot be decompressed (Content-Encoding: gzip): {}", error.reason)),
    }
}
