# The two commands of the README, `make demo` and `make test`, need Python 3.11 or newer and nothing else.
PYTHON ?= python3
BIN := .venv/bin
COMPILE := build/lock/bin/pip-compile --quiet --strip-extras --no-header --no-annotate \
	--no-emit-index-url --no-emit-find-links --no-emit-trusted-host

.PHONY: demo test test-all tools lint bench docs lock clean

demo: .venv/run
	$(BIN)/chainrule demo

test: .venv/dev tools lint
	$(BIN)/pytest -n auto -m "not slow"

test-all: .venv/dev tools lint
	$(BIN)/pytest -n auto

# The exported C is compiled in the tests, by whatever gcc there is or else Debian's.
tools:
	@command -v gcc > /dev/null || (apt-get update -qq && apt-get install -y -qq --no-install-recommends gcc libc6-dev)

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/dev
	$(BIN)/chainrule bench panda --output benchmarks/results
	$(BIN)/python benchmarks/first_call.py
	$(BIN)/python benchmarks/humanoid.py
	$(BIN)/python benchmarks/reference_path.py
	$(BIN)/python benchmarks/rollouts.py
	$(BIN)/python benchmarks/inverse_kinematics.py
	$(BIN)/python benchmarks/integrators.py
	$(BIN)/python benchmarks/called_from_python.py
	$(BIN)/python benchmarks/forward_kinematics.py
	$(BIN)/python benchmarks/equations.py $(if $(TOOLBOX),--toolbox $(TOOLBOX))

docs: .venv/dev
	$(BIN)/python docs/build.py

# Locked versions; `make lock` writes them anew from pyproject.toml.
.venv/run: requirements/run.txt pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --requirement requirements/run.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $@

.venv/dev: .venv/run requirements/dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --requirement requirements/dev.txt
	touch $@

lock:
	$(PYTHON) -m venv build/lock
	build/lock/bin/pip install --quiet --disable-pip-version-check pip-tools
	$(COMPILE) --output-file requirements/run.txt pyproject.toml
	$(COMPILE) --extra dev --constraint requirements/run.txt --output-file requirements/dev.txt pyproject.toml

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
