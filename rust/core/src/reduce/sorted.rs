//! What is found by putting the elements of a block in order.

use std::cmp::Ordering;

use super::element::Element;

fn order<T: Element>(one: &T, other: &T) -> Ordering {
    match (one.before(*other), other.before(*one)) {
        (true, _) => Ordering::Less,
        (_, true) => Ordering::Greater,
        _ => Ordering::Equal,
    }
}

/// The element in the middle; of two the one before.
pub fn middle<T: Element>(block: &mut [T]) -> T {
    let at = (block.len() - 1) / 2;
    *block.select_nth_unstable_by(at, order).1
}

/// The element that is there most often, and of several the first in order.
pub fn commonest<T: Element>(block: &mut [T]) -> T {
    // Equal elements stay as they were.
    block.sort_by(order);
    let (mut best, mut longest, mut length) = (0, 0, 0);
    for place in 0..block.len() {
        length = if place > 0 && block[place] == block[place - 1] { length + 1 } else { 1 };
        if length > longest {
            (best, longest) = (place, length);
        }
    }
    block[best]
}

/// The middle of each of `count` blocks, of which the elements at one place lie side by side.
pub fn middles<T: Element>(blocks: &mut [T], count: usize, made: &mut Vec<T>) {
    sort_side_by_side(blocks, count);
    let at = (blocks.len() / count - 1) / 2;
    made.extend_from_slice(&blocks[at * count..(at + 1) * count]);
}

/// What is there most often in each of them.
pub fn most_common<T: Element>(blocks: &mut [T], count: usize, made: &mut Vec<T>) {
    sort_side_by_side(blocks, count);
    let first = made.len();
    made.extend_from_slice(&blocks[..count]);
    let best = &mut made[first..];
    let (mut longest, mut length) = (vec![1u8; count], vec![1u8; count]);
    for place in 1..blocks.len() / count {
        let before = &blocks[(place - 1) * count..place * count];
        let now = &blocks[place * count..(place + 1) * count];
        for column in 0..count {
            length[column] = if now[column] == before[column] { length[column] + 1 } else { 1 };
            let more = length[column] > longest[column];
            longest[column] = if more { length[column] } else { longest[column] };
            best[column] = if more { now[column] } else { best[column] };
        }
    }
}

/// Neighbours are compared and change places until all are in order: the same steps whatever the elements are, so that
/// many blocks take them at once. Equal elements stay as they were.
fn sort_side_by_side<T: Element>(blocks: &mut [T], count: usize) {
    // Almost always all can be compared, which is then one step.
    if blocks.iter().all(|element| element.partial_cmp(element).is_some()) {
        sort_by_exchange(blocks, count, |one, other| other < one);
    } else {
        sort_by_exchange(blocks, count, |one, other| other.before(one));
    }
}

fn sort_by_exchange<T: Element>(blocks: &mut [T], count: usize, wrong: impl Fn(T, T) -> bool) {
    let size = blocks.len() / count;
    for round in 0..size {
        for place in (round % 2 + 1..size).step_by(2) {
            let (before, after) = blocks.split_at_mut(place * count);
            for (one, other) in before[(place - 1) * count..].iter_mut().zip(&mut after[..count]) {
                let (low, high) = if wrong(*one, *other) { (*other, *one) } else { (*one, *other) };
                (*one, *other) = (low, high);
            }
        }
    }
}
