# Each target does its own set-up; the stamp makes the second run quick.
PYTHON ?= python3
UV ?= uv
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= 2
export JAX_PLATFORMS ?= cpu

.DEFAULT_GOAL := help
.PHONY: graph help setup demo test test-browser test-engines lint format types imports package check bench tables docs test-lowest lock clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 20

# Made afresh whenever the lock or the project's own metadata changes.
$(STAMP): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "nacre needs Python 3.11 or later; $(PYTHON) is $$($(PYTHON) --version). Try: make PYTHON=python3.12 ..."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Setting up $(VENV): a minute or two, once."
	@$(BIN)/python -m pip install -qq --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install -qq --no-deps --no-build-isolation --editable .
	@touch $@

setup: $(STAMP) ## make .venv with everything that the tests need

demo: $(STAMP) ## bundled data to a private synthetic table and report.html
	$(BIN)/nacre demo --force

test: $(STAMP) ## all tests
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup

# Not in the lock: Dask and Spark are large, and nobody needs them for anything else.
# importlib_metadata 10 asks for lazy-importer 0.1.0, which nobody here has looked at.
test-engines: $(STAMP) ## tables on real Dask and Spark clusters; needs Java 17
	$(BIN)/python -m pip install -qq --editable '.[dask,spark]' 'importlib_metadata<9'
	$(BIN)/python -m pytest tests/engines

# Chromium comes from Debian, where we may install it; the tests say so where it is not there.
test-browser: $(STAMP) ## the web page in a real browser
	@$(BIN)/python -m pip install -qq --no-build-isolation --editable '.[browser]'
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
	  { test "$$(id -u)" = 0 && apt-get update -qq && apt-get install -qq -y chromium >/dev/null; } || \
	  echo "There is no Chromium, and it cannot be installed here."
	$(BIN)/python -m pytest tests/app/test_browser.py

lint: $(STAMP) ## style, by ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(STAMP) ## mend what ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(STAMP) ## types, by mypy
	$(BIN)/mypy

imports: $(STAMP) ## what may import what, by import-linter
	$(BIN)/lint-imports

# Builds with the lock's hatchling, so nothing is fetched.  Proves that wheel and sdist hold every file
# of the package (data, style sheets, py.typed), and that the wheel alone gives `nacre` and `import
# nacre` in a new environment, with this one's dependencies; not that pip finds those elsewhere.
package: $(STAMP) ## build wheel and sdist, in dist/, and try the wheel
	@rm -rf dist build/package
	@env -u PYTHONPATH $(BIN)/python -m hatchling build -d dist
	@$(BIN)/python .ci/package.py dist build/package

check: test package lint types imports ## everything that CI runs

tables: $(STAMP) ## re-run the papers' tables (hours; resumes where it stopped)
	$(BIN)/python -m bench tables

bench: $(STAMP) ## speed as ratios: start-up, steps and sums, rows a second (10 minutes)
	$(BIN)/python -m bench startup
	$(BIN)/python -m bench speed
	$(BIN)/python -m bench scale
	$(BIN)/python -m bench passes

graph: $(STAMP) ## draw who imports whom into docs/house.md
	$(BIN)/python -m docs.graph

docs: $(STAMP) ## the documentation site, in site/
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	$(BIN)/mkdocs build --strict

test-lowest: ## the tests with the oldest versions that pyproject.toml allows
	rm -rf .venv-lowest
	$(UV) venv --quiet --python 3.11 .venv-lowest
	$(UV) pip install --quiet --python .venv-lowest/bin/python --resolution lowest-direct --editable '.[dev]'
	.venv-lowest/bin/python -m pytest -n $(WORKERS) --dist loadgroup

lock: ## pin the versions that `make test` installs
	$(UV) pip compile pyproject.toml --extra dev --universal --generate-hashes --quiet \
	  --python-version 3.11 --custom-compile-command 'make lock' --output-file requirements.lock

clean: ## remove what the targets made
	rm -rf .venv .venv-lowest .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache site dist build demo.nacre synthetic.csv report.html
