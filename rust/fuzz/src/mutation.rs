//! Damage to encoded bytes: where a format has its numbers first of all, then anywhere.

use crate::input::Input;

/// A number in encoded bytes: where it lies, and how many bytes it has.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    pub at: usize,
    pub length: usize,
}

pub fn field(at: usize, length: usize) -> Field {
    Field { at, length }
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    None,
    /// One bit is another one: what every checksum notices.
    Bit,
    Other,
}

/// Damages `bytes` a few times; big-endian fields do not occur in any format here.
pub fn damage(input: &mut Input<'_>, bytes: &mut Vec<u8>, fields: &[Field]) -> Damage {
    match input.range(0..=7) {
        0 => Damage::None,
        1 if !bytes.is_empty() => {
            let at = input.range(0..=bytes.len() - 1);
            bytes[at] ^= 1 << (input.byte() & 7);
            Damage::Bit
        }
        _ => {
            for _ in 0..=input.range(0..=3) {
                once(input, bytes, fields);
            }
            Damage::Other
        }
    }
}

fn once(input: &mut Input<'_>, bytes: &mut Vec<u8>, fields: &[Field]) {
    let length = bytes.len();
    match input.range(0..=7) {
        0..=3 if !fields.is_empty() => {
            let field = input.pick(fields);
            set(input, bytes, field);
        }
        4 if length > 0 => {
            let at = input.range(0..=length - 1);
            bytes[at] = input.byte();
        }
        5 => bytes.truncate(input.range(0..=length)),
        6 => {
            let more = input.range(0..=12);
            let mut more = input.bytes(more);
            let at = if input.flag() { length } else { input.range(0..=length) };
            let tail = bytes.split_off(at);
            bytes.append(&mut more);
            bytes.extend_from_slice(&tail);
        }
        _ if length > 1 => {
            let (from, to) = (input.range(0..=length - 1), input.range(0..=length - 1));
            let count = input.range(1..=32).min(length - from.max(to));
            bytes.copy_within(from..from + count, to);
        }
        _ => {}
    }
}

/// Sets a number to something that a check might have forgotten.
pub fn set(input: &mut Input<'_>, bytes: &mut [u8], field: Field) {
    let whole = bytes.len() as u64;
    let Some(slot) = bytes.get_mut(field.at..).and_then(|rest| rest.get_mut(..field.length)) else { return };
    let mut wide = [0; 8];
    let width = field.length.min(8);
    wide[..width].copy_from_slice(&slot[..width]);
    let old = u64::from_le_bytes(wide);
    let bits = 8 * width as u32;
    let most = u64::MAX >> (64 - bits);
    let new = match input.range(0..=13) {
        0 => 0,
        1 => 1,
        2 => most,
        3 => most >> 1,
        4 => (most >> 1) + 1,
        5 => old.wrapping_add(1),
        6 => old.wrapping_sub(1),
        7 => old.wrapping_add(input.range(0..=300) as u64),
        8 => old.wrapping_sub(input.range(0..=300) as u64),
        9 => whole,
        10 => old << 1,
        11 => most - input.range(0..=255) as u64,
        12 => 1 << (u32::from(input.byte()) % bits),
        _ => input.u64(),
    };
    slot[..width].copy_from_slice(&new.to_le_bytes()[..width]);
}
