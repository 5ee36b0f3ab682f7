//! One part of a pool: its entries by their numbers, in the order of their last use.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use super::changes::Stamp;
use super::flight::Flight;
use super::object::Object;
use super::Id;

/// No entry.
const NONE: u32 = u32::MAX;
/// Room for so many is not worth giving back.
const ROOMY: usize = 1024;

/// Something that is kept.
pub struct Entry {
    pub object: Arc<Object>,
    /// When it was last known to be what is stored, in nanoseconds of its pool.
    pub checked: u64,
    /// What this process had changed of it by then.
    pub stamp: Option<Stamp>,
    /// What it takes of the pool.
    pub cost: usize,
}

struct Node {
    id: Id,
    entry: Entry,
    /// When it was used last.
    used: u64,
    /// Used before and after it.
    older: u32,
    newer: u32,
}

/// Numbers of entries are hashes already.
#[derive(Default)]
pub struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u128(&mut self, number: u128) {
        self.0 = (number >> 64) as u64;
    }
}

type ById<T> = HashMap<Id, T, BuildHasherDefault<AsIs>>;

/// Entries in a doubly linked list that lies in one vector.
pub struct Entries {
    by_id: ById<u32>,
    nodes: Vec<Option<Node>>,
    free: Vec<u32>,
    oldest: u32,
    newest: u32,
    /// What is being fetched at the moment.
    pub flights: ById<Arc<Flight>>,
}

impl Default for Entries {
    fn default() -> Self {
        Entries {
            by_id: ById::default(),
            nodes: Vec::new(),
            free: Vec::new(),
            oldest: NONE,
            newest: NONE,
            flights: ById::default(),
        }
    }
}

impl Entries {
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// An entry that is used now.
    pub fn touch(&mut self, id: Id, now: u64) -> Option<&mut Entry> {
        let slot = *self.by_id.get(&id)?;
        if slot != self.newest {
            self.unlink(slot);
            self.link(slot);
        }
        let node = self.nodes[slot as usize].as_mut()?;
        node.used = now;
        Some(&mut node.entry)
    }

    /// An entry that is only looked at.
    pub fn peek(&mut self, id: Id) -> Option<&mut Entry> {
        let slot = *self.by_id.get(&id)?;
        self.nodes[slot as usize].as_mut().map(|node| &mut node.entry)
    }

    /// Adds an entry; gives the one that had its number, or the entry itself if there is no memory for one more.
    pub fn insert(&mut self, id: Id, entry: Entry, now: u64) -> Option<Entry> {
        let before = self.remove(id);
        let list = &mut self.nodes;
        if before.is_none() && (list.try_reserve(1).is_err() || self.by_id.try_reserve(1).is_err()) {
            return Some(entry);
        }
        let node = Some(Node { id, entry, used: now, older: NONE, newer: NONE });
        let slot = match self.free.pop() {
            Some(slot) => {
                self.nodes[slot as usize] = node;
                slot
            }
            None => {
                self.nodes.push(node);
                (self.nodes.len() - 1) as u32
            }
        };
        self.by_id.insert(id, slot);
        self.link(slot);
        before
    }

    pub fn remove(&mut self, id: Id) -> Option<Entry> {
        let slot = self.by_id.remove(&id)?;
        self.unlink(slot);
        self.free.push(slot);
        let removed = self.nodes[slot as usize].take();
        if self.nodes.len() > ROOMY && self.free.len() > self.nodes.len() / 4 * 3 {
            self.shrink();
        }
        removed.map(|node| node.entry)
    }

    /// What all entries take of the pool.
    pub fn cost(&self) -> usize {
        self.nodes.iter().flatten().map(|node| node.entry.cost).sum()
    }

    /// Gives back the memory of entries that are no more: many small ones may have made way for few large ones.
    fn shrink(&mut self) {
        let flights = std::mem::take(&mut self.flights);
        let mut before = std::mem::take(self);
        self.flights = flights;
        let mut next = before.oldest;
        while let Some(node) = before.nodes.get_mut(next as usize).and_then(Option::take) {
            next = node.newer;
            self.insert(node.id, node.entry, node.used);
        }
    }

    /// When the entry was used that has not been used for longest.
    pub fn oldest(&self) -> Option<(Id, u64)> {
        self.nodes.get(self.oldest as usize)?.as_ref().map(|node| (node.id, node.used))
    }

    fn node(&mut self, slot: u32) -> Option<&mut Node> {
        self.nodes.get_mut(slot as usize)?.as_mut()
    }

    fn unlink(&mut self, slot: u32) {
        let Some(&mut Node { older, newer, .. }) = self.node(slot) else { return };
        match self.node(older) {
            Some(node) => node.newer = newer,
            None => self.oldest = newer,
        }
        match self.node(newer) {
            Some(node) => node.older = older,
            None => self.newest = older,
        }
    }

    fn link(&mut self, slot: u32) {
        let before = self.newest;
        if let Some(node) = self.node(slot) {
            (node.older, node.newer) = (before, NONE);
        }
        match self.node(before) {
            Some(node) => node.newer = slot,
            None => self.oldest = slot,
        }
        self.newest = slot;
    }
}
