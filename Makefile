PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Of the tour; `make clean` removes it.
DEMO := hta-demo

.PHONY: help demo test test-all soak fuzz check lint docs bench same clean

help:  ## Show the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 10

$(BIN)/hta-sql: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "hta_sql needs Python 3.11 or newer; try make PYTHON=python3.12")'
	@$(PYTHON) -m venv $(VENV)
	@echo "installing hta_sql and DuckDB's shell into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[shell]'
	@touch $@

# What tests, linters and benchmarks need: some 1 GB.
DEV := $(VENV)/installed-dev
$(DEV): pyproject.toml $(BIN)/hta-sql
	@echo "installing what the tests need into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(BIN)/hta-sql  ## Make a four-rank job, ingest it, print three tables
	@rm -rf $(DEMO)
	@$(BIN)/hta-sql demo
	@echo
	@echo "hta-sql is $(BIN)/hta-sql; \`source $(BIN)/activate\` puts it on the PATH."

# Each worker takes half of what is left of another's tests when its own are done.
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal
# What the markers in pyproject.toml say makes tests slow.
SLOW := big or browser or damage or notebook or processes or queries or ray or real or s3 or seeds or wheel

test: $(DEV)  ## Run the quick tests: of each sweep one seed, a few real traces, no servers
	$(PYTEST) -m "not ($(SLOW))"

test-all: $(DEV)  ## Run every test
	$(PYTEST)

# From which seed on, and how many; all queries are asked after each hundred.
SOAK_SEED ?= 0
SOAK_MUTANTS ?= 10000
soak: $(DEV)  ## Ingest very many damaged traces, damage many files, kill many commands, all seeds
	PYTHONPATH=tests $(BIN)/python tests/ingest/test_mutations.py $(SOAK_SEED) $(SOAK_MUTANTS)
	SOAK_KILLS=100 SOAK_DAMAGES=100 SOAK_STEP=1 $(PYTEST) tests/integrity tests/hostile_numbers
	SOAK_SEEDS=1 $(PYTEST) -m seeds

FUZZ_SECONDS ?= 60
FUZZ_FOLDER ?= bench-data/fuzz
fuzz: $(DEV)  ## Fuzz the splitters, guided by coverage, for FUZZ_SECONDS=60
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --editable '.[fuzz]' \
	    || (echo "atheris has no wheel for this Python or system; it has some for Linux" && exit 1)
	PYTHONPATH=tests $(BIN)/python tests/fuzz/run.py $(FUZZ_FOLDER) $(FUZZ_SECONDS)

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo

check: lint test-all  ## Lint and run every test

docs: $(DEV)  ## Write docs/queries.md from the queries, docs/api.md from the docstrings
	$(BIN)/python -m hta_sql.catalogue.reads
	$(BIN)/python -m hta_sql.catalogue.stubs
	$(BIN)/python -m hta_sql.database.docs > docs/queries.md
	$(BIN)/python docs/api_page.py > docs/api.md

bench: $(DEV)  ## Measure against HTA and plain JSON loading; takes about 20 minutes
	$(BIN)/python benchmarks/run.py

same: $(DEV)  ## Compare every query's answer and time with those of a commit: make same BASE=v1
	$(BIN)/python benchmarks/same_answers.py commits $(BASE) .

clean:  ## Remove what the other targets made
	rm -rf $(VENV) .venv-hta $(DEMO) bench-data
