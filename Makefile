# Three targets: `make demo` installs the project, then trains and scores three systems on the demo corpus; `make test`
# installs what the tests need too, and runs them; `make docs` builds the documentation site. All other tasks are
# `snakemake` or `nmtcore` calls (README.md).
.PHONY: demo test docs

BIN := .venv/bin

demo: .venv/installed
	@$(BIN)/nmtcore demo

# One process more than cores: some tests wait, for a cluster for instance.
test: .venv/docs-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check .
	$(BIN)/snakemake --lint
	$(BIN)/pytest --numprocesses $$(( $$(nproc) + 1 )) --maxprocesses 8 --dist loadfile --no-loadscope-reorder

docs: .venv/docs-installed
	$(BIN)/python docs/site/build_site.py

.venv/installed: requirements.lock pyproject.toml
	@python3 -c 'import sys; sys.exit("Python 3.11 or newer is needed" if sys.version_info < (3, 11) else 0)'
	@PYTHONPATH=src python3 -m nmtcore.console.install .venv
	@touch $@

.venv/docs-installed: .venv/installed requirements-docs.lock
	$(BIN)/pip install --quiet --no-deps --requirement requirements-docs.lock
	touch $@
