//! Counters for the edges of C code: see `src/coverage.c`.

fn main() {
    println!("cargo::rerun-if-changed=src/coverage.c");
    cc::Build::new().file("src/coverage.c").cargo_metadata(false).compile("coverage");
    let out = std::env::var("OUT_DIR").expect("cargo sets it");
    println!("cargo::rustc-link-search=native={out}");
    // Whole, as what calls it comes later on the linker's command line.
    println!("cargo::rustc-link-lib=static:+whole-archive=coverage");
    println!("cargo::rustc-link-arg-bins=-Wl,--wrap=__sanitizer_cov_trace_pc");
}
