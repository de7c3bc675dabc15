# What happens to a head when only its horizon, or only its constant tilt, is changed?
# INPUTS   results/corpus/blocks.zarr.zip, results/embeddings/shard_{shard}.zarr.zip, results/models/heads.zarr.zip
# OUTPUTS  results/interventions/layer_{layer}.zarr.zip   all heads, unchanged and changed, on the same samples, each variant against
#                                                         its own limit: error (variant, statistic, head, replicate, n), limit_scale
#                                                         (variant, statistic, head); {mean,cov}_gram (variant, head, n, group, group_2);
#                                                         horizon, constant_tilt, … (variant, head); alpha, tilt_factor (variant)
#          results/rates/interventions.zarr.zip           fits as of fit_rates, with variant; beta_change, error_change (layer, variant,
#                                                         statistic, head), their means over heads (variant, statistic), each with _low
#                                                         and _high
#          results/figures/{interventions,interventions_tilt}.{pdf,svg,png}


rule measure_interventions:
    input:
        blocks="results/corpus/blocks.zarr.zip",
        heads="results/models/heads.zarr.zip",
        embeddings=EMBEDDINGS,
    output:
        errors="results/interventions/layer_{layer}.zarr.zip",
    log:
        "results/logs/measure_interventions/layer_{layer}.txt",
    benchmark:
        "results/benchmarks/measure_interventions/layer_{layer}.tsv"
    conda:
        "../envs/measure_interventions.yaml"
    resources:
        **asked("measure_interventions"),
    params:
        job=job(
            "measure_interventions",
            layer=number("layer"),
            settings=config["measure_interventions"],
            block=config["compute_limits"]["block"],
            seed=config["seed"],
            device=config["device"],
        ),
    script:
        "../scripts/measure_interventions.py"


rule fit_interventions:
    input:
        errors=expand("results/interventions/layer_{layer}.zarr.zip", layer=LAYERS),
    output:
        rates="results/rates/interventions.zarr.zip",
    log:
        "results/logs/fit_interventions/log.txt",
    benchmark:
        "results/benchmarks/fit_interventions/run.tsv"
    conda:
        "../envs/fit_interventions.yaml"
    params:
        job=job("fit_interventions", settings=config["fit_rates"], seed=config["seed"]),
    script:
        "../scripts/fit_interventions.py"


rule plot_interventions:
    input:
        rates="results/rates/interventions.zarr.zip",
    output:
        figures("interventions"),
    log:
        "results/logs/plot_interventions/log.txt",
    benchmark:
        "results/benchmarks/plot_interventions/run.tsv"
    conda:
        "../envs/plot_interventions.yaml"
    params:
        job=job("plot_interventions", level=config["assess_claims"]["level"], quick_look=config["quick_look"]),
    script:
        "../scripts/plot_interventions.py"
