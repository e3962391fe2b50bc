# make demo shows what the library is for; make test runs every check.
# Each target makes the virtual environment that it needs. Another Python, beside the first one:
#     make test PYTHON=python3.13 VENV=.venv-3.13

.DEFAULT_GOAL := help
SHELL := /bin/sh
VENV ?= .venv
PYTHON ?=
python := $(VENV)/bin/python

export PYTHON
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# pyright would ask the package index for a newer release each time it runs.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
# mkdocs-material would advertise its successor each time it runs.
export NO_MKDOCS_2_WARNING := 1

# $(call step,what is done,command): say what is done, and say it again when it fails.
define step
@printf '\n== %s\n' '$(1)'
@$(2) || { printf '\n*** Failed: %s. This part alone: make %s\n' '$(1)' '$@' >&2; exit 1; }
endef

# $(call anew,VENV): FORCE when VENV was made for another checkout or its Python is gone.
anew = $(shell .ci/setup-venv.sh --is-current $(1) || echo FORCE)

without_frameworks = tests/unit tests/integrations/fastapi $(filter-out %agui.py %agui_refusals.py,\
    $(wildcard tests/faults/test_http_*.py tests/faults/test_disconnect*.py tests/faults/test_signals*.py)) \
    $(wildcard tests/stores/test_*suite.py tests/stores/test_postgres_*.py tests/stores/test_redis_*.py)

.PHONY: FORCE help demo test lint types mypy pyright pytest docs deletion bench conformance matrix faults oldest newest check-wheel clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-20s %s\n", $$1, $$2 }'

demo: $(VENV)/.ready  ## play the scenario: the leak, and the endpoint that does not leak
	@$(python) docs/examples/demo/run.py

test: lint types pytest docs  ## run every check: lint, types, tests with coverage, docs

lint: $(VENV)/.ready  ## ruff: rules and format
	$(call step,ruff check,$(python) -m ruff check .)
	$(call step,ruff format --check,$(python) -m ruff format --check .)

types: mypy pyright  ## mypy --strict and pyright strict over package, tests and examples

mypy: $(VENV)/.ready
	$(call step,mypy --strict,$(python) -m mypy --strict)

pyright: $(VENV)/.ready
	$(call step,pyright,$(python) -m pyright --pythonpath $(python))

pytest: $(VENV)/.ready  ## all tests on all cores, with branch coverage
	$(call step,pytest,$(python) -m pytest -n auto --cov --ignore=tests/benchmarks)

docs: $(VENV)/.ready  ## build the documentation into site/, which loads nothing from other hosts
	$(call step,the table of mistakes and checkers,$(python) -m tests.typing.table)
	$(call step,the table of the contract,$(python) -m tests.docs.contract)
	$(call step,the table of the matrix,$(python) -m tests.matrix --expected)
	$(call step,the table of performance,$(python) -m tests.benchmarks.table --unmeasured)
	$(call step,mkdocs build --strict,$(python) -m mkdocs build --strict)
	$(call step,no remote assets in site/,! grep -rnoE --include='*.html' \
	    '<(script|img|iframe|source)[^>]* src="?(https?:)?//[^">]*|<link[^>]* href="?(https?:)?//[^">]*' site)

deletion: $(VENV)/.ready  ## remove one part of the types at a time: the corpora go red each time
	$(call step,deletion test,$(python) -m tests.typing.deletion)

bench: $(VENV)/.ready  ## the benchmarks, one at a time
	$(call step,benchmarks,env -u PYTHONDONTWRITEBYTECODE $(python) -m pytest tests/benchmarks)
	$(call step,the table of performance,env -u PYTHONDONTWRITEBYTECODE $(python) -m tests.benchmarks.table)

conformance: .venv-conformance/.ready  ## the framework's own tests, with their endpoints registered through the builder
	$(call step,conformance,.venv-conformance/bin/python -m tests.conformance -- -n auto)

