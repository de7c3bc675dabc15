# Finished runs of several models and texts, compared.
# INPUTS   of each run in compare_studies.studies: results/rates/heads.zarr.zip, results/{tails,errors}/layer_{layer}.zarr.zip
# OUTPUTS  results/studies/{study}.zarr.zip     what is compared of one run: beta, … (layer, statistic, part, head), horizon, …
#                                               (layer, head), beta_covariance (layer, statistic, head, head_2), beta_half
#                                               (split, half, layer, statistic, head), error (layer, statistic, head, replicate, n)
#          results/rates/studies.zarr.zip       the same by study, and what is asked of them: agreement (statistic, pair),
#                                               order (coupling, statistic, study), component (component, statistic, model),
#                                               effective_heads (study, layer, statistic, n), each with its 95 % interval
#          results/studies.{csv,html}           one row a head and study; the answers as a page, with links to the studies
from attnlimit.workflow.studies import study_folder, study_inputs  # noqa: E402

STUDY_FILES = {name: study_inputs(folder, ROOT, "compare_studies" in away) for name, folder in STUDIES.items()}


rule gather_study:
    input:
        rates=lambda wildcards: STUDY_FILES[wildcards.study]["rates"],
        tails=lambda wildcards: STUDY_FILES[wildcards.study]["tails"],
        errors=lambda wildcards: STUDY_FILES[wildcards.study]["errors"],
    output:
        study="results/studies/{study}.zarr.zip",
    log:
        "results/logs/gather_study/{study}.txt",
    benchmark:
        "results/benchmarks/gather_study/{study}.tsv"
    wildcard_constraints:
        study="|".join(STUDIES) or "none",
    localrule: True
    conda:
        "../envs/gather_study.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "gather_study",
            seed=config["seed"],
        ),
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
    localrule: True
    conda:
        "../envs/compare_studies.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        job=job(
            "compare_studies",
            studies=list(STUDIES),
            settings=without(config["compare_studies"], "studies", "missing")
            | only(config["assess_claims"], "weakest_horizon"),
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
        page=report(
            "results/studies.html",
            caption="report/studies_page.rst",
            category="2 Answer",
            labels={"shows": "the studies compared, as a page"},
        ),
    log:
        "results/logs/tabulate_studies/log.txt",
    benchmark:
        "results/benchmarks/tabulate_studies/run.tsv"
    localrule: True
    conda:
        "../envs/tabulate_studies.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "tabulate_studies",
            folders={name: str(study_folder(folder, ROOT)) for name, folder in STUDIES.items()},
            missing=config["compare_studies"]["missing"],
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/tabulate_studies.py"


rule plot_studies_horizon:
    input:
        rates="results/rates/studies.zarr.zip",
    output:
        **figure("studies_horizon", "studies: rate against horizon"),
    log:
        "results/logs/plot_studies_horizon/log.txt",
    benchmark:
        "results/benchmarks/plot_studies_horizon/run.tsv"
    localrule: True
    conda:
        "../envs/plot_studies_horizon.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "plot_studies_horizon",
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/plot_studies_horizon.py"


rule plot_studies_heads:
    input:
        rates="results/rates/studies.zarr.zip",
    output:
        **figure("studies_heads", "studies: the heads over texts"),
    log:
        "results/logs/plot_studies_heads/log.txt",
    benchmark:
        "results/benchmarks/plot_studies_heads/run.tsv"
    localrule: True
    conda:
        "../envs/plot_studies_heads.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "plot_studies_heads",
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/plot_studies_heads.py"


rule plot_studies_shared_noise:
    input:
        rates="results/rates/studies.zarr.zip",
    output:
        **figure("studies_shared_noise", "studies: what the heads of a layer share"),
    log:
        "results/logs/plot_studies_shared_noise/log.txt",
    benchmark:
        "results/benchmarks/plot_studies_shared_noise/run.tsv"
    localrule: True
    conda:
        "../envs/plot_studies_shared_noise.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "plot_studies_shared_noise",
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/plot_studies_shared_noise.py"
