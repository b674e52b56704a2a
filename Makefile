# Two commands for a fresh machine with Python 3.11 to 3.13, git and make: `make demo` and `make test`.
PYTHON ?= python3
CORES ?= all
CONFIG ?= config/config.yaml
BIN := .venv/bin
SNAKEMAKE := $(BIN)/snakemake --cores $(CORES)
PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist loadscope
# What the stage `reproduce` of dvc.yaml stores, or `figures` if the runs are the published ones. DVC wants every folder to
# be there, also one that a small configuration leaves empty.
STORED := data/partitions data/prepared results/runs results/studies
RECORDED := $(if $(filter config/published.yaml,$(CONFIG)),figures,reproduce)
# What `make lock` locks in a file of its own: a CPU build of torch for Linux needs none of it.
TORCH := torch|triton|nvidia-|cuda-

.PHONY: help demo reproduce figures verify claim record restore plan test test-all lint format docs site constraints lock archive clean

help: ## say what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

demo: .venv/installed ## run everything on an embedded data set: no download, a few minutes
	$(SNAKEMAKE) demo

reproduce: .venv/installed ## run every experiment of config/config.yaml: many hours
	@mkdir -p $(STORED)
	$(SNAKEMAKE) all metrics

figures: .venv/installed ## every figure and verdict of the published runs, made anew; nothing is trained
	$(SNAKEMAKE) --configfile config/published.yaml -- all metrics
	@$(BIN)/python -m pausefl.reproduction.as_published

verify: .venv/installed ## replay every published run without training, and compare: two minutes
	$(BIN)/python -m pausefl.reproduction.verify

claim: .venv/installed ## what one claim needs, and its verdict (ID=C3a); trains what is not there
	$(if $(ID),,$(error Say which claim of config/claims.yaml: make claim ID=C3a))
	$(SNAKEMAKE) claim_$(ID)
	@mkdir -p results/claims
	$(BIN)/pausefl claims --partial > results/claims/$(ID).txt
	@grep '^$(ID) ' results/claims/$(ID).txt; echo 'All of it: results/claims/$(ID).txt'

record: .venv/installed ## store with DVC what was made, if nothing is left to make (docs/workflow.md; CONFIG=file for another)
	@mkdir -p $(STORED)
ifeq ($(RECORDED),figures)
	@others=$$($(SNAKEMAKE) --configfile $(CONFIG) --list-untracked -- all metrics 2>/dev/null \
		| grep -E '^results/(claims|figures|metrics|plots)/'); if [ -n "$$others" ]; then \
		printf '%s\n' "$$others" '' 'Not recorded: the files above are of another configuration. Remove them, then `make record` again.' \
		>&2; exit 1; fi
endif
	@plan=$$($(SNAKEMAKE) --configfile $(CONFIG) --dry-run 2>&1); case "$$plan" in (*'Nothing to be done'*) ;; (*) \
		printf '%s\n' "$$plan" '' 'Not recorded: the dry run above shows what is left to make, or an error.' \
			'Run `snakemake --configfile $(CONFIG) --cores $(CORES)`, then `make record` again.' >&2; exit 1;; esac
	$(SNAKEMAKE) --quiet all --configfile $(CONFIG) -- metrics
	$(BIN)/dvc commit --quiet --force $(RECORDED)
	@echo 'Recorded. To keep it: git add dvc.lock results/metrics results/plots, git commit, dvc push $(RECORDED).'

restore: .venv/installed ## get what dvc.lock names from DVC's remote, and say what is left to make (docs/workflow.md)
	$(BIN)/dvc pull reproduce
	@# Git writes scripts and these files in no order, and Snakemake asks which is newer.
	@find results/metrics results/plots -type f -exec touch {} +
	$(SNAKEMAKE) --dry-run

plan: .venv/installed ## what `make reproduce` would take: core-hours and disk; runs nothing (CONFIG=file for another)
	$(BIN)/pausefl plan --config $(CONFIG)

