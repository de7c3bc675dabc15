# The population of tokens, its geometry, and the limit: attention over all of it, stored as moments of its output.
# With `queries: 0` or `surrogate: none` the limit comes from compute_limits alone; otherwise from the exact outputs of some
# queries and a surrogate for all others.
# INPUTS   results/corpus/blocks.zarr.zip, results/models/*
# OUTPUTS  results/embeddings/shard_{shard}.zarr.zip   tokens (layer, token, feature): the input of an attention layer;
#                                                      rounding_error (layer)
#          results/geometry/layer_{layer}.zarr.zip     horizon, psi, constant_tilt, … (head); token_mean, token_covariance
#          results/limits/parts/layer_{layer}_part_{part}.zarr.zip     output_count (block), output_{mean,scatter} (block, feature, …);
#                                                                      output (query, feature), total (query, head), for first order
#          results/limits/outputs/layer_{layer}_part_{part}.zarr.zip   output (query, feature), total (query, head), fold (query)
#          results/limits/surrogate/layer_{layer}.zarr.zip             coefficient (fold, head, regressor, width), …;
#                                                                      residual_{mean,second} (feature, …)
#          results/limits/applied/layer_{layer}_part_{part}.zarr.zip   as parts, by chunk of the population: of the surrogate
#          results/limits/layer_{layer}.zarr.zip                       limit_mean (feature), limit_covariance (feature, feature_2);
#                                                                      limit_{mean,covariance}_se (head; -1: the whole layer):
#                                                                      0 unless queries were drawn; residual_share (head) of a surrogate
from attnlimit.sampling.about import has_surrogate  # noqa: E402

LIMIT_PARTS = range(config["compute_limits"]["parts"])
LIMIT_SOURCES = {"limits": expand("results/limits/parts/layer_{{layer}}_part_{part}.zarr.zip", part=LIMIT_PARTS)}
if has_surrogate(config):
    LIMIT_SOURCES = {
        "limits": expand("results/limits/applied/layer_{{layer}}_part_{part}.zarr.zip", part=LIMIT_PARTS),
        "surrogate": "results/limits/surrogate/layer_{layer}.zarr.zip",
    }


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
    resources:
        **asked("extract_embeddings"),
    params:
        job=job(
            "extract_embeddings",
            shard=number("shard"),
            settings=without(config["extract_embeddings"], "layers"),
            layers=LAYERS if config["extract_embeddings"]["layers"] == "studied" else None,
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
    resources:
        **asked("measure_geometry"),
    params:
        job=job("measure_geometry", layer=number("layer"), block=config["compute_limits"]["block"]),
    script:
        "../scripts/measure_geometry.py"


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
    resources:
        **asked("compute_limits"),
    params:
        job=job(
            "compute_limits",
            layer=number("layer"),
            part=number("part"),
            settings=config["compute_limits"],
            seed=config["seed"],
            device=config["device"],
        ),
    script:
        "../scripts/compute_limits.py"


rule attend_queries:
    input:
        blocks="results/corpus/blocks.zarr.zip",
        heads="results/models/heads.zarr.zip",
        embeddings=EMBEDDINGS,
    output:
        outputs="results/limits/outputs/layer_{layer}_part_{part}.zarr.zip",
    log:
        "results/logs/attend_queries/layer_{layer}_part_{part}.txt",
    benchmark:
        "results/benchmarks/attend_queries/layer_{layer}_part_{part}.tsv"
    conda:
        "../envs/attend_queries.yaml"
    resources:
        **asked("attend_queries"),
    params:
        job=job(
            "attend_queries",
            layer=number("layer"),
            part=number("part"),
            settings=config["compute_limits"],
            seed=config["seed"],
            device=config["device"],
        ),
    script:
        "../scripts/attend_queries.py"


rule fit_surrogate:
    input:
        blocks="results/corpus/blocks.zarr.zip",
        heads="results/models/heads.zarr.zip",
        embeddings=EMBEDDINGS,
        outputs=expand("results/limits/outputs/layer_{{layer}}_part_{part}.zarr.zip", part=LIMIT_PARTS),
    output:
        surrogate="results/limits/surrogate/layer_{layer}.zarr.zip",
    log:
        "results/logs/fit_surrogate/layer_{layer}.txt",
    benchmark:
        "results/benchmarks/fit_surrogate/layer_{layer}.tsv"
    conda:
        "../envs/fit_surrogate.yaml"
    resources:
        **asked("fit_surrogate"),
    params:
        job=job("fit_surrogate", layer=number("layer"), settings=config["compute_limits"], device=config["device"]),
    script:
        "../scripts/fit_surrogate.py"


rule apply_surrogate:
    input:
        blocks="results/corpus/blocks.zarr.zip",
        heads="results/models/heads.zarr.zip",
        embeddings=EMBEDDINGS,
        surrogate="results/limits/surrogate/layer_{layer}.zarr.zip",
    output:
        moments="results/limits/applied/layer_{layer}_part_{part}.zarr.zip",
    log:
        "results/logs/apply_surrogate/layer_{layer}_part_{part}.txt",
    benchmark:
        "results/benchmarks/apply_surrogate/layer_{layer}_part_{part}.tsv"
    conda:
        "../envs/apply_surrogate.yaml"
    resources:
        **asked("apply_surrogate"),
    params:
        job=job(
            "apply_surrogate",
            layer=number("layer"),
            part=number("part"),
            settings=config["compute_limits"],
            device=config["device"],
        ),
    script:
        "../scripts/apply_surrogate.py"


rule merge_limits:
    input:
        **LIMIT_SOURCES,
    output:
        limit="results/limits/layer_{layer}.zarr.zip",
    log:
        "results/logs/merge_limits/layer_{layer}.txt",
    benchmark:
        "results/benchmarks/merge_limits/layer_{layer}.tsv"
    conda:
        "../envs/merge_limits.yaml"
    resources:
        **asked("merge_limits"),
    params:
        job=job("merge_limits", layer=number("layer")),
    script:
        "../scripts/merge_limits.py"