matrix: $(VENV)/.ready  ## every registration on the framework's helper and on ours: who leaks (minutes)
	$(call step,the behavioural matrix,$(python) -m tests.matrix --write)

faults: $(VENV)/.ready  ## the fault tests, twenty times in a row, and the long run of the model
	$(call step,the model in its long form,SCOPED_REGISTRATION_LONG=1 $(python) -m pytest tests/faults/test_model.py)
	@for turn in $$(seq 20); do printf '\n== the fault tests: %s of 20\n' $$turn; \
	    $(python) -m pytest -q -n auto -p no:cacheprovider tests/faults || exit 1; done

oldest: .venv-oldest/.ready  ## core and FastAPI tests with the oldest supported dependencies
	$(call step,tests with the oldest dependencies,.venv-oldest/bin/python -m pytest -n auto $(without_frameworks))

newest: .venv-newest/.ready  ## core and FastAPI tests with the newest FastAPI
	$(call step,tests with the newest FastAPI,.venv-newest/bin/python -m pytest -n auto $(without_frameworks))

check-wheel: $(VENV)/.ready  ## build the distributions; the wheel alone imports, starts and is typed
	@rm -rf dist .venv-wheel
	$(call step,build,$(python) -m build --no-isolation --outdir dist .)
	$(call step,build the overlay stubs,$(python) -m build --no-isolation --outdir dist/stubs stubs)
	@.ci/setup-venv.sh .venv-wheel constraints/latest.txt dist/*.whl
	$(call step,import with the required dependencies alone,\
	    .venv-wheel/bin/python -I -W error -c 'import scoped_registration.integrations.fastapi')
	@.ci/setup-venv.sh .venv-wheel constraints/latest.txt "$$(echo dist/*.whl)[agent-framework,cli,testing]"
	$(call step,the console script starts,.venv-wheel/bin/scoped-registration --help)
	$(call step,every type of the wheel is known,PATH="$(CURDIR)/.venv-wheel/bin:$$PATH" \
	    $(python) -m pyright --verifytypes scoped_registration --ignoreexternal)
	$(call step,six checkers on the wheel,$(on_the_wheel))
	@.venv-wheel/bin/python -m pip install --quiet --no-index --no-deps dist/stubs/*.whl
	$(call step,six checkers on the wheel and the overlay stubs,$(on_the_wheel))

on_the_wheel = SCOPED_REGISTRATION_TYPING_PYTHON="$(CURDIR)/.venv-wheel/bin/python" \
    $(python) -m pytest -n auto tests/typing/test_checkers.py tests/typing/test_completeness.py

clean:  ## remove environments, caches and everything built
	rm -rf .venv .venv-* build dist site .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.ready: pyproject.toml constraints/latest.txt .ci/setup-venv.sh $(call anew,$(VENV))
	@.ci/setup-venv.sh $(VENV) constraints/latest.txt --group dev --editable '.[agent-framework,cli,testing]'
	@$(python) -m pyright --version || { rm $@; printf '\n*** pyright does not start (see above).\n' >&2; exit 1; }

.venv-oldest/.ready: pyproject.toml constraints/oldest.txt .ci/setup-venv.sh $(call anew,.venv-oldest)
	@.ci/setup-venv.sh .venv-oldest constraints/oldest.txt --group test --editable '.[cli,testing]'

.venv-newest/.ready: pyproject.toml constraints/newest-fastapi.txt .ci/setup-venv.sh $(call anew,.venv-newest)
	@.ci/setup-venv.sh .venv-newest constraints/newest-fastapi.txt --group test --editable '.[cli,testing]'

.venv-conformance/.ready: pyproject.toml constraints/latest.txt .ci/setup-venv.sh $(call anew,.venv-conformance)
	@.ci/setup-venv.sh .venv-conformance constraints/latest.txt --group conformance --editable '.[agent-framework]'
