# How does the rate depend on the horizon for Gaussian tokens, whose limit is known exactly?
# INPUTS   none; of the figures, results/rates/{gaussian,gaussian_published,gaussian_asymptotic}.zarr.zip
# OUTPUTS  results/synthetic/parts/{gaussian,gaussian_published}_part_{part}.zarr.zip   some of the settings
#          results/synthetic/gaussian.zarr.zip             error (setting, statistic, replicate, n), limit_scale (setting, statistic);
#                                                          {mean,cov}_gram (setting, n, group, group_2);
#                                                          horizon, psi, …, scale, dimension, isotropic (setting)
#          results/synthetic/gaussian_published.zarr.zip   the same; exact (setting): against the closed form, or a finite sample
#          results/synthetic/gaussian_asymptotic.zarr.zip  the same; {mean,cov}_wide_bins (setting, replicate, n),
#                                                          {mean,cov}_discretisation (setting, n)
#          results/figures/gaussian_{beta_vs_horizon,anisotropic,local_slopes,protocol,asymptotic}.{pdf,svg,png}
merge_simulation("gaussian")
merge_simulation("gaussian_published")


rule simulate_gaussian:
    output:
        errors="results/synthetic/parts/gaussian_part_{part}.zarr.zip",
    log:
        "results/logs/simulate_gaussian/part_{part}.txt",
    benchmark:
        "results/benchmarks/simulate_gaussian/part_{part}.tsv"
    conda:
        "../envs/simulate_gaussian.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=minutes("simulate_gaussian"),
        gpu=gpus("simulate_gaussian"),
    params:
        job=job(
            "simulate_gaussian",
            part=number("part"),
            settings=config["simulate_gaussian"],
            seed=config["seed"],
            device=config["device"],
        ),
    script:
        "../scripts/simulate_gaussian.py"


rule simulate_gaussian_published:
    output:
        errors="results/synthetic/parts/gaussian_published_part_{part}.zarr.zip",
    log:
        "results/logs/simulate_gaussian_published/part_{part}.txt",
    benchmark:
        "results/benchmarks/simulate_gaussian_published/part_{part}.tsv"
    conda:
        "../envs/simulate_gaussian_published.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=minutes("simulate_gaussian_published"),
        gpu=gpus("simulate_gaussian_published"),
    params:
        job=job(
            "simulate_gaussian_published",
            part=number("part"),
            settings=config["simulate_gaussian_published"],
            seed=config["seed"],
            device=config["device"],
        ),
    script:
        "../scripts/simulate_gaussian_published.py"


rule simulate_gaussian_asymptotic:
    output:
        errors="results/synthetic/gaussian_asymptotic.zarr.zip",
    log:
        "results/logs/simulate_gaussian_asymptotic/log.txt",
    benchmark:
        "results/benchmarks/simulate_gaussian_asymptotic/run.tsv"
    conda:
        "../envs/simulate_gaussian_asymptotic.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(60),
    params:
        job=job("simulate_gaussian_asymptotic", settings=config["simulate_gaussian_asymptotic"], seed=config["seed"]),
    script:
        "../scripts/simulate_gaussian_asymptotic.py"


rule plot_gaussian:
    input:
        rates="results/rates/gaussian.zarr.zip",
        published="results/rates/gaussian_published.zarr.zip",
        counted="results/rates/gaussian_asymptotic.zarr.zip",
    output:
        figures("gaussian"),
    log:
        "results/logs/plot_gaussian/log.txt",
    benchmark:
        "results/benchmarks/plot_gaussian/run.tsv"
    conda:
        "../envs/plot_gaussian.yaml"
    params:
        job=job("plot_gaussian", quick_look=config["quick_look"]),
    script:
        "../scripts/plot_gaussian.py"
