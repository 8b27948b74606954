# make demo | make test | make bench | make docs; `make help` lists the rest.
# Needs python3.11 (or PYTHON=python3.13), cargo and make; all else goes into .venv.

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=

# The versions in uv.lock and Cargo.lock, and no other Python than the one above.
export UV_PROJECT_ENVIRONMENT := $(VENV)
export UV_PYTHON_DOWNLOADS := never
export MATURIN_PEP517_ARGS := --locked
export PYO3_PYTHON := $(abspath $(BIN)/python)
# With cached bytecode a command starts in a third of the time.
unexport VIRTUAL_ENV PYTHONDONTWRITEBYTECODE

DEPENDENCIES := $(VENV)/.dependencies
EXTENSION := python/lightburst/_core.abi3.so
CHECKED := target/checked/release/lib_core.so
RUST := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo format lint lint-python lint-rust checks test test-rust test-all wheel races bench bench-peers keys golden reproduced calibrated docs clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(EXTENSION) ## make .venv and build the extension; at once when nothing changed

# uv comes in the version that uv.lock pins, and then installs exactly what uv.lock says.
$(DEPENDENCIES): uv.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "uv==$$($(BIN)/python -c \
	  'import tomllib; lock = tomllib.load(open("uv.lock", "rb")); print(next(p["version"] for p in lock["package"] if p["name"] == "uv"))')"
	$(BIN)/uv sync --locked --no-install-project
	touch $@

# Built by the pinned maturin of .venv, in release.
$(EXTENSION): $(DEPENDENCIES) $(RUST)
	MAKEFLAGS= PATH="$(abspath $(BIN)):$$PATH" $(BIN)/uv sync --locked \
	  --reinstall-package lightburst --no-build-isolation-package lightburst
	touch $@

demo: setup ## the first paper in a minute: a table, a figure and one offline page in out/demo
	$(BIN)/lightburst reproduce minakhmetov2018 --quick --out out/demo

format: setup ## format Rust and Python
	cargo fmt --all
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

lint: lint-python lint-rust ## formatting, clippy, ruff, mypy and the structure check

lint-python: $(DEPENDENCIES)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/python tools/tidy.py

lint-rust: $(DEPENDENCIES)
	cargo fmt --all --check
	MAKEFLAGS= cargo clippy --quiet --locked --workspace --all-targets -- -D warnings

# The border to Python is tested from Python: its crate is a module, which no test program can link.
test-rust: $(DEPENDENCIES) ## the tests of the crates
	MAKEFLAGS= cargo test --quiet --locked --workspace --exclude lightburst-py --lib --profile unit
	MAKEFLAGS= cargo test --quiet --locked --package lightburst-sim --test '*'

# Two at a time: mypy has one thread, as has the linker of the extension. Cargo takes all processors,
# not make's two jobs. The output of each is printed as one, where make can do so.
checks: $(DEPENDENCIES)
	+$(MAKE) --no-print-directory --jobs=2 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target) \
	  setup lint-python lint-rust test-rust

# With ARGS pytest runs what they name; nothing else comes before it.
BEFORE_PYTEST := $(if $(ARGS),setup,checks)

test: $(BEFORE_PYTEST) ## everything that continuous integration runs; ARGS="-k wheel": only those tests
	$(BIN)/pytest $(or $(ARGS),-m "not slow" --numprocesses auto --dist worksteal)

test-all: $(BEFORE_PYTEST) $(CHECKED) races ## the same and the tests that take minutes, on a core that checks its arithmetic
	LIGHTBURST_TWIN=always LIGHTBURST_FUZZ=10000 LIGHTBURST_CHECKED_CORE=$(abspath $(CHECKED)) $(BIN)/pytest $(ARGS)

races: ## all orders of the operations of the barrier of a run on threads (loom)
	cargo test --quiet --locked --manifest-path tests/races/Cargo.toml --target-dir target/races

# As the extension, with overflow checks and debug assertions; tests/checked_core.py loads it.
$(CHECKED): $(DEPENDENCIES) $(RUST)
	CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true \
	  CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
	  cargo build --quiet --locked --release --package lightburst-py --target-dir target/checked
	touch $@

wheel: setup ## one abi3 wheel in dist/
	rm -f dist/*.whl
	$(BIN)/maturin build --quiet --release --locked --out dist
	@ls dist/*.whl

bench: setup ## speed of one core and of several threads, memory, the event queue alone; ARGS="--format json"
	$(BIN)/python benches/run.py $(ARGS)
	$(BIN)/python benches/threads.py

bench-peers: setup ## ns-2 beside the nearest scenario of ours
	$(BIN)/python benches/peers.py $(ARGS)

keys: setup ## the tables of keys in docs/scenario.md and the JSON schema, from the fields of the scenario
	$(BIN)/python tools/keys.py

golden: setup ## the recorded runs that tests compare with: our senders, the twin, ns-2 if it is installed; read the changes
	cd tests/verification && $(abspath $(BIN))/python -m scripted.freeze
	cd tests/verification && $(abspath $(BIN))/python -m recorded_results
	cd tests/verification && if command -v ns >/dev/null; then $(abspath $(BIN))/python -m ns2.rerun; else echo "without ns-2 its recorded runs stay"; fi

reproduced: keys ## docs/reproduced.md, and README's picture and table, from a run of all papers; ARGS=yu2004: of one
	$(BIN)/python tools/readme.py $(ARGS)

calibrated: setup ## what the statements of a paper determine, for docs/reproduced.md; ARGS="yu2004 --points 5"; takes an hour or so
	$(BIN)/python tools/calibrated.py $(ARGS)

docs: setup ## the site, in out/docs/index.html; its notebooks run; a warning is an error
	$(BIN)/python -m sphinx -W --keep-going --quiet -d out/doctrees docs out/docs $(ARGS)
	@echo out/docs/index.html

clean: ## remove what make builds, not what runs have stored
	rm -rf $(VENV) target dist $(EXTENSION)