test: .venv/installed ## run the tests that take minutes: the library, a small workflow, dry runs
	$(PYTEST) -m 'not slow'

test-all: .venv/docs test ## run all tests: also whole workflows, DVC, Slurm, a browser
	$(PYTEST) -m slow

lint: .venv/installed ## check style, types, spelling and the workflow
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell README.md CONTRIBUTING.md CHANGELOG.md docs data/raw/README.md results/published/*.md src config workflow Makefile
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/checks.yml

format: .venv/installed ## put the code in its canonical form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile workflow

docs: .venv/installed ## write config/README.md and config/schemas from the settings, and the tables of claims from results/published
	$(BIN)/python -m pausefl.reproduction.pages.reference
	$(SNAKEMAKE) --configfile config/published.yaml -- results/numbers.csv
	$(BIN)/python -m pausefl.reproduction.pages.documentation

site: .venv/docs ## build these pages, the notebooks and the names of the library as a site, build/site/index.html
	rm -rf build/site
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --fresh-env --quiet --conf-dir docs/site --doctree-dir build/doctrees \
		. build/site
	@echo 'Site: build/site/index.html (open it in a browser)'

constraints: ## pin the newest versions that pyproject.toml admits
	rm -rf build/constraints && $(PYTHON) -m venv build/constraints
	build/constraints/bin/pip install --quiet 'torch==2.13.0' 'torchvision==0.28.0'
	build/constraints/bin/pip install --quiet '.[workflow,record,dev,docs]'
	(sed -n '/^#/p' constraints.txt; build/constraints/bin/pip freeze --all --exclude pausefl --exclude pip \
		| sed -E '/^(nvidia|triton|cuda)/d; s/\+cpu//; s/ @ .*//') > build/constraints.txt
	mv build/constraints.txt constraints.txt && rm -rf build/constraints

archive: ## the last commit as one file, with its digest, in build/archive
	@mkdir -p build/archive
	git archive --prefix=pausefl/ --output=build/archive/pausefl.tar.gz HEAD
	cd build/archive && sha256sum pausefl.tar.gz > SHA256SUMS

lock: ## digests of what constraints.txt pins, from the package index, for Linux and macOS
	rm -rf build/lock && $(PYTHON) -m venv build/lock && build/lock/bin/pip install --quiet uv
	build/lock/bin/uv pip compile pyproject.toml --quiet --universal --python-version 3.11.5 --constraint constraints.txt \
		--extra workflow --extra record --extra dev --extra docs --generate-hashes --no-annotate --no-header --output-file build/lock/all
	(sed -n '/^#/p' requirements.lock; awk '/^[a-z]/ {t = /^($(TORCH))/} !t' build/lock/all) > build/lock/rest
	(sed -n '/^#/p' requirements-torch.lock; awk '/^[a-z]/ {t = /^($(TORCH))/} t' build/lock/all) > build/lock/torch
	mv build/lock/rest requirements.lock && mv build/lock/torch requirements-torch.lock && rm -rf build/lock

clean: ## remove everything the workflow made; raw data stay
	rm -rf data/prepared data/partitions results/claims results/figures results/logs results/benchmarks \
		results/report results/runs results/collected results/studies results/tables results/verdicts .snakemake

.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(None if (3, 11) <= v <= (3, 13) else \
		"Python 3.11 to 3.13 is needed, $(PYTHON) is %d.%d: make PYTHON=/path/to/python3.12 ..." % v)'
	@case "$$PWD" in (*[[:space:]]*) echo "Snakemake cannot run in '$$PWD': move it to a path without spaces." >&2; exit 1;; esac
	@echo 'Installing into .venv; the first time this takes a minute or more.'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable '.[workflow,record,dev]'
	@echo 'Compiling kernels.'
	$(BIN)/python -m pausefl.compile_kernels
	@touch $@

# Some fifty packages more, which only the site and the slow tests need.
.venv/docs: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[docs]'
	@touch $@
