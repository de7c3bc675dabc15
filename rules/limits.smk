# The limit: attention over the whole population, kept as moments of its output.
# INPUTS   results/embeddings/shard_{shard}.zarr.zip, results/models/heads.zarr.zip, results/corpus/blocks.zarr.zip
# OUTPUTS  results/limits/parts/layer_{layer}_part_{part}.zarr.zip   output_count (block), output_{mean,scatter} (block, feature, …)
#          results/limits/layer_{layer}.zarr.zip                     limit_mean (feature), limit_covariance (feature, feature_2);
#                                                                    limit_{mean,covariance}_se (head), layer_… of the whole layer:
#                                                                    0 unless queries were drawn


rule compute_limits:
    input:
        blocks="results/corpus/blocks.zarr.zip",
        heads="results/models/heads.zarr.zip",
        embeddings=EMBEDDINGS,
    output:
        limits="results/limits/parts/layer_{layer}_part_{part}.zarr.zip",
    log:
        "results/logs/compute_limits/layer_{layer}_part_{part}.txt",
    benchmark:
        "results/benchmarks/compute_limits/layer_{layer}_part_{part}.tsv"
    conda:
        "../envs/compute_limits.yaml"
    threads: 1
    resources:
        mem_mb=memory("compute_limits"),
        runtime=minutes("compute_limits"),
        gpu=gpus("compute_limits"),
    params:
        layer=lambda wildcards: int(wildcards.layer),
        part=lambda wildcards: int(wildcards.part),
        settings=config["compute_limits"],
        seed=config["seed"],
        device=config["device"],
        code=code("compute_limits.py"),
    script:
        "../scripts/compute_limits.py"


rule merge_limits:
    input:
        limits=expand("results/limits/parts/layer_{{layer}}_part_{part}.zarr.zip", part=LIMIT_PARTS),
    output:
        limit="results/limits/layer_{layer}.zarr.zip",
    log:
        "results/logs/merge_limits/layer_{layer}.txt",
    benchmark:
        "results/benchmarks/merge_limits/layer_{layer}.tsv"
    conda:
        "../envs/merge_limits.yaml"
    threads: 1
    resources:
        mem_mb=memory("merge_limits"),
        runtime=minutes("merge_limits"),
    params:
        layer=lambda wildcards: int(wildcards.layer),
        code=code("merge_limits.py"),
    script:
        "../scripts/merge_limits.py"
