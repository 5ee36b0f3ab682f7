# Every verb of this project. `make demo` and `make test` need Python 3.11+ and a Rust toolchain, nothing else.

PYTHON ?= python3
FUZZ_SECONDS ?= 60
VENV := .venv
BIN := $(VENV)/bin
RUST := $(shell find rust -name '*.rs') rust/core/Cargo.toml rust/object/Cargo.toml rust/py/Cargo.toml Cargo.toml Cargo.lock

# The crates of the workspace with checks; all others are those that the package was built with.
CHECKED := CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true

.PHONY: help demo test lint types rust unit interop downstream fixtures soak fuzz miri model bench docs site wheel clean

help:  ## this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

$(VENV)/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "blizzarr needs Python 3.11 or newer; name one: make PYTHON=python3.12"; exit 1; }
	@cargo --version >/dev/null || { echo "blizzarr is built with Rust: see https://rustup.rs"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	@touch $@

# The package with its extension module (a release build), and what `demo` needs.
$(VENV)/built: $(VENV)/made pyproject.toml $(RUST)
	@echo "Building the engine: a few minutes, the first time."
	$(BIN)/python -m pip install --editable .
	@touch $@

# The same for local files only, for a first look: half as much to compile.
$(VENV)/tried: $(VENV)/made pyproject.toml $(RUST)
	@echo "Building the engine for local files: 1 to 7 minutes, the first time."
	MATURIN_PEP517_ARGS=--no-default-features $(BIN)/python -m pip install --editable .
	@touch $@

# What the tests need besides: tools, and the peers that come from the Python registry.
$(VENV)/tested: $(VENV)/built tests/interop/peers.txt
	$(BIN)/python -m pip install --quiet --editable '.[dev]' --requirement tests/interop/peers.txt
	@touch $@

demo: $(if $(wildcard $(VENV)/built),$(VENV)/built,$(VENV)/tried)  ## the main job on real data
	$(BIN)/python examples/demo.py

test: lint types rust unit  ## every test that needs only the Python and Rust registries

lint: $(VENV)/tested  ## formatting and lints of both languages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	cargo fmt --all --check
	cargo fmt --check --manifest-path bench/limit/Cargo.toml
	cargo fmt --check --manifest-path rust/fuzz/Cargo.toml
	$(CHECKED) cargo clippy --quiet --release --workspace --all-targets -- --deny warnings
	cargo clippy --quiet --manifest-path rust/fuzz/Cargo.toml --target-dir target --lib --no-default-features -- --deny warnings

types: $(VENV)/tested  ## mypy, strict
	$(BIN)/mypy

rust:  ## tests of the engine, without Python
	$(CHECKED) cargo test --quiet --release --workspace

unit: $(VENV)/tested  ## tests of the package
	$(BIN)/python -m pytest --numprocesses auto

interop: $(VENV)/tested  ## peers of other ecosystems read what we write, and the reverse
	$(BIN)/python -m tests.interop $(ARGS)

downstream: $(VENV)/tested  ## tests of other projects, without blizzarr and on it: an hour
	cd tests && nice ../$(BIN)/python -m downstream $(ARGS)

fixtures: $(VENV)/tested  ## have other implementations write tests/fixtures/data anew
	cd tests && ../$(BIN)/python -W ignore -m fixtures $(ARGS)

soak: $(VENV)/tested  ## tests that take long, then every promise tried to its full count: hours, but it goes on where it was
	$(BIN)/python -m pytest --numprocesses auto -m thorough
	$(BIN)/python -m pytest --numprocesses auto --hypothesis-profile soak tests/property
	cd tests && nice ../$(BIN)/python -m soak $(ARGS)

# Where there is no atheris for this Python, documents are damaged without following the code.
.envs/fuzz: $(VENV)/built
	-$(BIN)/python -m pip install --quiet --target $@ atheris

fuzz: $(VENV)/built .envs/fuzz  ## each fuzz target for FUZZ_SECONDS: codecs, shards, plans, whole chunks, documents
	PYTHONPATH=$(CURDIR)/.envs/fuzz $(BIN)/python rust/fuzz/fuzz.py --seconds $(FUZZ_SECONDS) $(ARGS)

# The tests of the engine that call no C, at sizes that Miri can do in minutes.
MIRI := tests::geometry reserve:: panics:: pool:: fill:: store::key store::ranges

miri:  ## Miri over copies, plans and the pool of threads; without Miri `fuzz` has the same copies under a sanitizer
	@if cargo +nightly miri --version >/dev/null 2>&1; then \
	  MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-ignore-leaks" \
	  cargo +nightly miri test --target-dir target/miri --package blizzarr-core --lib -- $(MIRI); \
	else \
	  echo "skipped: Miri comes with a nightly toolchain (rustup toolchain install nightly --component miri,rust-src)"; \
	fi

SCHEDULES ?= 100000
model:  ## locks of threads and processes in SCHEDULES random orders of their steps, and as many with few changes of thread (Shuttle)
	RUSTFLAGS="--cfg shuttle" BLIZZARR_SCHEDULES=$(SCHEDULES) \
	  cargo test --quiet --locked --target-dir target/model --package blizzarr-core --lib -- exclusion::model fairness::model

bench: $(VENV)/built  ## every implementation in turn, with ratios to each other and to the bare limit
	$(BIN)/python -m bench $(ARGS)

docs: $(VENV)/tested  ## the code of every page runs
	$(BIN)/python -m pytest tests/test_docs.py

# What makes the site.
$(VENV)/documented: $(VENV)/built
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $@

site: $(VENV)/documented  ## the pages, the reference and the executed notebooks, into target/site; links are checked
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

wheel: $(VENV)/made  ## one wheel for every Python from 3.11 on
	$(BIN)/python -m pip wheel --no-deps --wheel-dir dist .

clean:  ## remove what the other verbs made
	rm -rf $(VENV) .envs target bench/limit/target dist demo-output
