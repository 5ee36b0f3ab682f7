//! The transposition of bits for processors with AVX2, at two to three times the speed of c-blosc's kernel for SSE2.
//!
//! c-blosc has a kernel for AVX2, too, but `blosc-src` compiles it only for programs that cannot run without AVX2.
//!
//! A plane is one byte of every element. It becomes eight rows: the lowest bit of each of its bytes, then the next, up to
//! the highest. Within a row, the first of eight bytes gives the lowest bit.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

/// The bytes of each row, and of the plane, that one step makes or uses.
const ROW: usize = 32;
const PLANE: usize = 8 * ROW;

/// The knowledge that the processor has AVX2.
#[derive(Clone, Copy)]
pub struct Avx2(());

impl Avx2 {
    pub fn detect() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Avx2(()))
    }

    /// Writes the rows of a plane, whose length is a multiple of 8.
    pub fn to_rows(self, plane: &[u8], rows: &mut [u8]) {
        assert!(plane.len() == rows.len() && plane.len().is_multiple_of(8));
        // SAFETY: `self` exists, so the processor has AVX2.
        unsafe { to_rows(plane, rows) };
        let length = rows.len() / 8;
        for i in length / ROW * ROW..length {
            let bytes = std::array::from_fn(|k| plane[8 * i + k]);
            let bits = transposed(u64::from_le_bytes(bytes)).to_le_bytes();
            (0..8).for_each(|k| rows[k * length + i] = bits[k]);
        }
    }

    /// Undoes [`Avx2::to_rows`].
    pub fn to_plane(self, rows: &[u8], plane: &mut [u8]) {
        assert!(plane.len() == rows.len() && plane.len().is_multiple_of(8));
        // SAFETY: as above.
        unsafe { to_plane(rows, plane) };
        let length = rows.len() / 8;
        for i in length / ROW * ROW..length {
            let bits = std::array::from_fn(|k| rows[k * length + i]);
            plane[8 * i..8 * i + 8].copy_from_slice(&transposed(u64::from_le_bytes(bits)).to_le_bytes());
        }
    }
}

/// Writes the rows as far as whole steps go.
///
/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2")]
unsafe fn to_rows(plane: &[u8], rows: &mut [u8]) {
    let length = rows.len() / 8;
    for (i, from) in plane.chunks_exact(PLANE).enumerate() {
        // SAFETY: the processor has AVX2. Each load reads 32 of the 256 bytes of `from`; each store writes the 32 of `to`.
        unsafe {
            let from = from.as_ptr();
            let pairs =
                _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15));
            let mut v = [_mm256_setzero_si256(); 8];
            for j in 0..4 {
                let low = _mm256_loadu_si256(from.add(32 * j).cast());
                let high = _mm256_loadu_si256(from.add(PLANE / 2 + 32 * j).cast());
                // Then each half of a vector has two bytes of each of the eight rows.
                let (x, y) =
                    (_mm256_permute2x128_si256::<0x20>(low, high), _mm256_permute2x128_si256::<0x31>(low, high));
                v[2 * j] = _mm256_shuffle_epi8(transposed_4(x), pairs);
                v[2 * j + 1] = _mm256_shuffle_epi8(transposed_4(y), pairs);
            }
            let low = [0, 2, 4, 6].map(|i| _mm256_unpacklo_epi16(v[i], v[i + 1]));
            let high = [0, 2, 4, 6].map(|i| _mm256_unpackhi_epi16(v[i], v[i + 1]));
            for (k, [a, b, c, d]) in [low, high].into_iter().enumerate() {
                let (x, y) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
                let (z, w) = (_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
                let four = [
                    _mm256_unpacklo_epi64(x, y),
                    _mm256_unpackhi_epi64(x, y),
                    _mm256_unpacklo_epi64(z, w),
                    _mm256_unpackhi_epi64(z, w),
                ];
                for (row, bits) in four.into_iter().enumerate() {
                    let to = &mut rows[(4 * k + row) * length + ROW * i..][..ROW];
                    _mm256_storeu_si256(to.as_mut_ptr().cast(), bits);
                }
            }
        }
    }
}

/// Writes the plane as far as whole steps go.
///
/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2")]
unsafe fn to_plane(rows: &[u8], plane: &mut [u8]) {
    let length = rows.len() / 8;
    for (i, to) in plane.chunks_exact_mut(PLANE).enumerate() {
        // SAFETY: the processor has AVX2. Each load reads the 32 bytes of `from`; each store writes 32 of the 256 of `to`:
        // the first of a pair begins at 96 at most, the second one 128 after it.
        unsafe {
            let v: [_; 8] = std::array::from_fn(|k| {
                let from = &rows[k * length + ROW * i..][..ROW];
                _mm256_loadu_si256(from.as_ptr().cast())
            });
            let to = to.as_mut_ptr();
            let low = [0, 2, 4, 6].map(|k| _mm256_unpacklo_epi8(v[k], v[k + 1]));
            let high = [0, 2, 4, 6].map(|k| _mm256_unpackhi_epi8(v[k], v[k + 1]));
            for (half, [a, b, c, d]) in [low, high].into_iter().enumerate() {
                let left = [_mm256_unpacklo_epi16(a, b), _mm256_unpacklo_epi16(c, d)];
                let right = [_mm256_unpackhi_epi16(a, b), _mm256_unpackhi_epi16(c, d)];
                for (quarter, [a, b]) in [left, right].into_iter().enumerate() {
                    let (x, y) = (transposed_4(_mm256_unpacklo_epi32(a, b)), transposed_4(_mm256_unpackhi_epi32(a, b)));
                    let to = to.add(64 * half + 32 * quarter);
                    _mm256_storeu_si256(to.cast(), _mm256_permute2x128_si256::<0x20>(x, y));
                    _mm256_storeu_si256(to.add(PLANE / 2).cast(), _mm256_permute2x128_si256::<0x31>(x, y));
                }
            }
        }
    }
}

/// Returns a matrix of eight rows of eight bits, each a byte, with rows and columns exchanged.
fn transposed(x: u64) -> u64 {
    let swap = |x: u64, mask: u64, by: u32| {
        let bits = (x ^ (x >> by)) & mask;
        x ^ bits ^ (bits << by)
    };
    let x = swap(x, 0x00AA_00AA_00AA_00AA, 7);
    let x = swap(x, 0x0000_CCCC_0000_CCCC, 14);
    swap(x, 0x0000_0000_F0F0_F0F0, 28)
}

/// [`transposed`] for four matrices at once.
///
/// # Safety
/// The processor has AVX2.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn transposed_4(x: __m256i) -> __m256i {
    macro_rules! swap {
        ($x:ident, $mask:literal, $by:literal) => {{
            let bits = _mm256_and_si256(_mm256_xor_si256($x, _mm256_srli_epi64::<$by>($x)), _mm256_set1_epi64x($mask));
            _mm256_xor_si256(_mm256_xor_si256($x, bits), _mm256_slli_epi64::<$by>(bits))
        }};
    }
    let x = swap!(x, 0x00AA_00AA_00AA_00AA, 7);
    let x = swap!(x, 0x0000_CCCC_0000_CCCC, 14);
    swap!(x, 0x0000_0000_F0F0_F0F0, 28)
}
