# Every target makes what it needs: a virtual environment in .venv, with the extras it uses.
# Needed beforehand: make, and Python 3.11 or newer.  Another Python: make test PYTHON=python3.13

SHELL := /bin/sh
BIN := .venv/bin
# The first Python that is new enough; asked for only when .venv is made. It is run, not only
# looked for, because version managers put a command there for versions they do not have.
PYTHON ?= $(shell for python in python3.11 python3; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)
# Processes of the test run; JOBS=0 runs the tests in one process (for a debugger).
JOBS ?= auto
# How long `make soak` goes on.
MINUTES ?= 30
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: help demo test test-long soak accuracy lint format docs bench bench-env clean
.DELETE_ON_ERROR:

help:
	@echo "make demo       show what it does, in a few seconds"
	@echo "make test       all tests"
	@echo "make test-long  the random programs at length (2000 programs, random seeds)"
	@echo "make soak       random kernels, batches, threads, interrupts for MINUTES=30"
	@echo "make accuracy   measure all elementary functions, into docs/accuracy.md (an hour)"
	@echo "make lint       ruff, basedpyright, import-linter"
	@echo "make format     let ruff rewrite the files; bring the contents in CONTRIBUTING.md up to date"
	@echo "make docs       the documentation, into docs/_build/html"
	@echo "make bench      measure this machine, into docs/performance.md (some minutes)"
	@echo "make bench-env  the libraries that bench compares us with, in environments of their own (2 GB)"
	@echo "make clean      remove .venv and everything made"

demo: .venv/installed-plot
	@$(BIN)/eagle demo

test: .venv/installed-dev
	@$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal

test-long: .venv/installed-dev
	@$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal --programs=2000 --hypothesis-profile=long

# SEED=... repeats what a failure names.
soak: .venv/installed-dev
	@$(BIN)/python -m tests.soak --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

# What is done is kept in build/, so it can be interrupted.
accuracy: .venv/installed-dev
	@$(BIN)/python -m tools.accuracy

# Every linter runs even if one before it complained, so one run shows everything.
lint: .venv/installed-dev
	@bad=; \
	$(BIN)/ruff check --quiet . || bad="$$bad ruff-check"; \
	$(BIN)/ruff format --check --quiet . || bad="$$bad ruff-format(make format)"; \
	out=$$($(BIN)/lint-imports --no-logo) || { echo "$$out"; bad="$$bad import-linter"; }; \
	$(BIN)/basedpyright || bad="$$bad basedpyright"; \
	if [ -n "$$bad" ]; then echo "lint:$$bad failed"; exit 1; fi; echo "lint: all good"

format: .venv/installed-dev
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format .
	@$(BIN)/python tools/contents.py

docs: .venv/installed-docs
	@$(BIN)/sphinx-build -W --keep-going -q docs docs/_build/html
	@echo "open docs/_build/html/index.html"

bench: .venv/installed-bench
	@$(BIN)/python -m benchmarks.rows --json=docs/performance.json
	@$(BIN)/python -m tools.performance

# What does not install is named, and left out by bench.
bench-env: .venv/installed-bench
	@$(BIN)/python -m benchmarks.peers.environments

clean:
	rm -rf .venv build/bench-env docs/_build .pytest_cache .ruff_cache .hypothesis .import_linter_cache

# --- the virtual environment ------------------------------------------------------------------

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer found; make PYTHON=/path/to/python"; exit 1; }
	@echo "making .venv with $(PYTHON)"
	@$(PYTHON) -m venv .venv

# The stamps depend on pyproject.toml, so a changed dependency is installed at the next make.
.venv/installed-%: pyproject.toml | .venv/bin/python
	@echo "installing accipiter[$*] into .venv (a minute or two the first time)"
	@$(PIP) install --quiet --editable '.[$*]'
	@touch $@
