# Sparse attention: what a query loses that reads n keys of its block.
# INPUTS   results/corpus/blocks.zarr.zip, results/embeddings/shard_{shard}.zarr.zip, results/models/heads.zarr.zip
# OUTPUTS  results/patterns/layer_{layer}.zarr.zip   error (statistic, pattern, head, block, replicate, n) to dense attention;
#                                                    limit_scale (statistic, head, block), expected_square (term, head, block),
#                                                    length (block)
#          results/rates/patterns.zarr.zip   value (layer, statistic, pattern, head, n), beta, bend, … (…, head), beats_top (…, n);
#                                            budget (eps, layer, statistic, pattern, head); median_value, median_budget: over heads;
#                                            theory_value (layer, head, n), theory_from, late_beta (layer, head)
#          results/patterns.{csv,html}       budgets that are enough, one row for each layer and pattern


rule measure_patterns:
    input:
        blocks="results/corpus/blocks.zarr.zip",
        heads="results/models/heads.zarr.zip",
        embeddings=EMBEDDINGS,
    output:
        errors="results/patterns/layer_{layer}.zarr.zip",
    log:
        "results/logs/measure_patterns/layer_{layer}.txt",
    benchmark:
        "results/benchmarks/measure_patterns/layer_{layer}.tsv"
    conda:
        "../envs/measure_patterns.yaml"
    threads: 1
    resources:
        mem_mb=memory("measure_patterns"),
        runtime=minutes("measure_patterns"),
        gpu=gpus("measure_patterns"),
    params:
        job=job(
            "measure_patterns",
            layer=lambda wildcards: int(wildcards.layer),
            settings=config["measure_patterns"],
            seed=config["seed"],
            device=config["device"],
        ),
    script:
        "../scripts/measure_patterns.py"


rule fit_patterns:
    input:
        errors=expand("results/patterns/layer_{layer}.zarr.zip", layer=LAYERS),
    output:
        rates="results/rates/patterns.zarr.zip",
    log:
        "results/logs/fit_patterns/log.txt",
    benchmark:
        "results/benchmarks/fit_patterns/run.tsv"
    localrule: True
    conda:
        "../envs/fit_patterns.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        job=job(
            "fit_patterns",
            settings=config["fit_patterns"] | only(config["fit_rates"], "bootstrap"),
            seed=config["seed"],
        ),
    script:
        "../scripts/fit_patterns.py"


rule tabulate_patterns:
    input:
        rates="results/rates/patterns.zarr.zip",
    output:
        table=report(
            "results/patterns.csv",
            caption="report/patterns_table.rst",
            category="4 Rates",
            labels={"shows": "budgets of sparse attention, for a spreadsheet"},
        ),
        page=report(
            "results/patterns.html",
            caption="report/patterns_table.rst",
            category="4 Rates",
            labels={"shows": "budgets of sparse attention, as a page"},
        ),
    log:
        "results/logs/tabulate_patterns/log.txt",
    benchmark:
        "results/benchmarks/tabulate_patterns/run.tsv"
    localrule: True
    conda:
        "../envs/tabulate_patterns.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "tabulate_patterns",
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/tabulate_patterns.py"


rule plot_patterns:
    input:
        rates="results/rates/patterns.zarr.zip",
    output:
        **figure("patterns", "contexts: what sparse attention loses"),
    log:
        "results/logs/plot_patterns/log.txt",
    benchmark:
        "results/benchmarks/plot_patterns/run.tsv"
    localrule: True
    conda:
        "../envs/plot_patterns.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "plot_patterns",
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/plot_patterns.py"
