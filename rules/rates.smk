# Errors to rates.
# INPUTS   results/errors/layer_{layer}.zarr.zip, results/synthetic/{source}.zarr.zip, results/ablation/errors.zarr.zip
# OUTPUTS  results/rates/{source}.zarr.zip   beta, beta_low, beta_high, se, chi2, dof, … (layer, statistic, part, head);
#                                            value, value_se, noise_floor (…, n); local_slope{,_low,_high} (…, interval);
#                                            limit_scale, limit_se (layer, statistic, head); horizon, psi, … (layer, head);
#                                            tokens_needed, … (eps, layer, statistic, head); layer_… of the whole layer
#          results/rates.csv                 the same fits, one row each
#          results/rates.html                fits of the error itself, main columns: a page
#          results/answer.{txt,html}         what the run found, in a few lines: for the terminal, for the report


rule fit_rates:
    input:
        errors=errors_of_source,
    output:
        rates="results/rates/{source}.zarr.zip",
    log:
        "results/logs/fit_rates/{source}.txt",
    benchmark:
        "results/benchmarks/fit_rates/{source}.tsv"
    localrule: True
    conda:
        "../envs/fit_rates.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        job=job(
            "fit_rates",
            source=lambda wildcards: wildcards.source,
            settings=config["fit_rates"],
            seed=config["seed"],
        ),
    script:
        "../scripts/fit_rates.py"


rule tabulate_rates:
    input:
        rates=expand("results/rates/{source}.zarr.zip", source=registry.sources(CHAPTERS)),
    output:
        table=report(
            "results/rates.csv",
            caption="report/rates.rst",
            category="4 Rates",
            labels={"shows": "every fit, for a spreadsheet"},
        ),
        page=report(
            "results/rates.html",
            caption="report/rates_page.rst",
            category="4 Rates",
            labels={"shows": "every fit, as a page"},
        ),
    log:
        "results/logs/tabulate_rates/log.txt",
    benchmark:
        "results/benchmarks/tabulate_rates/run.tsv"
    localrule: True
    conda:
        "../envs/tabulate_rates.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "tabulate_rates",
            left_out=LEFT_OUT,
            run=config["run"],
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/tabulate_rates.py"


rule state_answer:
    input:
        **fits_at_hand("contexts", "studies", rates="heads"),
    output:
        answer="results/answer.txt",
        page=report(
            "results/answer.html", caption="report/answer.rst", category="2 Answer", labels={"shows": "in short"}
        ),
    log:
        "results/logs/state_answer/log.txt",
    benchmark:
        "results/benchmarks/state_answer/run.tsv"
    localrule: True
    conda:
        "../envs/state_answer.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "state_answer",
            settings=only(config["assess_claims"], "bootstrap", "weakest_horizon", "fewest_groups", "agreement"),
            seed=config["seed"],
            left_out=LEFT_OUT,
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/state_answer.py"
