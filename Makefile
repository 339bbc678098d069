PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Of the demo's own run; `make clean` removes them.
DEMO := demo

.PHONY: help demo test test-all check lint docs bench same clean

help:  ## Show the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 10

$(BIN)/hta-sql: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "hta_sql needs Python 3.11 or newer; try make PYTHON=python3.12")'
	@$(PYTHON) -m venv $(VENV)
	@echo "installing hta_sql and its dependencies into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(BIN)/hta-sql  ## Make a four-rank job, ingest it, print its breakdowns
	@rm -rf $(DEMO)
	$(BIN)/hta-sql demo $(DEMO)/traces --ranks 4 --steps 5
	$(BIN)/hta-sql ingest $(DEMO)/traces $(DEMO)/archive --job demo
	$(BIN)/hta-sql run temporal_breakdown $(DEMO)/archive
	$(BIN)/hta-sql run comm_comp_overlap $(DEMO)/archive
	$(BIN)/hta-sql run kernel_kind_breakdown $(DEMO)/archive --only-ranks 0
	$(BIN)/hta-sql run profiler_steps $(DEMO)/archive --only-ranks 0
	$(BIN)/hta-sql run kernel_stats $(DEMO)/archive --only-ranks 0 --top-k 3 --short-names

# Each worker takes half of what is left of another's tests when its own are done.
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal
# What the markers in pyproject.toml say makes tests slow.
SLOW := big or browser or damage or notebook or processes or queries or ray or real or s3 or seeds or wheel

test: $(BIN)/hta-sql  ## Run the quick tests: of each sweep one seed, a few real traces, no servers
	$(PYTEST) -m "not ($(SLOW))"

test-all: $(BIN)/hta-sql  ## Run every test
	$(PYTEST)

lint: $(BIN)/hta-sql
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo

check: lint test-all  ## Lint and run every test

docs: $(BIN)/hta-sql  ## Write docs/queries.md from the headers of the queries
	$(BIN)/python -m hta_sql.catalogue.reads
	$(BIN)/python -m hta_sql.database.docs > docs/queries.md

bench: $(BIN)/hta-sql  ## Measure against HTA and plain JSON loading; takes about 20 minutes
	$(BIN)/python benchmarks/run.py

same: $(BIN)/hta-sql  ## Compare every query's answer and time with those of a commit: make same BASE=v1
	$(BIN)/python benchmarks/same_answers.py commits $(BASE) .

clean:  ## Remove what the other targets made
	rm -rf $(VENV) .venv-hta $(DEMO) bench-data
