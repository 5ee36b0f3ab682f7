#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| blizzarr_fuzz::uint64_shard(data));
