# `make demo` and `make test` need Python 3.11 or newer and nothing else. A comment after ## is the help of its target.
PYTHON ?= python3
BIN := .venv/bin
ifeq ($(OS),Windows_NT)
PYTHON := python
BIN := .venv/Scripts
endif
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
COMPILE := build/lock/bin/pip-compile --quiet --strip-extras --no-header --no-annotate \
	--no-emit-index-url --no-emit-find-links --no-emit-trusted-host
BENCHMARKS := first_call humanoid reference_path rollouts integrators called_from_python controllers forward_kinematics motions study sizes regressor identification bandwidth frameworks parameters calibration bodies

.DEFAULT_GOAL := help
.PHONY: help demo studio fast test test-all coverage types lint format hooks bench bench-compare fuzz docs notebooks book-pdf dist pictures lock clean tools languages axe

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1@\2/p' Makefile | awk -F@ '{printf "%-22s %s\n", $$1, $$2}'

demo: .venv/run ## a tour of a robot in seconds
	$(BIN)/chainrule demo
	@mkdir -p build
	$(BIN)/chainrule study human-arm --activities 2,14,18 --rate 200 --report build/study.html
	@echo "Open build/study.html in a browser: what the joints of an arm must deliver in three activities."

studio: .venv/studio ## the page where a robot's dynamics can be seen and touched [ROBOT=panda]
	$(BIN)/chainrule studio $(ROBOT)

# Each process begins with a share of the tests in their order, so that those of one file mostly stay together.
PYTEST := $(BIN)/pytest --numprocesses auto --dist worksteal
fast test test-all coverage: export OPENBLAS_NUM_THREADS := 1

fast: .venv/dev ## the tests that compile nothing and need no browser and no other library, within two minutes
	$(PYTEST) -m "interpreted and not peer and not slow" tests

test: .venv/dev tools lint types ## lint, types, and all tests but the slow ones [INSTALL=no]
	$(PYTEST) -m "not slow"

test-all: .venv/dev .venv/docs tools languages axe lint types ## the slow tests too; the run is recorded in docs/reliability.md
	$(PYTEST) --record=docs/reliability.md

coverage: .venv/dev tools ## which lines the tests run: a table, and pages in build/coverage
	@mkdir -p build
	$(PYTEST) -m "not slow" --cov --cov-report=term:skip-covered --cov-report=html

types: .venv/dev ## the type checker, strict
	$(BIN)/mypy

lint: .venv/dev ## the linter, and the format of all files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: .venv/dev ## formats all files, and repairs what the linter can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

hooks: .venv/dev ## lint and types before each commit, the fast tests before each push
	$(BIN)/pre-commit install --hook-type pre-commit --hook-type pre-push

# Robotics Toolbox takes part where TOOLBOX names a Python that has it; its recorded figures stay otherwise.
define run-benchmarks
	$(BIN)/chainrule bench panda --output $(1)
	for name in $(BENCHMARKS); do $(BIN)/python benchmarks/$$name.py --output $(1) || exit 1; done
	for name in inverse_kinematics equations; do \
		$(BIN)/python benchmarks/$$name.py --output $(1) $(if $(TOOLBOX),--toolbox $(TOOLBOX)) || exit 1; done
endef

bench: .venv/dev ## all benchmarks, recorded in benchmarks/results [TOOLBOX=a Python with Robotics Toolbox]
	$(call run-benchmarks,benchmarks/results)

bench-compare: .venv/dev ## all benchmarks, compared with those in benchmarks/results: old, new, ratio
	rm -rf build/benchmarks
	$(call run-benchmarks,build/benchmarks)
	$(BIN)/python benchmarks/compare.py benchmarks/results build/benchmarks

fuzz: .venv/dev ## damaged inputs for every reader, until interrupted [MINUTES=60 WORKERS=1 SEED=random]
	$(BIN)/python -m fuzz --record fuzz/counters.json --workers $(or $(WORKERS),1) --seed $(or $(SEED),$(shell date +%s)) \
		$(if $(MINUTES),--minutes $(MINUTES)); code=$$?; $(BIN)/python -m fuzz.report; exit $$code

docs: .venv/docs ## the site in build/docs: guide, how-to, gallery, reference
	rm -rf docs/auto_gallery
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --jobs 2 -b html -d build/doctrees docs build/docs

dist: .venv/dev ## the wheel and the sdist, in dist/
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist
	@ls -l dist

notebooks: .venv/dev ## the pages with code as notebooks without outputs, in build/notebooks
	$(BIN)/python docs/notebooks.py

book-pdf: .venv/docs tools ## the book as one PDF, build/book.pdf
	$(BIN)/python docs/book_pdf.py

pictures: .venv/dev tools ## the pictures of README.md and docs/, drawn anew; those of the studio by a browser
	$(BIN)/python docs/pictures.py
	$(BIN)/python docs/studio_pictures.py

lock: ## the locked versions in requirements/, anew from pyproject.toml
	$(PYTHON) -m venv build/lock
	build/lock/bin/pip install --quiet --disable-pip-version-check pip-tools
	$(COMPILE) --extra studio --output-file requirements/studio.txt pyproject.toml
	$(COMPILE) --constraint requirements/studio.txt --output-file requirements/run.txt pyproject.toml
	$(COMPILE) --extra dev --constraint requirements/studio.txt --output-file requirements/dev.txt pyproject.toml
	$(COMPILE) --extra bench --constraint requirements/dev.txt --output-file requirements/pinocchio.txt pyproject.toml
	$(COMPILE) --extra docs --constraint requirements/dev.txt --output-file requirements/docs.txt pyproject.toml

clean: ## removes the environment and all caches
	rm -rf docs/auto_gallery .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist

tools: ## gcc, g++ and Chromium, which tests use, from Debian if missing
	@.ci/tools gcc g++ chromium

languages: ## Octave, Node, Rust and LaTeX, in which tests run exported code and compile documents, from Debian if missing
	@.ci/tools octave-cli node cargo pdflatex

AXE := axe-core@4.14.1
axe: ## axe-core, by which the site's accessibility is tested, from npm
	@if command -v npm > /dev/null; then npm install --silent --no-save --ignore-scripts --prefix build/npm $(AXE); \
	else echo "there is no npm, so the test of the site's accessibility is skipped"; fi

.venv/run: requirements/run.txt pyproject.toml
	$(PYTHON) -m venv .venv
	$(PIP) --requirement requirements/run.txt
	$(PIP) --no-deps --editable .
	touch $@

.venv/studio: .venv/run requirements/studio.txt
	$(PIP) --requirement requirements/studio.txt
	touch $@

.venv/docs: .venv/run requirements/docs.txt
	$(PIP) --requirement requirements/docs.txt
	touch $@

# The tests beside Pinocchio and Drake, and those of robot.torch, are skipped where these have no wheels.
.venv/dev: .venv/run requirements/dev.txt requirements/pinocchio.txt requirements/torch.txt requirements/drake.txt
	$(PIP) --requirement requirements/dev.txt
	$(PIP) --requirement requirements/pinocchio.txt || echo "nothing is compared with Pinocchio: see requirements/pinocchio.txt"
	$(PIP) --no-deps --requirement requirements/torch.txt || echo "robot.torch is not tested: see requirements/torch.txt"
	$(PIP) --no-deps --requirement requirements/drake.txt || echo "nothing is compared with Drake: see requirements/drake.txt"
	touch $@
