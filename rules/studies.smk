# Which properties depend on the model or the text, and which do all share? Finished runs are compared.
# INPUTS   of each run in compare_studies.studies: results/rates/heads.zarr.zip, results/{tails,errors}/layer_{layer}.zarr.zip,
#          and results/rates/interventions.zarr.zip if it has that chapter
# OUTPUTS  results/studies/{study}.zarr.zip     what is compared of one run: beta, … (layer, statistic, head), horizon, … (layer,
#                                               head), error (layer, statistic, head, replicate, n), limit_scale
#          results/rates/studies.zarr.zip       the same by study, without errors, and the comparisons: agreement (model,
#                                               quantity), variance_share (…, component), order (…, coupling), effective_heads
#                                               (study, statistic), …, each with two 95 % intervals
#          results/studies.csv                  one row per head and study
#          results/figures/studies_{horizon,heads,shared_noise}.{pdf,svg,png}
from attnlimit.workflow.studies import study_inputs  # noqa: E402

STUDY_FILES = {name: study_inputs(folder, ROOT, "compare_studies" in ABSENT) for name, folder in STUDIES.items()}


rule gather_study:
    input:
        unpack(lambda wildcards: STUDY_FILES[wildcards.study]),
    output:
        study="results/studies/{study}.zarr.zip",
    log:
        "results/logs/gather_study/{study}.txt",
    benchmark:
        "results/benchmarks/gather_study/{study}.tsv"
    wildcard_constraints:
        study="|".join(STUDIES) or "none",
    conda:
        "../envs/gather_study.yaml"
    params:
        job=job("gather_study"),
    script:
        "../scripts/gather_study.py"


rule compare_studies:
    input:
        studies=expand("results/studies/{study}.zarr.zip", study=STUDIES),
    output:
        rates="results/rates/studies.zarr.zip",
    log:
        "results/logs/compare_studies/log.txt",
    benchmark:
        "results/benchmarks/compare_studies/run.tsv"
    conda:
        "../envs/compare_studies.yaml"
    params:
        job=job(
            "compare_studies",
            studies=list(STUDIES),
            settings=without(config["compare_studies"], "studies", "missing"),
            seed=config["seed"],
        ),
    script:
        "../scripts/compare_studies.py"


rule tabulate_studies:
    input:
        rates="results/rates/studies.zarr.zip",
    output:
        table=report(
            "results/studies.csv",
            caption="report/studies_table.rst",
            category="4 Rates",
            labels={"shows": "every head of every study, for a spreadsheet"},
        ),
    log:
        "results/logs/tabulate_studies/log.txt",
    benchmark:
        "results/benchmarks/tabulate_studies/run.tsv"
    conda:
        "../envs/tabulate_studies.yaml"
    params:
        job=job("tabulate_studies"),
    script:
        "../scripts/tabulate_studies.py"


rule plot_studies:
    input:
        rates="results/rates/studies.zarr.zip",
    output:
        figures("studies"),
    log:
        "results/logs/plot_studies/log.txt",
    benchmark:
        "results/benchmarks/plot_studies/run.tsv"
    conda:
        "../envs/plot_studies.yaml"
    params:
        job=job("plot_studies", quick_look=config["quick_look"]),
    script:
        "../scripts/plot_studies.py"
