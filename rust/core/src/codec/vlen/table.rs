//! What tokens stand for, for the length of one operation.
//!
//! A token is the number of a *block* and a place in it, where the element's length stands, then its bytes. Blocks of
//! the caller's elements (*sources*) are there before the engine begins; each chunk that is decoded adds one. Places
//! begin behind a block's own prefix, so no token is 0 but the fill value's: whoever looks for chunks of nothing but
//! fill needs to know nothing of elements.

use std::collections::HashMap;
use std::iter::Peekable;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{element, too_long, MAX_LEN, PREFIX};
use crate::codec::foreign::interned;
use crate::error::{Error, Kind, Result};
use crate::scratch::out_of_memory;

/// Bytes of a token.
pub const TOKEN: usize = 8;

/// Elements of the caller fill one block after the other.
const SOURCE_LEN: usize = 1 << 30;

/// What the elements of a table are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// UTF-8.
    Text,
    /// Bytes, as many as a multiple of this.
    Bytes(usize),
}

/// Elements of variable length, by token.
pub struct Table {
    /// The codec's, for error messages.
    pub name: &'static str,
    /// What each element must be.
    kind: Element,
    /// The element of token 0, behind its length as in a block.
    fill: Box<[u8]>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    blocks: Vec<Option<Arc<Vec<u8>>>>,
    /// Numbers below this belong to the caller's elements.
    sources: usize,
    /// Numbers whose blocks have been released, to be used again.
    free: Vec<usize>,
}

/// The blocks of a table at one moment.
pub struct Blocks<'t> {
    fill: &'t [u8],
    blocks: Vec<Option<Arc<Vec<u8>>>>,
}

fn split(token: u64) -> (usize, usize) {
    ((token >> 32) as usize, (token & u64::from(u32::MAX)) as usize)
}

fn unknown() -> Error {
    Error::new(Kind::Internal, "an element of variable length was lost")
}

impl Blocks<'_> {
    /// The element of a token.
    #[inline]
    pub fn element(&self, token: u64) -> Result<&[u8]> {
        let (block, at) = self.place(token)?;
        element(block, at).ok_or_else(unknown)
    }

    /// The element of a token behind its length, with as many of those that follow as lie behind it in its block: for the
    /// caller's elements, all that one chunk gets are one run, unless some of them are the fill value.
    pub(super) fn run(&self, token: u64, rest: &mut Peekable<impl Iterator<Item = u64>>) -> Result<&[u8]> {
        let (block, start) = self.place(token)?;
        let mut end = start;
        loop {
            end += PREFIX + element(block, end).ok_or_else(unknown)?.len();
            let next = token.wrapping_add((end - start) as u64);
            if token == 0 || rest.next_if_eq(&next).is_none() {
                return Ok(&block[start..end]);
            }
        }
    }

    /// The block of a token's element, and where in it its length stands.
    #[inline]
    fn place(&self, token: u64) -> Result<(&[u8], usize)> {
        if token == 0 {
            return Ok((self.fill, 0));
        }
        let (number, at) = split(token);
        let block = self.blocks.get(number).and_then(Option::as_ref).ok_or_else(unknown)?;
        Ok((block, at))
    }
}

impl Table {
    pub fn new(name: &str, kind: Element, fill: &[u8]) -> Self {
        let fill = [&(fill.len() as u32).to_le_bytes(), fill].concat().into();
        Table { name: interned(name), kind, fill, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The blocks there are now; those that are added later are not in it.
    pub fn blocks(&self) -> Blocks<'_> {
        let state = self.state();
        Blocks { fill: &self.fill, blocks: state.blocks.clone() }
    }

    /// Adds elements of the caller, in order; they stay as long as the table.
    pub fn source(&self) -> Source<'_> {
        Source { table: self, block: vec![0; PREFIX], number: self.reserve() }
    }

    /// Why an element cannot be one of this table; `is_ascii` where it is known to be.
    #[inline]
    pub(super) fn refuses(&self, element: &[u8], is_ascii: bool) -> Option<String> {
        match self.kind {
            // Most are, and this takes a fraction of the time.
            Element::Text if is_ascii || element.is_ascii() => None,
            Element::Text => {
                let error = std::str::from_utf8(element).err()?;
                Some(format!("is not UTF-8 text, from byte {} on", error.valid_up_to()))
            }
            Element::Bytes(unit) if unit > 1 && !element.len().is_multiple_of(unit) => {
                Some(format!("has {} bytes, not a multiple of {unit}", element.len()))
            }
            Element::Bytes(_) => None,
        }
    }

    /// The token of the element at this place.
    #[inline]
    pub(super) fn token(&self, number: usize, at: usize, element: &[u8]) -> u64 {
        let fill = &self.fill[PREFIX..];
        // Comparing nothing with nothing takes long where the address of nothing is one that nobody has: the processor
        // loads from it, and then forgets that it could not.
        if element.len() == fill.len() && (fill.is_empty() || element == fill) {
            0
        } else {
            (number as u64) << 32 | at as u64
        }
    }

    /// A number for a block that is about to come.
    pub(super) fn reserve(&self) -> usize {
        let mut state = self.state();
        state.free.pop().unwrap_or_else(|| {
            state.blocks.push(None);
            state.blocks.len() - 1
        })
    }

