//! What is found by putting the elements of a block in order.

use std::cmp::Ordering;

use super::element::Element;

/// So few elements are put in order one by one.
const FEW: usize = 20;

fn order<T: Element>(one: &T, other: &T) -> Ordering {
    match (one.before(*other), other.before(*one)) {
        (true, _) => Ordering::Less,
        (_, true) => Ordering::Greater,
        _ => Ordering::Equal,
    }
}

/// Equal elements stay as they were.
fn sort<T: Element>(block: &mut [T]) {
    if block.len() > FEW {
        block.sort_by(order);
        return;
    }
    for next in 1..block.len() {
        let element = block[next];
        let mut place = next;
        while place > 0 && element.before(block[place - 1]) {
            block[place] = block[place - 1];
            place -= 1;
        }
        block[place] = element;
    }
}

/// The element in the middle; of two the one before.
pub fn middle<T: Element>(block: &mut [T]) -> T {
    let place = (block.len() - 1) / 2;
    if block.len() <= FEW {
        sort(block);
        return block[place];
    }
    *block.select_nth_unstable_by(place, order).1
}

/// The element that is there most often, and of several the first in order.
pub fn commonest<T: Element>(block: &mut [T]) -> T {
    sort(block);
    let (mut best, mut longest, mut length) = (0, 0, 0);
    for place in 0..block.len() {
        length = if place > 0 && block[place] == block[place - 1] { length + 1 } else { 1 };
        if length > longest {
            (best, longest) = (place, length);
        }
    }
    block[best]
}
