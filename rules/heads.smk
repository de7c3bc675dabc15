# How fast does each attention head of a model converge to its limit as it reads more tokens?
# INPUTS   results/embeddings/shard_{shard}.zarr.zip, results/models/heads.zarr.zip, results/limits/layer_{layer}.zarr.zip,
#          results/geometry/layer_{layer}.zarr.zip; of the figures, results/rates/{heads,first_order,gaussian,gaussian_asymptotic}.zarr.zip
# OUTPUTS  results/errors/parts/layer_{layer}_part_{part}.zarr.zip   the replicates of one job, and group means of differences
#          results/errors/layer_{layer}.zarr.zip   error (statistic, head, replicate, n), limit_scale, limit_se (statistic, head);
#                                                  {mean,cov}_gram (head, n, group, group_2), {mean,cov}_difference (n, feature, …);
#                                                  horizon, psi, … (head); head -1: the whole layer
#          results/figures/{beta_vs_horizon,token_complexity,convergence,heat_map,local_slopes,bias_fluctuation}.{pdf,svg,png}


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
    resources:
        **asked("measure_errors"),
    params:
        job=job(
            "measure_errors",
            layer=number("layer"),
            replicates=lambda wildcards: replicates(wildcards.part),
            settings=without(config["measure_errors"], "replicates", "groups_per_job"),  # they are in `replicates`
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
    resources:
        **asked("merge_errors"),
    params:
        job=job("merge_errors", layer=number("layer")),
    script:
        "../scripts/merge_errors.py"


rule plot_heads:
    input:
        **fits_at_hand("first_order", "gaussian", "gaussian_asymptotic"),
        rates="results/rates/heads.zarr.zip",
    output:
        figures("heads"),
    log:
        "results/logs/plot_heads/log.txt",
    benchmark:
        "results/benchmarks/plot_heads/run.tsv"
    conda:
        "../envs/plot_heads.yaml"
    params:
        job=job("plot_heads", quick_look=config["quick_look"]),
    script:
        "../scripts/plot_heads.py"
