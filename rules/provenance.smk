# Where the numbers of a run come from.
# INPUTS   what the run leaves: stores, table, answer, claims, figures
# OUTPUTS  results/provenance.html   settings, data, versions, machine; times, which differ between runs, are in results/benchmarks/


rule state_provenance:
    input:
        stores=[
            "results/corpus/blocks.zarr.zip",
            "results/models/heads.zarr.zip",
            expand(
                "results/{what}/layer_{layer}.zarr.zip", what=["geometry", "tails", "limits", "errors"], layer=LAYERS
            ),
            "results/ablation/errors.zarr.zip",
            expand("results/synthetic/{name}.zarr.zip", name=[*SIMULATIONS, "hardmax", "uniform", "normality"]),
            expand("results/rates/{source}.zarr.zip", source=[*SOURCES, *SUMMARIES]),
        ],
        rest=[
            "results/rates.csv",
            "results/answer.txt",
            "results/claims.json",
            expand("results/figures/{figure}.png", figure=FIGURES),
        ],
    output:
        page=report(
            "results/provenance.html",
            caption="report/provenance.rst",
            category="5 Provenance",
            labels={"page": "where the numbers come from"},
        ),
    log:
        "results/logs/state_provenance/log.txt",
    benchmark:
        "results/benchmarks/state_provenance/run.tsv"
    localrule: True
    conda:
        "../envs/state_provenance.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        config=config,
        code=code("state_provenance.py"),
    script:
        "../scripts/state_provenance.py"
