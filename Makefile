# `make demo` installs the project, then trains and scores four systems on the demo corpus; `make test` installs what
# tests need, too, and runs those that need only that; `make test-all` runs all; `make docs` builds the documentation
# site. All other tasks are `snakemake` or `nmtcore` calls (README.md).
.PHONY: demo test test-all docs

BIN := .venv/bin
CHECK = $(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/snakefmt --check . && $(BIN)/snakemake --lint
# One process more than cores: some tests wait, for a cluster for instance.
PYTEST = $(BIN)/pytest --numprocesses $$(( $$(nproc) + 1 )) --maxprocesses 8 --dist loadfile --no-loadscope-reorder \
	--durations 10

demo: .venv/installed
	@echo "Training and scoring four systems in results: about 5 minutes on 2 cores"
	@$(BIN)/snakemake --cores 4 demo
	@cat results/demo.txt

test: .venv/installed
	$(CHECK)
	$(PYTEST) -m "not needs"

test-all: .venv/docs-installed
	$(CHECK)
	$(PYTEST)

docs: .venv/docs-installed
	$(BIN)/python docs/site/build_site.py

.venv/installed: requirements.lock pyproject.toml
	@python3 -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info < (3, 14) else "Python 3.11, 3.12 or 3.13 is needed")'
	@echo "Installing Python packages into .venv: about 2 minutes (log: .venv/install.log)"
	@mkdir -p .venv
	@{ python3 -m venv .venv && $(BIN)/pip install --requirement requirements.lock \
		&& $(BIN)/pip install --no-deps --editable .; } > .venv/install.log 2>&1 \
		|| { tail -n 5 .venv/install.log; echo "Installation failed (log: .venv/install.log)"; exit 1; }
	@touch $@

.venv/docs-installed: .venv/installed requirements-docs.lock
	$(BIN)/pip install --quiet --no-deps --requirement requirements-docs.lock
	touch $@
