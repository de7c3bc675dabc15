# What is the error of a query that reads only n keys of its block, selected by a pattern?
# INPUTS   results/corpus/blocks.zarr.zip, results/embeddings/shard_{shard}.zarr.zip, results/models/heads.zarr.zip
# OUTPUTS  results/patterns/layer_{layer}.zarr.zip   error (statistic, pattern, head, block, replicate, n) to dense attention;
#                                                    limit_scale (statistic, head, block), expected_square (term, head, block),
#                                                    length (block); of pattern top: left_out (head, block, n),
#                                                    keys_needed, keys_gaussian (delta, head, block), score_spread, asked
#          results/rates/patterns.zarr.zip   value (layer, statistic, pattern, head, n), beta, bend, … (…, head), beats_top (…, n);
#                                            budget (eps, layer, statistic, pattern, head); median_value, median_budget: over heads;
#                                            theory_value (layer, head, n), theory_from, late_beta (layer, head);
#                                            left_out, means_apart (layer, head, n), gaussian_ratio (layer, delta, head), …
#          results/patterns.csv              sufficient budgets, one row per layer and pattern
#          results/figures/patterns.{pdf,svg,png}


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
    resources:
        **asked("measure_patterns"),
    params:
        job=job(
            "measure_patterns",
            layer=number("layer"),
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
    conda:
        "../envs/fit_patterns.yaml"
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
    log:
        "results/logs/tabulate_patterns/log.txt",
    benchmark:
        "results/benchmarks/tabulate_patterns/run.tsv"
    conda:
        "../envs/tabulate_patterns.yaml"
    params:
        job=job("tabulate_patterns"),
    script:
        "../scripts/tabulate_patterns.py"


rule plot_patterns:
    input:
        rates="results/rates/patterns.zarr.zip",
    output:
        figures("patterns"),
    log:
        "results/logs/plot_patterns/log.txt",
    benchmark:
        "results/benchmarks/plot_patterns/run.tsv"
    conda:
        "../envs/plot_patterns.yaml"
    params:
        job=job("plot_patterns", quick_look=config["quick_look"]),
    script:
        "../scripts/plot_patterns.py"
