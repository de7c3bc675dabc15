# Tokens that are neighbours, as in a text, against tokens drawn one by one.
# INPUTS   results/corpus/blocks.zarr.zip, results/embeddings/shard_{shard}.zarr.zip, results/models/heads.zarr.zip,
#          results/limits/layer_{layer}.zarr.zip, results/geometry/layer_{layer}.zarr.zip
# OUTPUTS  results/contexts/parts/layer_{layer}.zarr.zip   one layer of the errors below
#          results/contexts/errors.zarr.zip   samples of runs of consecutive tokens: error (layer, run, statistic, head, replicate, n),
#                                             NaN where n is below a run; {mean,cov}_gram (layer, run, head, n, group, group_2);
#                                             limit_scale, limit_se (layer, statistic, head); run_length, repeated_share (run);
#                                             horizon, psi, … (layer, head); the whole layer: layer_error, …
#          results/rates/contexts.zarr.zip    fits as in rates.smk, with run; share, share_slope (layer, run, statistic, head),
#                                             size_share (…, n), median_share (layer, run, statistic), overall_share (run, statistic),
#                                             each with _low and _high; layer_… of the whole layer
#          results/clouds/outputs.zarr.zip    outputs of two heads at chosen n and in the limit: plane (setting, cloud, point, axis),
#                                             tsne (setting, cloud, mapped, axis); horizon, of_layer, of_head (setting)
from attnlimit.workflow.spread import chosen_layers

CONTEXT_LAYERS = chosen_layers(config["measure_contexts"]["layers"], LAYERS)


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
    threads: 1
    resources:
        mem_mb=memory("measure_contexts"),
        runtime=minutes("measure_contexts"),
        gpu=gpus("measure_contexts"),
    params:
        job=job(
            "measure_contexts",
            layer=lambda wildcards: int(wildcards.layer),
            settings=without(config["measure_contexts"], "layers"),
            seed=config["seed"],
            device=config["device"],
        ),
    script:
        "../scripts/measure_contexts.py"


rule merge_contexts:
    input:
        errors=expand("results/contexts/parts/layer_{layer}.zarr.zip", layer=CONTEXT_LAYERS),
    output:
        errors="results/contexts/errors.zarr.zip",
    log:
        "results/logs/merge_contexts/log.txt",
    benchmark:
        "results/benchmarks/merge_contexts/run.tsv"
    localrule: True
    conda:
        "../envs/merge_contexts.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job("merge_contexts"),
    script:
        "../scripts/merge_contexts.py"


rule fit_contexts:
    input:
        errors="results/contexts/errors.zarr.zip",
    output:
        rates="results/rates/contexts.zarr.zip",
    log:
        "results/logs/fit_contexts/log.txt",
    benchmark:
        "results/benchmarks/fit_contexts/run.tsv"
    localrule: True
    conda:
        "../envs/fit_contexts.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        job=job(
            "fit_contexts",
            settings=config["fit_rates"],
            seed=config["seed"],
        ),
    script:
        "../scripts/fit_contexts.py"


rule measure_clouds:
    input:
        heads="results/models/heads.zarr.zip",
        embeddings=EMBEDDINGS,
        geometry=expand("results/geometry/layer_{layer}.zarr.zip", layer=LAYERS),
    output:
        outputs="results/clouds/outputs.zarr.zip",
    log:
        "results/logs/measure_clouds/log.txt",
    benchmark:
        "results/benchmarks/measure_clouds/run.tsv"
    conda:
        "../envs/measure_clouds.yaml"
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=growing(60),
        gpu=gpus("measure_clouds"),
    params:
        job=job(
            "measure_clouds",
            settings=config["measure_clouds"],
            block=config["compute_limits"]["block"],
            seed=config["seed"],
            device=config["device"],
        ),
    script:
        "../scripts/measure_clouds.py"


rule plot_contexts:
    input:
        rates="results/rates/contexts.zarr.zip",
    output:
        **figure("contexts", "contexts: what a token among neighbours is worth"),
    log:
        "results/logs/plot_contexts/log.txt",
    benchmark:
        "results/benchmarks/plot_contexts/run.tsv"
    localrule: True
    conda:
        "../envs/plot_contexts.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "plot_contexts",
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/plot_contexts.py"


rule plot_clouds:
    input:
        outputs="results/clouds/outputs.zarr.zip",
    output:
        **figure("clouds", "contexts: what convergence looks like"),
    log:
        "results/logs/plot_clouds/log.txt",
    benchmark:
        "results/benchmarks/plot_clouds/run.tsv"
    localrule: True
    conda:
        "../envs/plot_clouds.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "plot_clouds",
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/plot_clouds.py"
