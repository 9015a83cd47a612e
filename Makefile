# Two commands to begin with: `make demo` and `make test`. Each sets up what it needs; `make help` lists the rest.
VENV := $(or $(DELTANN_VENV),.venv)
BIN := $(VENV)/bin
export OMP_NUM_THREADS ?= 1
export TF_CPP_MIN_LOG_LEVEL ?= 3

.PHONY: help setup proto proto-landed lint format demo demo-check test test-unit test-browser test-web test-containers test-mobilenet test-mobilenet-small test-studies test-bisect test-arm64 test-opencl test-gpu test-faults soak fuzz bench bench-compiled clean

help:  ## what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 22

setup:  ## build the environment (nothing where it is up to date)
	@tools/setup.sh

proto: setup  ## generate the gRPC code
	@$(BIN)/python proto/generate.py

proto-landed: setup  ## note that the gRPC contract has landed as it is now; what `make lint` holds it against
	@$(BIN)/buf build --exclude-source-info -o proto/landed.json

lint: setup  ## ruff, mypy, import-linter, buf, hadolint, and what is deployed by its schemas
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/buf lint
	@$(BIN)/hadolint --failure-threshold warning deploy/docker/*.Dockerfile tests/e2e/containers/*.Dockerfile
	@$(BIN)/pytest -q tests/unit/deploy
	@$(BIN)/buf breaking --against proto/landed.json

format: setup  ## what lint would ask for
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

demo: setup  ## the quickstart sweep on the embedded stack, and its report
	@$(BIN)/deltann sweep run examples/quickstart.yaml --out out/quickstart

demo-check: setup  ## hold the report of `make demo` against what the quickstart promises
	@DELTANN_QUICKSTART=out/quickstart $(BIN)/pytest -q tests/e2e/test_quickstart.py

test-unit: setup  ## the fast tests, no services
	@$(BIN)/pytest -q tests/unit

test-browser: setup  ## install Chromium where it is missing, for the tests that look at the report
	@tools/chromium.sh

test-web: setup  ## models in headless Chromium, with modules that npm fetches
	@tools/web.sh
	@$(BIN)/pytest -q tests/integration/engines/test_web.py tests/e2e/test_web.py

test: setup test-browser  ## everything a fresh machine can run, at most 15 minutes
	@$(BIN)/pytest -q tests -m "not mobilenet and not studies and not bisect and not faults and not arm64 and not gpu and not opencl"

test-mobilenet: setup  ## the whole sweep over the real MobileNetV2, at most 60 minutes
	@$(BIN)/pytest -q tests/e2e/test_mobilenet.py -m mobilenet --timeout 3600

test-mobilenet-small: setup  ## the same with 20 photos and levels 0 and 4
	@DELTANN_MOBILENET=small $(BIN)/pytest -q tests/e2e/test_mobilenet.py -m mobilenet --timeout 3000

test-studies: setup  ## studies of large models and of models that are trained, some 15 minutes
	@$(BIN)/pytest -q tests/e2e -m studies --timeout 3000

test-bisect: setup  ## long searches for passes and operators, and debug maps of six models, some 10 minutes
	@$(BIN)/pytest -q tests -m bisect --timeout 3000

test-opencl: setup  ## our OpenCL runtime on PoCL: every part of it, and six models against llvm
	@tools/opencl.sh
	@$(BIN)/pytest -q tests -m opencl --timeout 3000

test-containers: setup  ## build the images and run sweeps through Compose, as root on Debian; ARM64=1, TORCH=1: more of it
	@tools/test_images.sh $(if $(ARM64),arm64) $(if $(TORCH),torch)
	@DELTANN_CONTAINERS=1 DELTANN_ARM64=$(ARM64) DELTANN_TORCH=$(TORCH) $(BIN)/pytest -q tests/e2e/test_containers.py --timeout 3600

test-arm64: setup  ## modules for ARM, linked here and run in an aarch64 Python under qemu, as root on Debian
	@python=$$(tools/arm64_python.sh) && DELTANN_ARM64_PYTHON=$$python $(BIN)/pytest -q tests/integration -m arm64 --timeout 1800

test-gpu: setup  ## modules for NVIDIA GPUs, really run: needs one
	@$(BIN)/pytest -q tests -m gpu

test-faults: setup  ## workers, Redis, S3 and the gateway killed and cut off, some 15 minutes
	@DELTANN_S3_AWAY_S=60 $(BIN)/pytest -q tests/faults

MINUTES ?= 15
soak: setup  ## faults at random, MINUTES=15 and SEED= to repeat a run
	@$(BIN)/python tests/faults/soak.py --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

fuzz: setup  ## the readers of what people give, led by coverage (Linux on x86-64), MINUTES=15 in all
	@$(BIN)/pip install -q -c constraints.txt atheris
	@$(BIN)/python -m tests.unit.fuzz.guided --minutes $(MINUTES)

bench: setup  ## speed of the analyzer and of the queue, and overhead of a sweep
	@$(BIN)/python bench/analyzer.py
	@$(BIN)/python bench/throughput.py --watchers 50
	@$(BIN)/python bench/executors.py
	@$(BIN)/python bench/overhead.py

bench-compiled: setup  ## compiled modules against ONNX Runtime, some 20 minutes on a quiet machine
	@$(BIN)/python bench/compiled.py

clean:  ## remove what is generated, not the environment
	rm -rf deltann/v1 out build .pytest_cache .mypy_cache .ruff_cache .hypothesis
