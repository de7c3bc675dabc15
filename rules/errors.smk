# Distances between attention on n tokens and its limit.
# INPUTS   results/embeddings/shard_{shard}.zarr.zip, results/models/heads.zarr.zip, results/limits/layer_{layer}.zarr.zip
# OUTPUTS  results/errors/parts/layer_{layer}_part_{part}.zarr.zip   the replicates of one job, and group means of differences
#          results/errors/layer_{layer}.zarr.zip   error (statistic, head, replicate, n), limit_scale, limit_se (statistic, head);
#                                                  {mean,cov}_gram (head, n, group, group_2), {mean,cov}_difference (n, feature, …);
#                                                  horizon, psi, … (head); the whole layer: layer_error, layer_limit_scale, …
#          results/ablation/errors.zarr.zip   chosen heads with A or their constant tilt scaled, against limits of their own: error
#                                             (setting, statistic, replicate, n), limit_scale (setting, statistic); {mean,cov}_gram
#                                             (setting, n, group, group_2); horizon, psi, …, of_layer, of_head, alpha, tilt_factor (setting)


rule measure_errors:
    input:
        heads="results/models/heads.zarr.zip",
        embeddings=EMBEDDINGS,
        limit="results/limits/layer_{layer}.zarr.zip",
    output:
        errors="results/errors/parts/layer_{layer}_part_{part}.zarr.zip",
    log:
        "results/logs/measure_errors/layer_{layer}_part_{part}.txt",
    benchmark:
        "results/benchmarks/measure_errors/layer_{layer}_part_{part}.tsv"
    conda:
        "../envs/measure_errors.yaml"
    threads: 1
    resources:
        mem_mb=memory("measure_errors"),
        runtime=minutes("measure_errors"),
        gpu=gpus("measure_errors"),
    params:
        job=job(
            "measure_errors",
            layer=lambda wildcards: int(wildcards.layer),
            replicates=lambda wildcards: replicates(wildcards.part),
            settings=without(
                config["measure_errors"], "replicates", "groups_per_job"
            ),  # how many, and how cut: in replicates
            seed=config["seed"],
            device=config["device"],
        ),
    script:
        "../scripts/measure_errors.py"


rule merge_errors:
    input:
        errors=expand("results/errors/parts/layer_{{layer}}_part_{part}.zarr.zip", part=ERROR_PARTS),
        limit="results/limits/layer_{layer}.zarr.zip",
        geometry="results/geometry/layer_{layer}.zarr.zip",
        heads="results/models/heads.zarr.zip",
    output:
        errors="results/errors/layer_{layer}.zarr.zip",
    log:
        "results/logs/merge_errors/layer_{layer}.txt",
    benchmark:
        "results/benchmarks/merge_errors/layer_{layer}.tsv"
    conda:
        "../envs/merge_errors.yaml"
    threads: 1
    resources:
        mem_mb=memory("merge_errors"),
        runtime=minutes("merge_errors"),
    params:
        job=job(
            "merge_errors",
            layer=lambda wildcards: int(wildcards.layer),
        ),
    script:
        "../scripts/merge_errors.py"


rule measure_ablation:
    input:
        blocks="results/corpus/blocks.zarr.zip",
        heads="results/models/heads.zarr.zip",
        embeddings=EMBEDDINGS,
        geometry=expand("results/geometry/layer_{layer}.zarr.zip", layer=LAYERS),
    output:
        errors="results/ablation/errors.zarr.zip",
    log:
        "results/logs/measure_ablation/log.txt",
    benchmark:
        "results/benchmarks/measure_ablation/run.tsv"
    conda:
        "../envs/measure_ablation.yaml"
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=growing(240),
        gpu=gpus("measure_ablation"),
    params:
        job=job(
            "measure_ablation",
            settings=config["measure_ablation"],
            block=config["compute_limits"]["block"],
            seed=config["seed"],
            device=config["device"],
        ),
    script:
        "../scripts/measure_ablation.py"
