# Is the rate only logarithmic when a query reads only the key with the largest score?
# INPUTS   none
# OUTPUTS  results/synthetic/hardmax.zarr.zip   {line,plane}_error (n, replicate_…), direct_error (dimension, n_direct, replicate_direct)
#          results/rates/hardmax.zarr.zip       …_value, …_value_se, …_local_slope, …_local_power; expected, proposition, ratio,
#                                               line_ratio (n); exact_value, exact_ratio, exact_local_power (decades)
#          results/figures/hardmax.{pdf,svg,png}


rule simulate_hardmax:
    output:
        hardmax="results/synthetic/hardmax.zarr.zip",
    log:
        "results/logs/simulate_hardmax/log.txt",
    benchmark:
        "results/benchmarks/simulate_hardmax/run.tsv"
    conda:
        "../envs/simulate_hardmax.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(60),
    params:
        job=job("simulate_hardmax", settings=config["simulate_hardmax"], seed=config["seed"]),
    script:
        "../scripts/simulate_hardmax.py"


rule fit_hardmax:
    input:
        hardmax="results/synthetic/hardmax.zarr.zip",
    output:
        rates="results/rates/hardmax.zarr.zip",
    log:
        "results/logs/fit_hardmax/log.txt",
    benchmark:
        "results/benchmarks/fit_hardmax/run.tsv"
    conda:
        "../envs/fit_hardmax.yaml"
    params:
        job=job("fit_hardmax", settings=config["fit_hardmax"]),
    script:
        "../scripts/fit_hardmax.py"


rule plot_hardmax:
    input:
        rates="results/rates/hardmax.zarr.zip",
    output:
        figures("hardmax"),
    log:
        "results/logs/plot_hardmax/log.txt",
    benchmark:
        "results/benchmarks/plot_hardmax/run.tsv"
    conda:
        "../envs/plot_hardmax.yaml"
    params:
        job=job("plot_hardmax", quick_look=config["quick_look"]),
    script:
        "../scripts/plot_hardmax.py"
