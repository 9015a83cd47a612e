# Two commands to begin with: `make demo` and `make test`. Each sets up what it needs; `make help` lists the rest.
VENV := $(or $(DELTANN_VENV),.venv)
BIN := $(VENV)/bin
export OMP_NUM_THREADS ?= 1
export TF_CPP_MIN_LOG_LEVEL ?= 3

.PHONY: help setup proto lint format demo test test-unit test-browser test-mobilenet test-mobilenet-small bench clean

help:  ## what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 22

setup:  ## build the environment (nothing where it is up to date)
	@tools/setup.sh

proto: setup  ## generate the gRPC code
	@$(BIN)/python proto/generate.py

lint: setup  ## ruff, mypy, import-linter, buf
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/buf lint

format: setup  ## what lint would ask for
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

demo: setup  ## the quickstart sweep on the embedded stack, and its report
	@$(BIN)/deltann sweep run examples/quickstart.yaml --out out/quickstart

test-unit: setup  ## the fast tests, no services
	@$(BIN)/pytest -q tests/unit

test-browser: setup  ## install Chromium where it is missing, for the tests that look at the report
	@tools/chromium.sh

test: setup test-browser  ## everything a fresh machine can run, at most 15 minutes
	@$(BIN)/pytest -q tests -m "not mobilenet"

test-mobilenet: setup  ## the whole sweep over the real MobileNetV2, at most 60 minutes
	@$(BIN)/pytest -q tests/e2e/test_mobilenet.py -m mobilenet --timeout 3600

test-mobilenet-small: setup  ## the same with 20 photos and levels 0 and 4
	@DELTANN_MOBILENET=small $(BIN)/pytest -q tests/e2e/test_mobilenet.py -m mobilenet --timeout 3000

bench: setup  ## speed of the analyzer and overhead of a sweep
	@$(BIN)/python bench/analyzer.py
	@$(BIN)/python bench/overhead.py

clean:  ## remove what is generated, not the environment
	rm -rf deltann/v1 out build .pytest_cache .mypy_cache .ruff_cache .hypothesis
