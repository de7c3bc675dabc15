# Does the attention map converge like C(R)/√n uniformly over queries in a ball?
# INPUTS   none
# OUTPUTS  results/synthetic/uniform.zarr.zip   sup, sup_coarse, effective (setting, replicate, n), one setting per law and radius,
#                                               NaN where not run; law, clt_edge, clt_sup (setting)
#          results/rates/uniform.zarr.zip       beta, chi2, … (setting), constant, reached, … (setting, n),
#                                               growth, total_growth, upper_growth, … (of_law)
#          results/figures/uniform.{pdf,svg,png}


rule simulate_uniform:
    output:
        suprema="results/synthetic/uniform.zarr.zip",
    log:
        "results/logs/simulate_uniform/log.txt",
    benchmark:
        "results/benchmarks/simulate_uniform/run.tsv"
    conda:
        "../envs/simulate_uniform.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=minutes("simulate_uniform"),
    params:
        job=job("simulate_uniform", settings=config["simulate_uniform"], seed=config["seed"]),
    script:
        "../scripts/simulate_uniform.py"


rule fit_uniform:
    input:
        suprema="results/synthetic/uniform.zarr.zip",
    output:
        rates="results/rates/uniform.zarr.zip",
    log:
        "results/logs/fit_uniform/log.txt",
    benchmark:
        "results/benchmarks/fit_uniform/run.tsv"
    conda:
        "../envs/fit_uniform.yaml"
    params:
        job=job(
            "fit_uniform",
            settings=config["fit_uniform"] | only(config["fit_rates"], "bootstrap", "misfit"),
            seed=config["seed"],
        ),
    script:
        "../scripts/fit_uniform.py"


rule plot_uniform:
    input:
        rates="results/rates/uniform.zarr.zip",
    output:
        figures("uniform"),
    log:
        "results/logs/plot_uniform/log.txt",
    benchmark:
        "results/benchmarks/plot_uniform/run.tsv"
    conda:
        "../envs/plot_uniform.yaml"
    params:
        job=job("plot_uniform", quick_look=config["quick_look"]),
    script:
        "../scripts/plot_uniform.py"
