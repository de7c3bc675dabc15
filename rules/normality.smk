# Is the error at one query normal, with a variance that can be estimated from the tokens?
# INPUTS   none
# OUTPUTS  results/synthetic/normality.zarr.zip   deviation, plug_in, effective (setting, n, replicate, …), one setting per tilt
#          results/rates/normality.zarr.zip       variance_ratio, n_bias, coverage, distance, … (setting, n, coordinate)
#          results/figures/normality.{pdf,svg,png}


rule simulate_normality:
    output:
        normality="results/synthetic/normality.zarr.zip",
    log:
        "results/logs/simulate_normality/log.txt",
    benchmark:
        "results/benchmarks/simulate_normality/run.tsv"
    conda:
        "../envs/simulate_normality.yaml"
    resources:
        mem_mb=growing(3000),
        runtime=minutes("simulate_normality"),
    params:
        job=job("simulate_normality", settings=config["simulate_normality"], seed=config["seed"]),
    script:
        "../scripts/simulate_normality.py"


rule fit_normality:
    input:
        normality="results/synthetic/normality.zarr.zip",
    output:
        rates="results/rates/normality.zarr.zip",
    log:
        "results/logs/fit_normality/log.txt",
    benchmark:
        "results/benchmarks/fit_normality/run.tsv"
    conda:
        "../envs/fit_normality.yaml"
    params:
        job=job("fit_normality"),
    script:
        "../scripts/fit_normality.py"


rule plot_normality:
    input:
        rates="results/rates/normality.zarr.zip",
    output:
        figures("normality"),
    log:
        "results/logs/plot_normality/log.txt",
    benchmark:
        "results/benchmarks/plot_normality/run.tsv"
    conda:
        "../envs/plot_normality.yaml"
    params:
        job=job("plot_normality", quick_look=config["quick_look"]),
    script:
        "../scripts/plot_normality.py"
