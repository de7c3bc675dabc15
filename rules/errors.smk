# Distances between attention on n tokens and its limit.
# INPUTS   results/embeddings/shard_{shard}.zarr.zip, results/models/heads.zarr.zip, results/limits/layer_{layer}.zarr.zip
# OUTPUTS  results/errors/parts/layer_{layer}_part_{part}.zarr.zip   the replicates of one job, and group means of differences
#          results/errors/layer_{layer}.zarr.zip   mean, cov, cov_spectral (head, replicate, n), head -1 the whole layer;
#                                                  {mean,cov}_gram (head, n, group, group_2), {mean,cov}_difference (n, feature, …)


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
        layer=lambda wildcards: int(wildcards.layer),
        replicates=lambda wildcards: replicates(wildcards.part),
        group=config["measure_errors"]["group"],
        sizes=config["measure_errors"]["sizes"],
        nested=config["measure_errors"]["nested"],
        replacement=config["measure_errors"]["replacement"],
        dtype=config["measure_errors"]["dtype"],
        device=config["device"],
        seed=config["seed"],
        code=code("measure_errors.py", **DRAWS),
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
        layer=lambda wildcards: int(wildcards.layer),
        code=code("merge_errors.py"),
    script:
        "../scripts/merge_errors.py"
