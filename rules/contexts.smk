# How many independent tokens is a run of neighbouring ones worth?
# INPUTS   results/corpus/blocks.zarr.zip, results/embeddings/shard_{shard}.zarr.zip, results/models/heads.zarr.zip,
#          results/limits/layer_{layer}.zarr.zip, results/geometry/layer_{layer}.zarr.zip
# OUTPUTS  results/contexts/parts/layer_{layer}.zarr.zip   one layer of the errors below
#          results/contexts/errors.zarr.zip   samples of runs of consecutive tokens: error (layer, run, statistic, head, replicate, n),
#                                             NaN where n is below a run; {mean,cov}_gram (layer, run, head, n, group, group_2);
#                                             limit_scale, limit_se (layer, statistic, head); run_length, repeated_share (run);
#                                             horizon, psi, … (layer, head); head -1: the whole layer
#          results/rates/contexts.zarr.zip    fits as of fit_rates, with run; share, share_slope (layer, run, statistic, head),
#                                             size_share (…, n), median_share (layer, run, statistic), overall_share (run, statistic),
#                                             each with _low and _high
#          results/figures/contexts.{pdf,svg,png}
from attnlimit.base.parts import chosen_layers  # noqa: E402

CONTEXT_LAYERS = chosen_layers(config["measure_contexts"]["layers"], LAYERS)
MERGED["contexts/errors"] = Merge(
    expand("results/contexts/parts/layer_{layer}.zarr.zip", layer=CONTEXT_LAYERS),
    dimension="layer",
    shared=["run_length", "repeated_share"],
)


rule measure_contexts:
    input:
        blocks="results/corpus/blocks.zarr.zip",
        heads="results/models/heads.zarr.zip",
        embeddings=EMBEDDINGS,
        limit="results/limits/layer_{layer}.zarr.zip",
        geometry="results/geometry/layer_{layer}.zarr.zip",
    output:
        errors="results/contexts/parts/layer_{layer}.zarr.zip",
    log:
        "results/logs/measure_contexts/layer_{layer}.txt",
    benchmark:
        "results/benchmarks/measure_contexts/layer_{layer}.tsv"
    conda:
        "../envs/measure_contexts.yaml"
    resources:
        **asked("measure_contexts"),
    params:
        job=job(
            "measure_contexts",
            layer=number("layer"),
            settings=without(config["measure_contexts"], "layers"),
            seed=config["seed"],
            device=config["device"],
        ),
    script:
        "../scripts/measure_contexts.py"


rule fit_contexts:
    input:
        errors="results/contexts/errors.zarr.zip",
    output:
        rates="results/rates/contexts.zarr.zip",
    log:
        "results/logs/fit_contexts/log.txt",
    benchmark:
        "results/benchmarks/fit_contexts/run.tsv"
    conda:
        "../envs/fit_contexts.yaml"
    params:
        job=job("fit_contexts", settings=config["fit_rates"], seed=config["seed"]),
    script:
        "../scripts/fit_contexts.py"


rule plot_contexts:
    input:
        rates="results/rates/contexts.zarr.zip",
    output:
        figures("contexts"),
    log:
        "results/logs/plot_contexts/log.txt",
    benchmark:
        "results/benchmarks/plot_contexts/run.tsv"
    conda:
        "../envs/plot_contexts.yaml"
    params:
        job=job("plot_contexts", quick_look=config["quick_look"]),
    script:
        "../scripts/plot_contexts.py"
