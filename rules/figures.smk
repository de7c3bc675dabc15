# Figures: they draw stored numbers, and curves of formulas through their one definition; they measure nothing.
# INPUTS   results/rates/{source}.zarr.zip, results/tails/layer_{layer}.zarr.zip
# OUTPUTS  results/figures/{figure}.{pdf,svg,png}


rule plot_convergence:
    input:
        rates="results/rates/heads.zarr.zip",
    output:
        **figure("convergence", "heads: error against n, per layer"),
    log:
        "results/logs/plot_convergence/log.txt",
    benchmark:
        "results/benchmarks/plot_convergence/run.tsv"
    localrule: True
    conda:
        "../envs/plot_convergence.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "plot_convergence",
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/plot_convergence.py"


rule plot_beta_vs_horizon:
    input:
        **fits_at_hand(gaussian="gaussian", counted="gaussian_asymptotic"),
        rates="results/rates/heads.zarr.zip",
    output:
        **figure("beta_vs_horizon", "heads: rate against horizon, per head"),
    log:
        "results/logs/plot_beta_vs_horizon/log.txt",
    benchmark:
        "results/benchmarks/plot_beta_vs_horizon/run.tsv"
    localrule: True
    conda:
        "../envs/plot_beta_vs_horizon.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "plot_beta_vs_horizon",
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/plot_beta_vs_horizon.py"


rule plot_heat_map:
    input:
        rates="results/rates/heads.zarr.zip",
    output:
        **figure("heat_map", "heads: rate and horizon, layer by head"),
    log:
        "results/logs/plot_heat_map/log.txt",
    benchmark:
        "results/benchmarks/plot_heat_map/run.tsv"
    localrule: True
    conda:
        "../envs/plot_heat_map.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "plot_heat_map",
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/plot_heat_map.py"


rule plot_local_slopes:
    input:
        rates="results/rates/heads.zarr.zip",
    output:
        **figure("local_slopes", "heads: slopes between sizes, per layer"),
    log:
        "results/logs/plot_local_slopes/log.txt",
    benchmark:
        "results/benchmarks/plot_local_slopes/run.tsv"
    localrule: True
    conda:
        "../envs/plot_local_slopes.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "plot_local_slopes",
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/plot_local_slopes.py"


rule plot_bias_fluctuation:
    input:
        rates="results/rates/heads.zarr.zip",
    output:
        **figure("bias_fluctuation", "heads: bias and fluctuation, chosen heads"),
    log:
        "results/logs/plot_bias_fluctuation/log.txt",
    benchmark:
        "results/benchmarks/plot_bias_fluctuation/run.tsv"
    localrule: True
    conda:
        "../envs/plot_bias_fluctuation.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "plot_bias_fluctuation",
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/plot_bias_fluctuation.py"


rule plot_sphere_beta_vs_horizon:
    input:
        rates="results/rates/sphere.zarr.zip",
    output:
        **figure("sphere_beta_vs_horizon", "sphere: rate against horizon"),
    log:
        "results/logs/plot_sphere_beta_vs_horizon/log.txt",
    benchmark:
        "results/benchmarks/plot_sphere_beta_vs_horizon/run.tsv"
    localrule: True
    conda:
        "../envs/plot_sphere_beta_vs_horizon.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "plot_sphere_beta_vs_horizon",
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/plot_sphere_beta_vs_horizon.py"


rule plot_hardmax:
    input:
        hardmax="results/rates/hardmax.zarr.zip",
    output:
        **figure("hardmax", "Gaussian: hardmax, error against n, by dimension"),
    log:
        "results/logs/plot_hardmax/log.txt",
    benchmark:
        "results/benchmarks/plot_hardmax/run.tsv"
    localrule: True
    conda:
        "../envs/plot_hardmax.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "plot_hardmax",
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/plot_hardmax.py"


rule plot_uniform:
    input:
        rates="results/rates/uniform.zarr.zip",
    output:
        **figure("uniform", "Simulated: largest error over a ball"),
    log:
        "results/logs/plot_uniform/log.txt",
    benchmark:
        "results/benchmarks/plot_uniform/run.tsv"
    localrule: True
    conda:
        "../envs/plot_uniform.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "plot_uniform",
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/plot_uniform.py"


rule plot_normality:
    input:
        normality="results/rates/normality.zarr.zip",
    output:
        **figure("normality", "Gaussian: normality at one query"),
    log:
        "results/logs/plot_normality/log.txt",
    benchmark:
        "results/benchmarks/plot_normality/run.tsv"
    localrule: True
    conda:
        "../envs/plot_normality.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "plot_normality",
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/plot_normality.py"


