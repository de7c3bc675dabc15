# Verbs only; the work is in the Snakefile, and what the verbs share in scripts/attnlimit/cli/run.py.
CORES ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu)
CONFIG ?=
# The folder of a run: the project's own for the default run, else runs/<name>, by RUN or the last CONFIG.
RUN ?= $(basename $(notdir $(lastword $(CONFIG))))
FOLDER := $(if $(RUN),runs/$(RUN),.)
ARCHIVE ?= $(patsubst ./%,%,$(FOLDER)/results/attnlimit.tar.zst)
TO ?= restored
BIN := .venv/bin
PROGRAM := PYTHONPATH=scripts $(BIN)/python -m attnlimit
VERB = @$(PROGRAM).cli.run $@ --folder "$(FOLDER)" --cores $(CORES) $(if $(PROFILE),--profile "$(PROFILE)") --config $(CONFIG)
$(foreach file,$(CONFIG),$(if $(wildcard $(file)),,$(error CONFIG: no file '$(file)' here)))
$(if $(or $(findstring /,$(RUN)),$(filter .%,$(RUN)),$(word 2,$(RUN))),$(error RUN: '$(RUN)' is not a plain name))
# A misspelt variable would be ignored without a word. Spaces in values are escaped in MAKEOVERRIDES.
VARIABLES := CORES CONFIG RUN PROFILE ARCHIVE TO PYTHON TORCH AUTHORS TITLE TEXTS UPLOAD STUDIES MODELS RUNS ARCHIVES DRAWS CLAIMS UPGRADE ENGINE TABLE PIP_EXTRA_INDEX_URL
SPACE := $(subst ,, )
GIVEN := $(foreach each,$(subst \$(SPACE),_,$(MAKEOVERRIDES)),$(firstword $(subst =, ,$(each))))
$(if $(filter-out $(VARIABLES),$(GIVEN)),$(error no variable $(filter-out $(VARIABLES),$(GIVEN)); there are $(VARIABLES)))
$(if $(filter %.yaml %.yml,$(MAKECMDGOALS)),$(error $(filter %.yaml %.yml,$(MAKECMDGOALS)) is no verb; write CONFIG=$(filter %.yaml %.yml,$(MAKECMDGOALS))))
export PYTHON AUTHORS TITLE TORCH

.DEFAULT_GOAL := help
.PHONY: help setup reproduce quick studies atlas compare plan runs tidy unlock page report archive verify restore deposit bench gpu-check test cluster-test long-test env-test power readme docs envs lock container lint clean

help: ## list the verbs
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

setup: ## build the environment in .venv from the locks; PYTHON=python3.12 selects a Python, TORCH=cpu or cuda a build
	@sh envs/setup.sh

reproduce: setup ## run everything: figures, table, report, archive; CONFIG=my.yaml for your own, CORES=8 for more, PROFILE=profiles/slurm on a cluster
	$(VERB)

quick: ## a small run in a few minutes, into runs/quick: all figures, few tokens, rough rates
	@$(MAKE) --no-print-directory reproduce CONFIG="$(strip $(CONFIG) configs/quick.yaml)" RUN=quick

studies: setup ## run models and texts of configs/studies, then compare them: STUDIES="code my-study.yaml" for some or your own
	$(if $(CONFIG),$(error CONFIG: studies have their own; put yours in STUDIES="..."))
	@$(PROGRAM).cli.run_studies --cores $(CORES) $(STUDIES)

atlas: setup ## table of keys and couplings of every head of the models in configs/atlas: MODELS="my.yaml" adds yours
	$(if $(CONFIG),$(error CONFIG: models of the atlas have their own; put yours in MODELS="..."))
	@$(PROGRAM).cli.run_atlas --cores $(CORES) $(MODELS)

compare: setup ## compare finished runs: RUNS="code literature", ARCHIVES="a.tar.zst b.tar.zst", or both
	@$(PROGRAM).cli.compare --cores $(CORES) --runs $(RUNS) --archives $(ARCHIVES) $(if $(RUN),--name "$(RUN)")

plan: setup ## what reproduce would run, why, and for how long: CONFIG=..., RUN=...
	$(VERB)

runs: setup ## list the runs: results/ and runs/*, with model, text, date, state
	$(VERB)

tidy: setup ## remove the stores of layers that the config no longer contains: CONFIG=..., RUN=...
	$(VERB)

