# Two verbs are all that a fresh machine needs: make book, make test.
# Both make .venv from a lock (hashes checked) the first time, and whenever the lock says something else.

# These count where they are given on the command line: a variable of the shell, such as NAME on WSL, is another thing.
PYTHON := python3
DATA := synthetic
NAME :=
PREDICTIONS :=
OPTIONS :=
SINCE :=
ONLY :=
PART :=
STUDIES :=
UPDATE :=
UPGRADE :=
LONG :=
VENV := .venv
BIN    := $(VENV)/bin
# A Chromium without a window of its own starts a page in half the time, where there is one.
BROWSERS := chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

# Commands read them from the environment, as MAKE_DATA and so on. Neither make nor a shell reads what they hold, since
# the name of a file may look like a command.
GIVEN := DATA LONG NAME ONLY OPTIONS PART PREDICTIONS SINCE STUDIES
$(foreach variable,$(GIVEN),$(eval export MAKE_$(variable) := $$(value $(variable))))
unexport $(GIVEN)

.PHONY: help
help: ## list the verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# What is imported first is compiled into .venv, once; else each process would do it again.
unexport PYTHONDONTWRITEBYTECODE

# By what the files say, not by when they were written: an environment holds copies of those that it was made from.
# It knows for which folder it was made, too: a copied or moved one is made again.
UNCHANGED = test -x $(BIN)/python && test "$$(cat $(VENV)/.made-from/place 2>/dev/null)" = "$$(pwd -P)" $(foreach file,requirements.lock pyproject.toml,&& cmp -s $(file) $(VENV)/.made-from/$(file))
SET_UP = { "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "Python 3.11 or later is needed; say which: make PYTHON=/path/to/python3"; exit 2; }; \
	"$(PYTHON)" scripts/set_up.py; }

.PHONY: setup
setup: ## make the environment, without using it
	@$(UNCHANGED) || $(SET_UP)

.PHONY: book
book: setup ## build the book; DATA=FILE.xlsx or DATA=official for another edition, NAME=... to name it, OPTIONS="--jobs 4" for others
	@$(BIN)/python scripts/build_book.py $(BIN)/sense7

# For the tests that look at the pages. As root on Debian, which is CI or a container, it is installed; a person
# is told what is missing, and those tests are skipped, saying so.
.PHONY: browser
browser: ## install Chromium for the tests of the pages, where this may be done
	@for name in "$$SENSE7_CHROMIUM" $(BROWSERS); do command -v "$$name" >/dev/null 2>&1 && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing Chromium, for the tests of the pages ..."; \
	  options="-qq -o Acquire::Retries=1 -o Acquire::http::Timeout=20"; \
	  export DEBIAN_FRONTEND=noninteractive; install="apt-get $$options install -y --no-install-recommends"; \
	  { apt-get $$options update && { $$install chromium-headless-shell || $$install chromium; }; } >/dev/null 2>&1 && exit 0; \
	fi; \
	echo "No Chromium ($(BROWSERS)): tests of the pages in a browser will be skipped."

# $(call PART,name,command): the command, how long it took, and how long at the last release (2 cores, quiet). After a
# red part the others run all the same.
WAS = awk -F, -v part="$(1)" '$$1 == part {print "; " $$2 " s at the last release"}' evidence/test_times.csv
PART = begun=$$(date +%s); { $(2); } || red="$$red, $(1)"; echo "$(1): $$(($$(date +%s) - begun)) s$$($(WAS))"
TESTS = $(BIN)/python -m pytest -q --dist loadfile --durations=10 --no-loadscope-reorder
# One worker more than processors: a browser, a kernel or a server that starts, or is waited for, leaves one idle.
ONE_MORE = -n $$(($$($(BIN)/python -c 'import os; print(os.cpu_count())') + 1))

# Each worker has a processor: more threads of linear algebra only wait for one another, as in a build.
test: export OPENBLAS_NUM_THREADS := 1

# That every committed notebook shows what its code gives is a test of the built book. Here it runs in a kernel of its own,
# without the book: the six that compute longest in test-long, and of each pull request in a job beside this one.
NOTEBOOKS = $(if $(LONG),notebooks,notebooks/0[0-578]-*.ipynb notebooks/1[01468]-*.ipynb)

.PHONY: test
test: ## every check: style, unit tests, doctests, notebooks, the built book; the time of each part, and at the end each red one
	@trap 'exit 130' INT; red=; \
	$(call PART,set-up,$(MAKE) setup browser || exit 2); \
	$(call PART,style,$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/codespell && $(BIN)/lint-imports --no-logo); \
	$(call PART,book,$(BIN)/sense7 build synthetic --quiet); \
	$(call PART,unit tests,$(TESTS) $(ONE_MORE) --ignore tests/browser $$MAKE_LONG); \
	$(call PART,browser,$(TESTS) $(ONE_MORE) tests/browser $$MAKE_LONG); \
	$(call PART,notebooks,$(TESTS) $(ONE_MORE) --nbval $(NOTEBOOKS)); \
	test -z "$$red" || { echo "Red: $${red#, }"; exit 2; }

.PHONY: test-long
test-long: ## make test, and what it leaves out: more moments to be killed at, every element of every page, long notebooks; once a week
	@$(MAKE) test LONG=--long

.PHONY: check
check: setup ## style, and the tests of what changed since main, or SINCE=COMMIT: between two edits
	@$(BIN)/ruff check . && $(BIN)/ruff format --check --quiet . && $(BIN)/codespell && $(BIN)/lint-imports --no-logo
	@$(BIN)/python scripts/check.py --since "$$MAKE_SINCE"

.PHONY: lab
lab: setup ## open the notebooks in JupyterLab, if it is installed in .venv
	@test -x $(BIN)/jupyter-lab || { echo "JupyterLab is no part of the lock. Install it beside it, once: \
	$(BIN)/python -m pip install 'jupyterlab>=4,<5'"; exit 2; }
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/jupyter-lab notebooks

.PHONY: rehearse
rehearse: setup ## rehearse Binder's set-up in a fresh environment (some minutes)
	@$(BIN)/python evidence/binder.py

.PHONY: format
format: setup ## put code into the project's style
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format --quiet .

.PHONY: bench
bench: setup ## measure against the last release (twenty minutes, quiet machine); ONLY=reading,check for some
	@$(BIN)/python evidence/bench.py $${MAKE_ONLY:+--only "$$MAKE_ONLY"}

.PHONY: coverage
coverage: setup ## prove the intervals on simulated studies (half an hour; can be interrupted); PART=further, STUDIES=200 for less
	@$(BIN)/python -m evidence.coverage.run $${MAKE_PART:+--part "$$MAKE_PART"} $${MAKE_STUDIES:+--studies "$$MAKE_STUDIES"}

.PHONY: few-people
few-people: setup ## how many people a condition needs for an interval of a contrast (a quarter of an hour; can be interrupted)
	@$(BIN)/python -m evidence.coverage.few_people $${MAKE_STUDIES:+--studies "$$MAKE_STUDIES"}

.PHONY: simulated-studies
simulated-studies: setup ## what every value should be, and how often each claim's rule is passed (about an hour; can be interrupted)
	@$(BIN)/python -m evidence.coverage.simulated_studies

# R is no part of the environment: where it is absent the verb says so, and its values stay as they are committed.
.PHONY: reference
reference: setup ## compute R's reference values again and report what moved (two minutes; needs R); UPDATE=1 to accept
	@$(BIN)/python evidence/reference.py run $(if $(UPDATE),--update)

.PHONY: derived
derived: setup ## regenerate every derived file that is committed
	@$(BIN)/python scripts/derive.py

# A Python gets the newest versions that support it, so that the oldest holds back no other.
SOLVE = $(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --fork-strategy requires-python \
  --generate-hashes --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" --quiet

.PHONY: lock
lock: setup ## solve the locks again from pyproject.toml (UPGRADE=1: newest versions)
	@$(SOLVE) --extra book --extra judge --group binder --group test --group dev $(if $(UPGRADE),--upgrade) -o requirements.lock
	@$(SOLVE) --extra book --group binder --constraint requirements.lock -o requirements-book.lock
	@$(SOLVE) --group binder --constraint requirements-book.lock -o requirements-binder.lock

# Nothing is published: the packages lie in _build/release.
.PHONY: release-check
release-check: setup ## what has to be true before a release: one version, derived files, every test, and the packages
	@$(BIN)/python scripts/check_release.py
	@$(MAKE) derived
	@git diff --exit-code --stat || { echo "Derived files were not up to date: commit them, and begin again."; exit 2; }
	@$(MAKE) test-long
	@rm -rf _build/release && $(BIN)/uv build --quiet --no-build-isolation --python $(BIN)/python --out-dir _build/release .
	@cd _build/release && sha256sum *.whl *.tar.gz

.PHONY: clean
clean: ## remove everything that was built, and keep .venv
	rm -rf _build
