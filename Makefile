# Two commands for a newcomer: `make evaluate` and `make test`. Both set up what they need in .venv.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
PARTS  := $(wildcard pyproject.toml core/pyproject.toml datasets/pyproject.toml plugins/*/pyproject.toml)

.PHONY: evaluate evaluate-routing evaluate-guards test check format benchmark clean

evaluate: $(READY)  ## the gated run that yb-eval.toml composes, on the shipped data
	$(BIN)/yb-eval run $(ARGS)

evaluate-routing: $(READY)  ## make evaluate-routing ARGS="--max-mismatch 0"
	$(BIN)/yb-eval run routing $(ARGS)

evaluate-guards: $(READY)  ## make evaluate-guards ARGS="--strength warn"
	$(BIN)/yb-eval run guards $(ARGS)

test: $(READY)  ## the tests, offline
	$(BIN)/python -m pytest -n auto $(ARGS)

check: $(READY)  ## format, lint, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy core/src datasets/src plugins/*/src

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

benchmark: $(READY)  ## ratios, measured in one run
	$(BIN)/python benchmarks/core.py

$(READY): requirements-dev.txt constraints.txt $(PARTS)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt -c constraints.txt
	touch $@

clean:
	rm -rf $(VENV) .yb-eval dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
