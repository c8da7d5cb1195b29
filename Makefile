# Everything a person does with this repository, one command each.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

.PHONY: help venv browser play test test-all oracle lint bench docs site site-serve pictures clean

help:
	@echo "make play      play on a page, in your browser"
	@echo "make test      set up if needed, then run the tests (about twenty minutes on two cores)"
	@echo "make test-all  the long runs too (under an hour)"
	@echo "make lint      ruff, mypy, import contracts"
	@echo "make bench     the figures of docs/benchmarks.md, on this machine"
	@echo "make docs      write the generated pages of docs/"
	@echo "make site      build the documentation as a site, in build/site; make site-serve shows it while you write"
	@echo "make pictures  take the pictures of docs/pictures anew, in a browser"

venv: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@echo "setting up $(VENV): torch, numba and the tools of development, 1.7 GB, about a minute"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade-strategy only-if-needed -c constraints.txt -e ".[learn,envs,solve,openspiel,ray,train,hub,dev]"
	touch $(STAMP)

# Chromium, for the tests in a browser; they are skipped where it cannot be had.
browser:
	@scripts/install-browser

play: venv
	$(BIN)/vauban play

# A file's tests stay in one process: they need the same kernels, which are then compiled once. Three processes for two
# cores, since the one that drives a browser waits most of the time.
test: venv browser
	$(BIN)/python -m pytest -n 3 --dist loadfile -m "not slow"

# Kernels are compared with the oracle over so many plies; the nightly size is make oracle PLIES=5000000
PLIES ?= 300000
test-all: venv browser
	VAUBAN_ORACLE_PLIES=$(PLIES) $(BIN)/python -m pytest -n 2 --dist loadgroup

oracle: venv
	VAUBAN_ORACLE_PLIES=$(PLIES) $(BIN)/python -m pytest -n 2 tests/games/test_oracle_agreement.py tests/games/test_geister.py

lint: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: venv
	$(BIN)/python benchmarks/cpu.py

docs: venv
	$(BIN)/python scripts/write_docs.py

# The site's tools live by themselves: the pages and docstrings are read, and nothing of the package is imported.
SITE := build/site-tools
SITE_STAMP := $(SITE)/.ready
READ_EXTRA := import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"])
export NO_MKDOCS_2_WARNING := 1

$(SITE_STAMP): pyproject.toml
	@echo "setting up $(SITE): mkdocs-material and mkdocstrings"
	$(PYTHON) -m venv $(SITE)
	$(SITE)/bin/python -m pip install --quiet $$($(SITE)/bin/python -c '$(READ_EXTRA)')
	touch $(SITE_STAMP)

site: $(SITE_STAMP)
	$(SITE)/bin/mkdocs build --strict

site-serve: $(SITE_STAMP)
	$(SITE)/bin/mkdocs serve --strict --open

pictures: venv browser
	$(BIN)/python -m pytest -q tests/web/test_browser_*.py -k "pictures or newcomer or gate_is"
	$(BIN)/python scripts/write_pictures.py

clean:
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .hypothesis
