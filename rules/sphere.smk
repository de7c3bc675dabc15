# How do rate and constant depend on the size of a bounded support?
# INPUTS   none; of the fit and the figure, results/rates/sphere.zarr.zip
# OUTPUTS  results/synthetic/parts/sphere_part_{part}.zarr.zip   some of the settings
#          results/synthetic/sphere.zarr.zip   error (setting, statistic, replicate, n), limit_scale (setting, statistic); {mean,cov}_gram
#                                              (setting, n, group, group_2); horizon, psi, …, scale, published, attended (setting)
#          results/rates/constants.zarr.zip    power, {power,exponential,mixed,polynomial}_chi2, radii, … (statistic)
#          results/figures/sphere_beta_vs_horizon.{pdf,svg,png}
merge_simulation("sphere")


rule simulate_sphere:
    output:
        errors="results/synthetic/parts/sphere_part_{part}.zarr.zip",
    log:
        "results/logs/simulate_sphere/part_{part}.txt",
    benchmark:
        "results/benchmarks/simulate_sphere/part_{part}.tsv"
    conda:
        "../envs/simulate_sphere.yaml"
    resources:
        mem_mb=growing(3000),
        runtime=minutes("simulate_sphere"),
        gpu=gpus("simulate_sphere"),
    params:
        job=job(
            "simulate_sphere",
            part=number("part"),
            settings=config["simulate_sphere"],
            seed=config["seed"],
            device=config["device"],
        ),
    script:
        "../scripts/simulate_sphere.py"


rule fit_constants:
    input:
        errors="results/synthetic/sphere.zarr.zip",
        rates="results/rates/sphere.zarr.zip",
    output:
        rates="results/rates/constants.zarr.zip",
    log:
        "results/logs/fit_constants/log.txt",
    benchmark:
        "results/benchmarks/fit_constants/run.tsv"
    conda:
        "../envs/fit_constants.yaml"
    params:
        job=job(
            "fit_constants",
            settings=config["fit_constants"] | only(config["fit_rates"], "bootstrap"),
            seed=config["seed"],
        ),
    script:
        "../scripts/fit_constants.py"


rule plot_sphere_beta_vs_horizon:
    input:
        rates="results/rates/sphere.zarr.zip",
    output:
        **figure("sphere_beta_vs_horizon"),
    log:
        "results/logs/plot_sphere_beta_vs_horizon/log.txt",
    benchmark:
        "results/benchmarks/plot_sphere_beta_vs_horizon/run.tsv"
    conda:
        "../envs/plot_sphere_beta_vs_horizon.yaml"
    params:
        job=job("plot_sphere_beta_vs_horizon", quick_look=config["quick_look"]),
    script:
        "../scripts/plot_sphere_beta_vs_horizon.py"
