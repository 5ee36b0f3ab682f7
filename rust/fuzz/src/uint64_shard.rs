//! Shards of Neuroglancer: laid down, damaged, and asked for each chunk; all of it must be a part of the shard, or an error.

use std::collections::BTreeMap;
use std::sync::Arc;

use blizzarr_core::error::Kind;
use blizzarr_core::store::memory::MemoryStore;
use blizzarr_core::store::uint64_sharded::{ShardedStore, Sharding};
use blizzarr_core::store::Store;

use crate::input::Input;
use crate::mutation::{damage, field, Damage};

const CHUNKS: u64 = 8;

/// A shard, damaged; then one chunk of it is replaced.
pub fn uint64_shard(data: &[u8]) {
    let mut input = Input(data);
    let sharding = Sharding {
        preshift_bits: input.range(0..=3) as u32,
        minishard_bits: input.range(0..=2) as u32,
        shard_bits: 0,
        murmur: input.flag(),
        gzip_index: input.one_in(4),
    };
    let memory = Arc::new(MemoryStore::new());
    let store = ShardedStore::new(memory.clone(), String::new(), sharding, CHUNKS, 64).expect("few bits");
    let mut chunks = BTreeMap::new();
    for _ in 0..input.range(0..=6) {
        let chunk = input.u64() % CHUNKS;
        let length = input.range(0..=12);
        chunks.insert(chunk, Some(input.bytes(length)));
    }
    store.whole(0).and_then(|shard| store.store_whole(shard, &chunks)).expect("a shard");
    let Some(mut bytes) = memory.get("0.shard").expect("memory") else {
        assert!(chunks.is_empty());
        return;
    };
    let length = bytes.len();
    let fields: Vec<_> = (0..length / 8).flat_map(|at| [field(8 * at, 8), field(8 * at, 1)]).collect();
    let done = damage(&mut input, &mut bytes, &fields);
    memory.set("0.shard", &[&bytes]).expect("memory");
    for chunk in 0..CHUNKS {
        match store.get(&format!("{chunk:016x}")) {
            Ok(found) if done == Damage::None => assert_eq!(found, chunks.get(&chunk).cloned().flatten()),
            Ok(None) => {}
            Ok(Some(found)) => {
                assert!(found.is_empty() || bytes.windows(found.len()).any(|part| part == found), "made up");
            }
            Err(error) => {
                assert!(done != Damage::None);
                assert!(
                    matches!(error.kind, Kind::ShardIndex | Kind::Codec | Kind::Checksum | Kind::Limit),
                    "{error:?}"
                );
                assert_eq!(error.key.as_deref(), Some("0.shard"));
            }
        }
    }
    let change = BTreeMap::from([(input.u64() % CHUNKS, Some(vec![1, 2, 3]))]);
    match store.whole(0) {
        Err(error) => assert!(done != Damage::None, "{error:?}"),
        Ok(shard) => {
            store.store_whole(shard, &change).expect("memory");
            let (chunk, value) = change.first_key_value().expect("one");
            assert_eq!(store.get(&format!("{chunk:016x}")).expect("stored"), *value);
        }
    }
}
