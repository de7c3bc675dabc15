# Errors to rates.
# INPUTS   results/errors/layer_{layer}.zarr.zip, results/geometry/layer_{layer}.zarr.zip
# OUTPUTS  results/rates/bert.zarr.zip   beta, beta_low, beta_high, se, se_scaled, chi2, dof (part, statistic, layer, head);
#                                        value, local_slope (part, statistic, layer, head, n); horizon, psi, … (layer, head)
#          results/rates.csv             the same fits, one row each
#          results/answer.txt            what the run found, in a few lines


rule fit_rates:
    input:
        errors=expand("results/errors/layer_{layer}.zarr.zip", layer=LAYERS),
        geometry=expand("results/geometry/layer_{layer}.zarr.zip", layer=LAYERS),
    output:
        rates="results/rates/bert.zarr.zip",
        table=report(
            "results/rates.csv", caption="report/rates.rst", category="Rates", labels={"table": "every fit"}
        ),
    log:
        "results/logs/fit_rates/log.txt",
    benchmark:
        "results/benchmarks/fit_rates/run.tsv"
    conda:
        "../envs/fit_rates.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        layers=LAYERS,
        bootstrap=config["fit_rates"]["bootstrap"],
        misfit=config["fit_rates"]["misfit"],
        saturated=config["fit_rates"]["saturated"],
        seed=config["seed"],
        code=code("fit_rates.py"),
    script:
        "../scripts/fit_rates.py"


rule state_answer:
    input:
        rates="results/rates/bert.zarr.zip",
    output:
        answer=report(
            "results/answer.txt", caption="report/answer.rst", category="Answer", labels={"text": "in short"}
        ),
    log:
        "results/logs/state_answer/log.txt",
    benchmark:
        "results/benchmarks/state_answer/run.tsv"
    conda:
        "../envs/state_answer.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("state_answer.py"),
    script:
        "../scripts/state_answer.py"
