# Tokens to embeddings, and their geometry.
# INPUTS   results/corpus/blocks.zarr.zip, results/models/*
# OUTPUTS  results/embeddings/shard_{shard}.zarr.zip   tokens (layer, token, feature): the input of every attention layer;
#                                                      rounding_error (layer)
#          results/geometry/layer_{layer}.zarr.zip     horizon, psi, constant_tilt, … (head); token_mean, token_covariance
#          results/tails/layer_{layer}.zarr.zip        eigenvalues (feature), participation_ratio; variance, kurtosis (head, direction),
#                                                      log_mgf_ratio, effective_tokens (head, direction, scale), sub_gaussian (head);
#                                                      layer_…: along the leading eigenvectors of the tokens' covariance


rule extract_embeddings:
    input:
        blocks="results/corpus/blocks.zarr.zip",
        heads="results/models/heads.zarr.zip",
        config="results/models/config.json",
        weights="results/models/model.safetensors",
    output:
        embeddings="results/embeddings/shard_{shard}.zarr.zip",
    log:
        "results/logs/extract_embeddings/shard_{shard}.txt",
    benchmark:
        "results/benchmarks/extract_embeddings/shard_{shard}.tsv"
    priority: EARLY
    conda:
        "../envs/extract_embeddings.yaml"
    threads: 1
    resources:
        mem_mb=memory("extract_embeddings"),
        runtime=minutes("extract_embeddings"),
    params:
        job=job(
            "extract_embeddings",
            shard=lambda wildcards: int(wildcards.shard),
            settings=config["extract_embeddings"],
        ),
    script:
        "../scripts/extract_embeddings.py"


rule measure_geometry:
    input:
        blocks="results/corpus/blocks.zarr.zip",
        heads="results/models/heads.zarr.zip",
        embeddings=EMBEDDINGS,
    output:
        geometry="results/geometry/layer_{layer}.zarr.zip",
    log:
        "results/logs/measure_geometry/layer_{layer}.txt",
    benchmark:
        "results/benchmarks/measure_geometry/layer_{layer}.tsv"
    conda:
        "../envs/measure_geometry.yaml"
    threads: 1
    resources:
        mem_mb=memory("measure_geometry"),
        runtime=minutes("measure_geometry"),
    params:
        job=job(
            "measure_geometry",
            layer=lambda wildcards: int(wildcards.layer),
            block=config["compute_limits"]["block"],
        ),
    script:
        "../scripts/measure_geometry.py"


rule measure_tails:
    input:
        blocks="results/corpus/blocks.zarr.zip",
        heads="results/models/heads.zarr.zip",
        embeddings=EMBEDDINGS,
        geometry="results/geometry/layer_{layer}.zarr.zip",
    output:
        tails="results/tails/layer_{layer}.zarr.zip",
    log:
        "results/logs/measure_tails/layer_{layer}.txt",
    benchmark:
        "results/benchmarks/measure_tails/layer_{layer}.tsv"
    conda:
        "../envs/measure_tails.yaml"
    threads: 1
    resources:
        mem_mb=memory("measure_tails"),
        runtime=growing(60),
    params:
        job=job(
            "measure_tails",
            layer=lambda wildcards: int(wildcards.layer),
            settings=config["measure_tails"],
            block=config["compute_limits"]["block"],
        ),
    script:
        "../scripts/measure_tails.py"
