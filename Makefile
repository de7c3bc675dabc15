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
export PYTHON AUTHORS TORCH

.DEFAULT_GOAL := help
.PHONY: help setup reproduce quick studies compare plan runs tidy unlock page report archive verify restore deposit bench gpu-check test cluster-test long-test env-test power readme docs envs lock container lint clean

help: ## list the verbs
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

setup: ## build the environment in .venv from the locks; PYTHON=python3.12 for one of your choice, TORCH=cpu or cuda for a build
	@sh envs/setup.sh

reproduce: setup ## run everything: figures, table, report, archive; CONFIG=my.yaml for your own, CORES=8 for more, PROFILE=profiles/slurm on a cluster
	$(VERB)

quick: ## a first look in some minutes, into runs/quick: all figures, few tokens, rough rates
	@$(MAKE) --no-print-directory reproduce CONFIG="$(strip $(CONFIG) configs/quick.yaml)" RUN=quick

studies: setup ## run models and texts of configs/studies, then compare them: STUDIES="code my-study.yaml" for some or your own
	$(if $(CONFIG),$(error CONFIG: studies have their own; put yours in STUDIES="..."))
	@$(PROGRAM).cli.run_studies --cores $(CORES) $(STUDIES)

compare: setup ## compare finished runs: RUNS="code literature", ARCHIVES="a.tar.zst b.tar.zst", or some of both
	@$(PROGRAM).cli.compare --cores $(CORES) --runs $(RUNS) --archives $(ARCHIVES) $(if $(RUN),--name "$(RUN)")

plan: setup ## what reproduce would run, why, and for how long: CONFIG=..., RUN=...
	$(VERB)

runs: setup ## list the runs: results/ and runs/*, with model, text, date, state
	$(VERB)

tidy: setup ## remove the stores of layers that the config no longer asks for: CONFIG=..., RUN=...
	$(VERB)

unlock: setup ## free a run that was killed on another machine: RUN=... (`make reproduce` does it by itself on the same one)
	$(VERB)

page: setup ## write index.html again from what a run has, finished or not: CONFIG=..., RUN=...
	$(VERB)

report: setup ## write report.html again
	$(VERB)

archive: setup ## everything behind the results as one file: sources, stores, settings, jobs (reproduce does it too)
	$(VERB)

verify: setup ## check an archive: CONFIG=..., RUN=... or ARCHIVE=results/attnlimit.tar.zst
	@$(PROGRAM).archive.commands verify "$(ARCHIVE)"

restore: setup ## unpack a checked archive, to look or to go on from there: ARCHIVE=..., TO=restored
	@$(PROGRAM).archive.commands restore "$(ARCHIVE)" "$(TO)"

deposit: setup ## show what would go to Zenodo: RUN=..., AUTHORS="Family, Given; ..."; UPLOAD=yes sends it as a draft, by ZENODO_TOKEN
	@$(PROGRAM).archive.deposit "$(ARCHIVE)" --authors "$$AUTHORS" $(if $(filter yes,$(TEXTS)),--texts) $(if $(filter yes,$(UPLOAD)),--upload)

bench: setup ## time the kernel against what a user would write, into results/bench/
	$(VERB)

gpu-check: setup ## compare a GPU with the CPU in float64, and time both: the first thing to run on a machine that has one
	@$(PROGRAM).bench.gpu_check

test: lint ## lint, unit tests, and a small run of the whole workflow
	$(BIN)/python -m pytest

cluster-test: setup ## the small run on a real Slurm of two nodes on this machine, and its faults: root, Debian
	$(BIN)/python -m pytest tests/cluster -n 0 -rs

long-test: setup ## whole runs on your own model, packages, the hub, several studies; how often intervals hold the truth
	$(BIN)/python -m pytest tests/long

env-test: setup ## the small run with each rule in its own environment, on a host that has only Snakemake
	$(BIN)/python -m pytest tests/environments -n 0 -rs

power: setup ## how often each verdict is right, by simulation, into rules/page/power.json: DRAWS=200, CLAIMS="heads_above ..." for some
	@$(PROGRAM).page.power $(or $(DRAWS),100) $(CLAIMS)

readme: setup ## put what a run found into README.md and docs/: the default run, or RUN=...
	$(BIN)/python docs/readme.py "$(FOLDER)"
	$(BIN)/python docs/published.py "$(FOLDER)"

docs: setup ## write docs/config.md and docs/workflow.svg again, after a change of keys or rules
	$(BIN)/python docs/config.py
	$(BIN)/python docs/workflow.py

envs: setup ## write envs/*.yaml again from what the scripts import and the locks
	@$(PROGRAM).cli.envs

lock: setup ## write the locks again from pyproject.toml; versions stay where they can: UPGRADE="ruff numpy" or UPGRADE=all raises some
	@$(PROGRAM).cli.lock $(UPGRADE)

container: ## an image with the environment and the workflow, from the locks: ENGINE=docker or podman; TORCH=cpu as for setup
	git archive --format=tar HEAD | $(or $(ENGINE),docker) build --tag attnlimit --file envs/Dockerfile \
		--build-arg TORCH=$(TORCH) --build-arg PIP_EXTRA_INDEX_URL=$(PIP_EXTRA_INDEX_URL) -

# Our own files only: texts of yours in this folder are not judged.
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
