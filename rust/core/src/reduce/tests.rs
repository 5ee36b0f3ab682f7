use super::*;
use crate::interrupt::never;

fn reduced(elements: &[u8], shape: &[usize], edges: &[&[usize]], of: Of, size: usize, method: Method) -> Vec<u8> {
    let edges: Vec<Vec<usize>> = edges.iter().map(|list| list.to_vec()).collect();
    let count: usize = edges.iter().map(|list| list.len() - 1).product();
    let mut out = vec![0; count * size];
    let blocks = Blocks::new(elements, shape.to_vec(), edges, size).unwrap();
    let options = Options { threads: 2, requests: 0, write_empty: false, interrupted: &never };
    blocks.reduce(of, method, &Target::of(&mut out), &options).unwrap();
    out
}

#[test]
fn blocks_by_hand() {
    let elements = [1, 2, 5, 4, 2, 2, 9, 9, 3, 250, 0, 7];
    let edges: [&[usize]; 2] = [&[0, 2, 3], &[0, 1, 3, 4]];
    let of = |method| reduced(&elements, &[3, 4], &edges, Of::U8, 1, method);
    assert_eq!(of(Method::Min), [1, 2, 4, 3, 0, 7]);
    assert_eq!(of(Method::Max), [2, 9, 9, 3, 250, 7]);
    // 1.5, 4.5 and 6.5 to even; 18 / 4.
    assert_eq!(of(Method::Mean), [2, 4, 6, 3, 125, 7]);
    assert_eq!(of(Method::Median), [1, 2, 4, 3, 0, 7]);
    assert_eq!(of(Method::Mode), [1, 2, 4, 3, 0, 7]);
}

#[test]
fn means_are_rounded_to_even_below_zero_too() {
    let elements: Vec<u8> =
        [-1i16, -2, -3, -4, -5, -6, -32768, -32768, 32767].iter().flat_map(|e| e.to_ne_bytes()).collect();
    let made = reduced(&elements, &[9], &[&[0, 2, 4, 6, 9]], Of::I16, 2, Method::Mean);
    let made: Vec<i16> = made.chunks_exact(2).map(i16::load).collect();
    assert_eq!(made, [-2, -4, -6, -10923]);
}

#[test]
fn sums_have_room() {
    let elements: Vec<u8> = [u64::MAX, u64::MAX, u64::MAX - 1].iter().flat_map(|e| e.to_ne_bytes()).collect();
    let made = reduced(&elements, &[3], &[&[0, 3]], Of::U64, 8, Method::Mean);
    assert_eq!(u64::load(&made), u64::MAX);
    let made = reduced(&[255; 100_000], &[100_000], &[&[0, 100_000]], Of::U8, 1, Method::Mean);
    assert_eq!(made, [255]);
}

#[test]
fn what_cannot_be_compared_is_last() {
    let elements: Vec<u8> = [f32::NAN, 2.0, 1.0, f32::NAN, f32::NAN].iter().flat_map(|e| e.to_ne_bytes()).collect();
    let of = |method| f32::load(&reduced(&elements[..16], &[4], &[&[0, 4]], Of::F32, 4, method));
    assert_eq!((of(Method::Min), of(Method::Max), of(Method::Median)), (1.0, 2.0, 2.0));
    assert_eq!(of(Method::Mode), 1.0);
    assert!(of(Method::Mean).is_nan());
}

#[test]
fn blocks_side_by_side_are_like_single_ones() {
    let mut state = 7u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8 % 5
    };
    for size in 1..=18 {
        let elements: Vec<u8> = (0..size * 600).map(|_| next()).collect();
        let edges: Vec<usize> = (0..=600).map(|block| block * size).collect();
        let median = reduced(&elements, &[size * 600], &[&edges], Of::U8, 1, Method::Median);
        let mode = reduced(&elements, &[size * 600], &[&edges], Of::U8, 1, Method::Mode);
        for (number, block) in elements.chunks_exact(size).enumerate() {
            assert_eq!(median[number], sorted::middle(&mut block.to_vec()));
            assert_eq!(mode[number], sorted::commonest(&mut block.to_vec()));
        }
    }
}

#[test]
fn truth_values() {
    let made = reduced(&[1, 0, 1, 2, 1, 0], &[6], &[&[0, 2, 4, 6]], Of::Bool, 1, Method::Mean);
    assert_eq!(made, [0, 1, 0]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let wrong = |shape: &[usize], edges: &[&[usize]]| {
        let edges = edges.iter().map(|list| list.to_vec()).collect();
        Blocks::new(&[0; 4], shape.to_vec(), edges, 1).is_err()
    };
    assert!(wrong(&[5], &[&[0, 5]]) && wrong(&[4], &[&[0, 5]]) && wrong(&[4], &[&[0, 3, 2, 4]]));
    assert!(wrong(&[4], &[]) && wrong(&[], &[]) && wrong(&[4], &[&[4]]) && wrong(&[4], &[&[1, 4]]));
}
