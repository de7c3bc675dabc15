# How do rate and constant depend on the size of a bounded support?
# INPUTS   none; of the first figure, results/rates/sphere.zarr.zip
# OUTPUTS  results/synthetic/parts/sphere_part_{part}.zarr.zip   some of the settings
#          results/synthetic/sphere.zarr.zip   error (setting, statistic, replicate, n), limit_scale (setting, statistic); {mean,cov}_gram
#                                              (setting, n, group, group_2); horizon, psi, …, scale, published, attended (setting)
#          results/synthetic/constants.zarr.zip   error (setting, statistic, replicate), one setting per law and radius
#          results/rates/constants.zarr.zip    constant (law, statistic, place), local_power (law, statistic, place_interval),
#                                              radius (law, place); simulated, exact (setting, statistic)
#          results/figures/{sphere_beta_vs_horizon,constants}.{pdf,svg,png}
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


rule simulate_constants:
    output:
        errors="results/synthetic/constants.zarr.zip",
    log:
        "results/logs/simulate_constants/log.txt",
    benchmark:
        "results/benchmarks/simulate_constants/run.tsv"
    conda:
        "../envs/simulate_constants.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=minutes("simulate_constants"),
    params:
        job=job("simulate_constants", settings=config["simulate_constants"], seed=config["seed"]),
    script:
        "../scripts/simulate_constants.py"


rule fit_constants:
    input:
        errors="results/synthetic/constants.zarr.zip",
    output:
        rates="results/rates/constants.zarr.zip",
    log:
        "results/logs/fit_constants/log.txt",
    benchmark:
        "results/benchmarks/fit_constants/run.tsv"
    conda:
        "../envs/fit_constants.yaml"
    params:
        job=job("fit_constants", settings=config["fit_constants"]),
    script:
        "../scripts/fit_constants.py"


rule plot_sphere:
    input:
        rates="results/rates/sphere.zarr.zip",
        constants="results/rates/constants.zarr.zip",
    output:
        figures("sphere"),
    log:
        "results/logs/plot_sphere/log.txt",
    benchmark:
        "results/benchmarks/plot_sphere/run.tsv"
    conda:
        "../envs/plot_sphere.yaml"
    params:
        job=job("plot_sphere", quick_look=config["quick_look"]),
    script:
        "../scripts/plot_sphere.py"
