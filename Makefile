# Verbs only; the work is in the Snakefile.
PYTHON ?= python3.11
CORES ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu)
CONFIG ?=
ARCHIVE ?= results/attnlimit.tar.zst
TO ?= restored
BIN := .venv/bin
SNAKEMAKE := $(BIN)/snakemake
OPTIONS := --cores $(CORES) $(if $(CONFIG),--configfile $(CONFIG))
$(foreach file,$(CONFIG),$(if $(wildcard $(file)),,$(error CONFIG: no file '$(file)' here)))

# The bar of the rich logger also shows the logs of failed jobs: what they say in short is repeated after them.
LAST_WORDS := find results/logs -name '*.txt' -newer .snakemake/started 2>/dev/null | while read -r log; do \
	grep -E '^[A-Za-z]+(Error|Exception): ' "$$log" | tail -n 1; done | sort -u

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup reproduce archive verify restore deposit bench test cluster-test env-test readme lint clean

help: ## list the verbs
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

setup: .venv/ready ## build the environment in .venv from requirements.lock

.venv/ready: requirements.lock
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip check
	@touch $@

reproduce: .venv/ready ## run everything: figures, table, report, archive; CONFIG=my.yaml for your own, CORES=8 for more
	@start=$$(date +%s); mkdir -p .snakemake; touch .snakemake/started; \
	$(SNAKEMAKE) $(OPTIONS) --logger rich || { $(LAST_WORDS); exit 1; } && \
	$(MAKE) --no-print-directory results/report.html && \
	echo && cat results/answer.txt && echo "time taken: $$(($$(date +%s) - start)) s" && \
	echo && echo "report   results/report.html" && echo "figures  results/figures/" && echo "table    results/rates.csv" && echo "archive  results/attnlimit.tar.zst"

results/report.html: results/answer.txt results/rates.csv results/claims.html results/provenance.html $(wildcard results/figures/*.png rules/report/*.rst)
	@$(SNAKEMAKE) $(OPTIONS) --report $@ --quiet all

archive: .venv/ready ## everything behind the results as one file: sources, stores, settings, jobs (reproduce does it too)
	@$(SNAKEMAKE) results/attnlimit.tar.zst $(OPTIONS) --logger rich

verify: .venv/ready ## check an archive: ARCHIVE=results/attnlimit.tar.zst
	@PYTHONPATH=scripts $(BIN)/python -m attnlimit.archive.verify "$(ARCHIVE)"

restore: .venv/ready ## unpack a checked archive, to look or to go on from there: ARCHIVE=..., TO=restored
	@PYTHONPATH=scripts $(BIN)/python -m attnlimit.archive.restore "$(ARCHIVE)" "$(TO)"

deposit: .venv/ready ## show what would go to Zenodo; UPLOAD=yes sends it as a draft, with the token in ZENODO_TOKEN
	@PYTHONPATH=scripts $(BIN)/python -m attnlimit.archive.deposit "$(ARCHIVE)" $(if $(filter yes,$(UPLOAD)),--upload)

bench: .venv/ready ## time the kernel against what a user would write, into results/bench/
	@$(SNAKEMAKE) results/bench/attention.json $(OPTIONS) --forcerun bench_attention --logger rich

test: lint ## lint, unit tests, and a small run of the whole workflow
	$(BIN)/python -m pytest

cluster-test: .venv/ready ## the small run on a real Slurm of two nodes on this machine, and its faults: root, Debian
	$(BIN)/python -m pytest tests/cluster -n 0 -rs

env-test: .venv/ready ## the small run with each rule in its own environment, on a host that has only Snakemake
	$(BIN)/python -m pytest tests/environments -n 0 -rs

readme: .venv/ready ## put the figure and the tables of the last default run into the README
	$(BIN)/python docs/readme.py

lint: .venv/ready ## ruff, import-linter, mypy, snakefmt, snakemake --lint
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@said=$$(PYTHONPATH=scripts $(BIN)/lint-imports --no-cache --no-logo) || { echo "$$said"; exit 1; }
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile rules
	$(SNAKEMAKE) --lint

clean: ## remove the results, keep the environment
	rm -rf results .snakemake
