//! What tokens stand for, for the length of one operation.
//!
//! A token is the number of a *block* and a place in it, where the element's length stands, then its bytes. Blocks of
//! the caller's elements (*sources*) are there before the engine begins; each chunk that is decoded adds one. Places
//! begin behind a block's own prefix, so no token is 0 but the fill value's: whoever looks for chunks of nothing but
//! fill needs to know nothing of elements.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{element, too_long, MAX_LEN, PREFIX};
use crate::codec::foreign::interned;
use crate::error::{Error, Kind, Result};
use crate::scratch::{out_of_memory, reserve};

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
    /// The element of token 0.
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
    sources: usize,
}

fn split(token: u64) -> (usize, usize) {
    ((token >> 32) as usize, (token & u64::from(u32::MAX)) as usize)
}

fn unknown() -> Error {
    Error::new(Kind::Internal, "an element of variable length was lost")
}

impl Blocks<'_> {
    /// The element of a token.
    pub fn element(&self, token: u64) -> Result<&[u8]> {
        if token == 0 {
            return Ok(self.fill);
        }
        let (number, at) = split(token);
        let block = self.blocks.get(number).and_then(Option::as_ref).ok_or_else(unknown)?;
        element(block, at).ok_or_else(unknown)
    }
}

impl Table {
    pub fn new(name: &str, kind: Element, fill: &[u8]) -> Self {
        Table { name: interned(name), kind, fill: fill.into(), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The blocks there are now; those that are added later are not in it.
    pub fn blocks(&self) -> Blocks<'_> {
        let state = self.state();
        Blocks { fill: &self.fill, blocks: state.blocks.clone(), sources: state.sources }
    }

    /// Adds elements of the caller, in order; they stay as long as the table.
    pub fn source(&self) -> Source<'_> {
        Source { table: self, block: vec![0; PREFIX], number: self.reserve() }
    }

    /// Why an element cannot be one of this table.
    pub(super) fn refuses(&self, element: &[u8]) -> Option<String> {
        match self.kind {
            Element::Text => {
                let error = std::str::from_utf8(element).err()?;
                Some(format!("is not UTF-8 text, from byte {} on", error.valid_up_to()))
            }
            Element::Bytes(unit) if unit > 1 && element.len() % unit != 0 => {
                Some(format!("has {} bytes, not a multiple of {unit}", element.len()))
            }
            Element::Bytes(_) => None,
        }
    }

    /// The token of the element at this place.
    pub(super) fn token(&self, number: usize, at: usize, element: &[u8]) -> u64 {
        if *element == *self.fill {
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

    /// Forgets all blocks that some of these tokens point to, but for the caller's.
    pub(super) fn release_all(&self, blocks: &Blocks<'_>, tokens: &[u8]) {
        let mut released: Vec<usize> = Vec::new();
        for token in tokens.chunks_exact(TOKEN) {
            let token = read(token);
            let (number, _) = split(token);
            if token != 0 && number >= blocks.sources && !released.contains(&number) {
                released.push(number);
            }
        }
        released.into_iter().for_each(|number| self.release(number));
    }

    /// Keeps only the elements of these tokens, which are all that is wanted of a chunk, and changes the tokens to where
    /// they are now.
    pub(super) fn keep(&self, tokens: &mut [u8]) -> Result<()> {
        let blocks = self.blocks();
        let number = self.reserve();
        let mut kept = vec![0; PREFIX];
        let mut old = Vec::new();
        reserve(&mut old, tokens.len())?;
        old.extend_from_slice(tokens);
        for token in tokens.chunks_exact_mut(TOKEN) {
            let element = blocks.element(read(token))?;
            token.copy_from_slice(&self.token(number, kept.len(), element).to_ne_bytes());
            append(&mut kept, element)?;
        }
        self.put(number, kept);
        self.release_all(&blocks, &old);
        Ok(())
    }
}

/// Elements of the caller on their way into a table.
pub struct Source<'t> {
    table: &'t Table,
    block: Vec<u8>,
    number: usize,
}

impl Source<'_> {
    /// Adds an element, which must be UTF-8 in a table of text, and gives its token.
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
pub(super) fn append(block: &mut Vec<u8>, element: &[u8]) -> Result<()> {
    block.try_reserve(PREFIX + element.len()).map_err(|_| out_of_memory(element.len()))?;
    block.extend_from_slice(&(element.len() as u32).to_le_bytes());
    block.extend_from_slice(element);
    Ok(())
}
