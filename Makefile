# `make help` lists the commands. ARGS goes to the command: make test-fast ARGS="-k schedule"
.DEFAULT_GOAL := help
.PHONY: help install demo test test-fast check contract audit simulate-proof enumerate-proof \
	mutation-proof mutation-page bench bench-docs soak format defaults reference lock

# A fresh machine has only python3, make and git: uv then comes into .venv.
UV := $(or $(shell command -v uv 2>/dev/null),.venv/bin/uv)
PYTHON := .venv/bin/python
READY := .venv/.ready
LOCAL := not firestore and not spanner and not redis
# What starts processes, waits, or goes through many cases.
LONG := gcloud guard http infra simulator targets conformance/test_lost_answers.py \
	conformance/test_races.py records/test_command_line.py records/test_missed.py \
	records/test_redo_delivery.py test_cold_start.py test_lease.py test_retry_budget.py test_schedule.py
WORKERS ?= $(shell nproc)
COPY := .venv/bin/copier copy --quiet --defaults --vcs-ref HEAD
DEFAULT_RENDERS := .gitignore Procfile main.py pyproject.toml app/defaults.py app/job.py tests/test_job.py \
	deploy/config.sh infra/answers.auto.tfvars infra/job.tf infra/scope.tf infra/service.tf \
	infra/cloudbuild.yaml

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: ## Install what the tests need into .venv, as requirements.lock says
	@rm -f $(READY)
	@$(MAKE) --no-print-directory $(READY)

demo: $(READY) ## Render the default project, install it and give it a troubled day
	rm -rf build/demo
	$(COPY) . build/demo
	$(MAKE) --no-print-directory -C build/demo install
	$(MAKE) --no-print-directory -C build/demo simulate ARGS="--svg ../demo.svg"

# The tests write a million small files: into memory, where there is room for them and they can run.
MEMORY := $(shell grep -s ' /dev/shm ' /proc/mounts | grep -qv noexec && \
	df --output=avail /dev/shm | awk '$$1 > 4000000 { print "/dev/shm"; exit }')
test test-fast: export TMPDIR := $(or $(MEMORY),$(TMPDIR))

# Tests wait now and then, and those in place do most of the time: there are more workers than cores.
test: $(READY) ## Run every test: the template's code in place, then the template
	cd template && ../$(PYTHON) -m pytest -n $$((2 * $(WORKERS))) --dist worksteal $(ARGS)
	$(PYTHON) -m pytest -n $$(($(WORKERS) + 1)) --dist worksteal $(ARGS)

test-fast: $(READY) ## Run the tests that need no server, no emulator and no whole project
	cd template && ../$(PYTHON) -m pytest -n auto --dist worksteal -k "$(LOCAL)" \
		$(addprefix --ignore=tests/,$(LONG)) $(ARGS)
	$(PYTHON) -m pytest -n auto --dist worksteal -m "not slow" $(ARGS)

check: $(READY) ## Check style, format and types, of the template's code and of the tests
	$(PYTHON) -m ruff check
	$(PYTHON) -m ruff format --check
	$(PYTHON) -m mypy
	cd template && ../$(PYTHON) -m mypy

check: contract

contract: $(READY) ## Check that projects of earlier releases can update
	$(PYTHON) hooks/release_contract.py

audit: $(READY) ## Look the libraries and the actions up in vulnerability databases
	$(PYTHON) -m pip_audit --disable-pip --require-hashes --requirement requirements.lock
	.venv/bin/zizmor --persona pedantic .github template/.github

# The proof is about the template's code as it stands, which is no package of its own.
PROOF := PYTHONPATH=template $(PYTHON) -m proof
LIMITS = --workers $(WORKERS) $(if $(MINUTES),--minutes $(MINUTES))

simulate-proof: $(READY) ## Play RUNS schedules of the protocol, drawn from SEED on
	$(PROOF) simulate --runs $(or $(RUNS),100000) --seed $(or $(SEED),1) $(LIMITS)

enumerate-proof: $(READY) ## Play all schedules of two attempts with at most FAULTS faults
	$(PROOF) enumerate --faults $(or $(FAULTS),2) $(LIMITS) $(if $(REPLAY),--replay $(REPLAY))

mutation-proof: $(READY) ## Put each known weakness back, and see its test fail
	$(PYTHON) -m proof.mutation --workers $(WORKERS) $(if $(ROW),--row $(ROW))

mutation-page: $(READY) ## Write docs/reference/mutation-proof.md
	$(PYTHON) -m proof.mutation --page

bench: $(READY) ## Measure claims, throughput, starts and more; ARGS="claim --quick" for one, and quick
	PYTHONPATH=.:template $(PYTHON) -m benchmarks $(ARGS)

bench-docs: $(READY) ## Measure all, and write docs/reference/benchmarks.md and its picture
	PYTHONPATH=.:template $(PYTHON) -m benchmarks --docs $(ARGS)

soak: $(READY) ## Do RUNS runs on a STORE (sqlite, firestore, spanner, redis) amid troubles
	cd template && PYTHONPATH=.:.. ../$(PYTHON) -m proof.soak --runs $(or $(RUNS),10000) --store $(or $(STORE),sqlite) \
		$(if $(SEED),--seed $(SEED)) $(ARGS)

format: $(READY) ## Mend style and format where that is safe
	$(PYTHON) -m ruff check --fix
	$(PYTHON) -m ruff format

defaults: $(READY) ## Write the default renders that stand beside their .jinja files
	rm -rf build/defaults
	$(COPY) --data deploy=terraform . build/defaults
	$(COPY) --overwrite --data deploy=gcloud . build/defaults
	for file in $(DEFAULT_RENDERS); do cp build/defaults/$$file template/$$file; done

reference: $(READY) ## Write what docs/reference says of the code
	$(PYTHON) -m docs.generate

lock: | $(UV) ## Bring requirements.lock up to date
	$(UV) pip compile --quiet --upgrade --universal --generate-hashes --no-header \
		--group pyproject.toml:dev --output-file requirements.lock

$(READY): requirements.lock | $(UV)
	test -x $(PYTHON) || $(UV) venv --quiet .venv
	$(UV) pip install --quiet --compile-bytecode --python $(PYTHON) --require-hashes \
		-r requirements.lock
	@touch $@

.venv/bin/uv:
	python3 -m venv .venv
	$(PYTHON) -m pip install --quiet --disable-pip-version-check uv