rule plot_gaussian_beta_vs_horizon:
    input:
        rates="results/rates/gaussian.zarr.zip",
    output:
        **figure("gaussian_beta_vs_horizon", "Gaussian: rate against horizon, by dimension"),
    log:
        "results/logs/plot_gaussian_beta_vs_horizon/log.txt",
    benchmark:
        "results/benchmarks/plot_gaussian_beta_vs_horizon/run.tsv"
    localrule: True
    conda:
        "../envs/plot_gaussian_beta_vs_horizon.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "plot_gaussian_beta_vs_horizon",
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/plot_gaussian_beta_vs_horizon.py"


rule plot_gaussian_local_slopes:
    input:
        rates="results/rates/gaussian.zarr.zip",
        counted="results/rates/gaussian_asymptotic.zarr.zip",
    output:
        **figure("gaussian_local_slopes", "Gaussian: slopes between sizes"),
    log:
        "results/logs/plot_gaussian_local_slopes/log.txt",
    benchmark:
        "results/benchmarks/plot_gaussian_local_slopes/run.tsv"
    localrule: True
    conda:
        "../envs/plot_gaussian_local_slopes.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "plot_gaussian_local_slopes",
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/plot_gaussian_local_slopes.py"


rule plot_gaussian_protocol:
    input:
        rates="results/rates/gaussian_published.zarr.zip",
    output:
        **figure("gaussian_protocol", "Gaussian: exact against finite reference"),
    log:
        "results/logs/plot_gaussian_protocol/log.txt",
    benchmark:
        "results/benchmarks/plot_gaussian_protocol/run.tsv"
    localrule: True
    conda:
        "../envs/plot_gaussian_protocol.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "plot_gaussian_protocol",
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/plot_gaussian_protocol.py"


rule plot_gaussian_asymptotic:
    input:
        rates="results/rates/gaussian_asymptotic.zarr.zip",
    output:
        **figure("gaussian_asymptotic", "Gaussian: rate up to ten thousand million tokens, d = 1"),
    log:
        "results/logs/plot_gaussian_asymptotic/log.txt",
    benchmark:
        "results/benchmarks/plot_gaussian_asymptotic/run.tsv"
    localrule: True
    conda:
        "../envs/plot_gaussian_asymptotic.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "plot_gaussian_asymptotic",
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/plot_gaussian_asymptotic.py"


rule plot_tails:
    input:
        tails=expand("results/tails/layer_{layer}.zarr.zip", layer=LAYERS),
    output:
        **figure("tails", "tokens: spectrum and tails, per layer and head"),
    log:
        "results/logs/plot_tails/log.txt",
    benchmark:
        "results/benchmarks/plot_tails/run.tsv"
    localrule: True
    conda:
        "../envs/plot_tails.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "plot_tails",
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/plot_tails.py"


rule plot_ablation:
    input:
        rates="results/rates/ablation.zarr.zip",
    output:
        **figure("ablation", "heads: rate of chosen ones, A scaled"),
    log:
        "results/logs/plot_ablation/log.txt",
    benchmark:
        "results/benchmarks/plot_ablation/run.tsv"
    localrule: True
    conda:
        "../envs/plot_ablation.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "plot_ablation",
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/plot_ablation.py"


rule plot_propagation:
    input:
        rates="results/rates/propagation.zarr.zip",
    output:
        **figure("propagation", "the whole model: errors after every layer"),
    log:
        "results/logs/plot_propagation/log.txt",
    benchmark:
        "results/benchmarks/plot_propagation/run.tsv"
    localrule: True
    conda:
        "../envs/plot_propagation.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "plot_propagation",
            tolerance=config["assess_claims"]["quadrature_tolerance"],
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/plot_propagation.py"


rule plot_downstream:
    input:
        rates="results/rates/downstream.zarr.zip",
        downstream="results/downstream/answers.zarr.zip",
    output:
        **figure("downstream", "the whole model: a task with drawn keys"),
    log:
        "results/logs/plot_downstream/log.txt",
    benchmark:
        "results/benchmarks/plot_downstream/run.tsv"
    localrule: True
    conda:
        "../envs/plot_downstream.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "plot_downstream",
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/plot_downstream.py"


rule plot_token_complexity:
    input:
        rates="results/rates/heads.zarr.zip",
    output:
        **figure("token_complexity", "heads: tokens needed for 10, 5 and 1 %"),
    log:
        "results/logs/plot_token_complexity/log.txt",
    benchmark:
        "results/benchmarks/plot_token_complexity/run.tsv"
    localrule: True
    conda:
        "../envs/plot_token_complexity.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "plot_token_complexity",
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/plot_token_complexity.py"


rule plot_constant_tilt:
    input:
        **fits_at_hand("heads", "gaussian"),
        ablation="results/rates/ablation.zarr.zip",
    output:
        **figure("constant_tilt", "ablation: what the horizon does not see"),
    log:
        "results/logs/plot_constant_tilt/log.txt",
    benchmark:
        "results/benchmarks/plot_constant_tilt/run.tsv"
    localrule: True
    conda:
        "../envs/plot_constant_tilt.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "plot_constant_tilt",
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/plot_constant_tilt.py"