unlock: setup ## unlock a run that was killed on another machine: RUN=... (`make reproduce` does this on the same machine)
	$(VERB)

page: setup ## write index.html again from the results that exist, finished or not: CONFIG=..., RUN=...
	$(VERB)

report: setup ## write report.html again
	$(VERB)

archive: setup ## pack the run into one file: sources, stores, settings, jobs (reproduce does this too)
	$(VERB)

verify: setup ## check an archive: CONFIG=..., RUN=... or ARCHIVE=results/attnlimit.tar.zst
	@$(PROGRAM).archive.commands verify "$(ARCHIVE)"

restore: setup ## verify and unpack an archive, to inspect or continue it: ARCHIVE=..., TO=restored
	@$(PROGRAM).archive.commands restore "$(ARCHIVE)" "$(TO)"

deposit: setup ## show what would be sent to Zenodo: RUN=..., AUTHORS="Family, Given; ...", TITLE="..."; UPLOAD=yes sends a draft, with ZENODO_TOKEN
	@$(PROGRAM).archive.deposit "$(ARCHIVE)" --authors "$$AUTHORS" --title "$$TITLE" $(if $(filter yes,$(TEXTS)),--texts) $(if $(filter yes,$(UPLOAD)),--upload)

bench: setup ## time the attention kernel against alternatives, into results/bench/
	$(VERB)

gpu-check: setup ## compare a GPU with the CPU in float64, and time both: run it first on a machine with a GPU
	@$(PROGRAM).bench.gpu_check

test: lint ## lint, unit tests, and a small run of the whole workflow
	$(BIN)/python -m pytest

cluster-test: setup ## the small run on a real two-node Slurm on this machine, with faults: needs root, Debian; TABLE=yes writes docs/cluster.md's table
	$(BIN)/python -m pytest tests/cluster -n 0 -rs

long-test: setup ## whole runs on your own model, packages, the hub, several studies; coverage of the intervals
	$(BIN)/python -m pytest tests/long

env-test: setup ## the small run with each rule in its own environment, on a host that has only Snakemake
	$(BIN)/python -m pytest tests/environments -n 0 -rs

power: setup ## simulate how often each verdict is right, into rules/page/power.json: DRAWS=200, CLAIMS="heads_above ..." for some
	@$(PROGRAM).page.power $(or $(DRAWS),100) $(CLAIMS)

readme: setup ## fill the results of a run into README.md and docs/: the default run, or RUN=...
	$(BIN)/python docs/readme.py "$(FOLDER)"
	$(BIN)/python docs/published.py "$(FOLDER)"

docs: setup ## write docs/config.md and docs/workflow.svg again, after a change of keys or rules
	$(BIN)/python docs/config.py
	$(BIN)/python docs/workflow.py

envs: setup ## write envs/*.yaml again from what the scripts import and the locks
	@$(PROGRAM).cli.envs

lock: setup ## write the locks again from pyproject.toml; versions are kept where possible: UPGRADE="ruff numpy" or UPGRADE=all
	@$(PROGRAM).cli.lock $(UPGRADE)

container: ## build an image with the environment and the workflow, from the locks: ENGINE=docker or podman; TORCH=cpu as for setup
	git archive --format=tar HEAD | $(or $(ENGINE),docker) build --tag attnlimit --file envs/Dockerfile \
		--build-arg TORCH=$(TORCH) --build-arg PIP_EXTRA_INDEX_URL=$(PIP_EXTRA_INDEX_URL) -

# Only the project's files: your own texts in this folder are not checked.
OWN := docs envs scripts tests CHANGELOG.md CONTRIBUTING.md README.md THIRD_PARTY.md
lint: setup ## ruff, codespell, import-linter, mypy, snakefmt, snakemake --lint
	$(BIN)/ruff check $(OWN) && $(BIN)/ruff format --check $(OWN)
	$(BIN)/codespell $(OWN) .ci .github Makefile Snakefile config.yaml configs profiles rules
	@said=$$(PYTHONPATH=scripts $(BIN)/lint-imports --no-cache --no-logo) || { echo "$$said"; exit 1; }
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/snakemake --lint

clean: ## remove the results of a run, keep the environment: RUN=... for another than the default
	$(if $(RUN),rm -rf "runs/$(RUN)",rm -rf .snakemake && mkdir -p results && find results -mindepth 1 -maxdepth 1 ! -name README.md -exec rm -rf {} +)
