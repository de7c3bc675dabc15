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


rule plot_beta_vs_horizon:
    input:
        **fits_at_hand(gaussian="gaussian", counted="gaussian_asymptotic"),
        rates="results/rates/heads.zarr.zip",
    output:
        **figure("beta_vs_horizon"),
    log:
        "results/logs/plot_beta_vs_horizon/log.txt",
    benchmark:
        "results/benchmarks/plot_beta_vs_horizon/run.tsv"
    conda:
        "../envs/plot_beta_vs_horizon.yaml"
    params:
        job=job("plot_beta_vs_horizon", quick_look=config["quick_look"]),
    script:
        "../scripts/plot_beta_vs_horizon.py"


rule plot_token_complexity:
    input:
        **fits_at_hand("first_order"),
        rates="results/rates/heads.zarr.zip",
    output:
        **figure("token_complexity"),
    log:
        "results/logs/plot_token_complexity/log.txt",
    benchmark:
        "results/benchmarks/plot_token_complexity/run.tsv"
    conda:
        "../envs/plot_token_complexity.yaml"
    params:
        job=job("plot_token_complexity", quick_look=config["quick_look"]),
    script:
        "../scripts/plot_token_complexity.py"


rule plot_convergence:
    input:
        **fits_at_hand("first_order"),
        rates="results/rates/heads.zarr.zip",
    output:
        **figure("convergence"),
    log:
        "results/logs/plot_convergence/log.txt",
    benchmark:
        "results/benchmarks/plot_convergence/run.tsv"
    conda:
        "../envs/plot_convergence.yaml"
    params:
        job=job("plot_convergence", quick_look=config["quick_look"]),
    script:
        "../scripts/plot_convergence.py"


rule plot_heat_map:
    input:
        rates="results/rates/heads.zarr.zip",
    output:
        **figure("heat_map"),
    log:
        "results/logs/plot_heat_map/log.txt",
    benchmark:
        "results/benchmarks/plot_heat_map/run.tsv"
    conda:
        "../envs/plot_heat_map.yaml"
    params:
        job=job("plot_heat_map", quick_look=config["quick_look"]),
    script:
        "../scripts/plot_heat_map.py"


rule plot_local_slopes:
    input:
        rates="results/rates/heads.zarr.zip",
    output:
        **figure("local_slopes"),
    log:
        "results/logs/plot_local_slopes/log.txt",
    benchmark:
        "results/benchmarks/plot_local_slopes/run.tsv"
    conda:
        "../envs/plot_local_slopes.yaml"
    params:
        job=job("plot_local_slopes", quick_look=config["quick_look"]),
    script:
        "../scripts/plot_local_slopes.py"


rule plot_bias_fluctuation:
    input:
        rates="results/rates/heads.zarr.zip",
    output:
        **figure("bias_fluctuation"),
    log:
        "results/logs/plot_bias_fluctuation/log.txt",
    benchmark:
        "results/benchmarks/plot_bias_fluctuation/run.tsv"
    conda:
        "../envs/plot_bias_fluctuation.yaml"
    params:
        job=job("plot_bias_fluctuation", quick_look=config["quick_look"]),
    script:
        "../scripts/plot_bias_fluctuation.py"