    /// Puts the block that a number was reserved for.
    pub(super) fn fill_in(&self, number: usize, bytes: &[u8]) -> Result<()> {
        let mut block = Vec::new();
        block.try_reserve_exact(bytes.len()).map_err(|_| out_of_memory(bytes.len()))?;
        block.extend_from_slice(bytes);
        self.put(number, block);
        Ok(())
    }

    fn put(&self, number: usize, block: Vec<u8>) {
        self.state().blocks[number] = Some(Arc::new(block));
    }

    /// Forgets a block, to which no token may point any more.
    pub(super) fn release(&self, number: usize) {
        let mut state = self.state();
        state.blocks[number] = None;
        state.free.push(number);
    }

    /// The blocks that some of these tokens point to, but for the caller's: for what was decoded from one chunk, one block.
    fn decoded(&self, tokens: &[u8]) -> Vec<Decoded> {
        let mut numbers: Vec<usize> = Vec::new();
        for token in tokens.chunks_exact(TOKEN).map(read).filter(|&token| token != 0) {
            let (number, _) = split(token);
            if numbers.last() != Some(&number) && !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        let state = self.state();
        let block = |number| Some(Decoded { number, bytes: Arc::clone(state.blocks.get(number)?.as_ref()?) });
        numbers.into_iter().filter(|&number| number >= state.sources).filter_map(block).collect()
    }

    /// Keeps of what was decoded as `cell` only the elements that the tokens of `wanted` point to, some of the cell's, and
    /// changes these to where the elements are now.
    pub(super) fn keep(&self, wanted: &mut [u8], cell: &[u8]) -> Result<()> {
        let decoded = self.decoded(cell);
        if decoded.is_empty() {
            return Ok(());
        }
        if !wanted.is_empty() {
            let number = self.reserve();
            match self.pack(&decoded, number, wanted) {
                Ok(kept) => self.put(number, kept),
                Err(error) => {
                    self.release(number);
                    return Err(error);
                }
            }
        }
        decoded.into_iter().for_each(|block| self.release(block.number));
        Ok(())
    }

    /// A block of the elements of these tokens, which are changed to point there. It has no element twice if it would
    /// become longer than the blocks they come from: a selection may repeat the longest of them as often as it likes.
    fn pack(&self, decoded: &[Decoded], number: usize, tokens: &mut [u8]) -> Result<Vec<u8>> {
        let element = |token: u64| {
            let (number, at) = split(token);
            let block = decoded.iter().find(|block| block.number == number)?;
            element(&block.bytes, at)
        };
        let most: usize = decoded.iter().map(|block| block.bytes.len()).sum();
        let all = tokens.chunks_exact(TOKEN).filter_map(|token| element(read(token)));
        let repeats = PREFIX + all.map(|element| PREFIX + element.len()).sum::<usize>() > most;
        let mut moved: HashMap<u64, u64> = HashMap::new();
        let mut kept = vec![0; PREFIX];
        for token in tokens.chunks_exact_mut(TOKEN) {
            let old = read(token);
            // The fill value, or the caller's.
            let Some(element) = element(old).filter(|_| old != 0) else { continue };
            let new = match moved.get(&old) {
                Some(&new) => new,
                None => {
                    if kept.len() > u32::MAX as usize {
                        return Err(too_long(self.name, kept.len()));
                    }
                    let new = self.token(number, kept.len(), element);
                    append(&mut kept, element)?;
                    if repeats {
                        moved.try_reserve(1).map_err(|_| out_of_memory(most))?;
                        moved.insert(old, new);
                    }
                    new
                }
            };
            token.copy_from_slice(&new.to_ne_bytes());
        }
        Ok(kept)
    }
}

/// A block that a chunk was decoded to.
struct Decoded {
    number: usize,
    bytes: Arc<Vec<u8>>,
}

/// Elements of the caller on their way into a table.
pub struct Source<'t> {
    table: &'t Table,
    block: Vec<u8>,
    number: usize,
}

impl Source<'_> {
    /// Adds an element, which must be UTF-8 in a table of text, and gives its token.
    #[inline]
    pub fn push(&mut self, element: &[u8]) -> Result<u64> {
        if element.len() > MAX_LEN - 2 * PREFIX {
            return Err(too_long(self.table.name, element.len()));
        }
        if self.block.len() > PREFIX && self.block.len() + PREFIX + element.len() > SOURCE_LEN {
            self.table.put(self.number, std::mem::replace(&mut self.block, vec![0; PREFIX]));
            self.number = self.table.reserve();
        }
        let token = self.table.token(self.number, self.block.len(), element);
        if token != 0 {
            append(&mut self.block, element)?;
        }
        Ok(token)
    }

    /// All are there.
    pub fn finish(self) {
        self.table.put(self.number, self.block);
        let mut state = self.table.state();
        state.sources = state.blocks.len();
    }
}

/// A token as the engine has it in memory.
pub(super) fn read(token: &[u8]) -> u64 {
    token.try_into().map_or(0, u64::from_ne_bytes)
}

/// Appends an element with its length.
#[inline]
fn append(block: &mut Vec<u8>, element: &[u8]) -> Result<()> {
    if block.capacity() - block.len() < PREFIX + element.len() {
        block.try_reserve(PREFIX + element.len()).map_err(|_| out_of_memory(element.len()))?;
    }
    block.extend_from_slice(&(element.len() as u32).to_le_bytes());
    block.extend_from_slice(element);
    Ok(())
}
