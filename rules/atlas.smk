# How many keys do the heads of several models need? Reads finished runs of chapter entry.
# INPUTS   of each run in compare_atlas.models: results/rates/keys.zarr.zip, results/atlas/couplings.zarr.zip
# OUTPUTS  results/rates/atlas.zarr.zip   depth, horizon, constant_tilt, effective_keys, first_weight, first_order_error, keys_… (row);
#                                         median_keys, beyond (model, protocol), first_order_ratio (model), order (model, quantity),
#                                         each with _low and _high
#          results/atlas.csv              one row per head, over all models
#          results/figures/atlas_{depth,horizon,beyond}.{pdf,svg,png}
from attnlimit.workflow.studies import entry_inputs  # noqa: E402

MODELS = config["compare_atlas"]["models"]
ENTRY_FILES = [entry_inputs(folder, ROOT, "compare_atlas" in ABSENT) for folder in MODELS.values()]


rule compare_atlas:
    input:
        rates=[path for files in ENTRY_FILES for path in files["rates"]],
        couplings=[path for files in ENTRY_FILES for path in files["couplings"]],
    output:
        rates="results/rates/atlas.zarr.zip",
    log:
        "results/logs/compare_atlas/log.txt",
    benchmark:
        "results/benchmarks/compare_atlas/run.tsv"
    conda:
        "../envs/compare_atlas.yaml"
    params:
        job=job("compare_atlas", models=list(MODELS), size=config["compare_atlas"]["size"]),
    script:
        "../scripts/compare_atlas.py"


rule tabulate_atlas:
    input:
        rates="results/rates/atlas.zarr.zip",
    output:
        table=report(
            "results/atlas.csv",
            caption="report/atlas_table.rst",
            category="4 Rates",
            labels={"shows": "every head of every model, for a spreadsheet"},
        ),
    log:
        "results/logs/tabulate_atlas/log.txt",
    benchmark:
        "results/benchmarks/tabulate_atlas/run.tsv"
    conda:
        "../envs/tabulate_atlas.yaml"
    params:
        job=job("tabulate_atlas"),
    script:
        "../scripts/tabulate_atlas.py"


rule plot_atlas:
    input:
        rates="results/rates/atlas.zarr.zip",
    output:
        figures("atlas"),
    log:
        "results/logs/plot_atlas/log.txt",
    benchmark:
        "results/benchmarks/plot_atlas/run.tsv"
    conda:
        "../envs/plot_atlas.yaml"
    params:
        job=job("plot_atlas", quick_look=config["quick_look"]),
    script:
        "../scripts/plot_atlas.py"
