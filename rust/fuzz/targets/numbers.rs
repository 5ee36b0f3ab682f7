#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| blizzarr_fuzz::numbers(data));
