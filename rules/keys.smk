# How many keys of its context does a query of a language model need?
# INPUTS   results/corpus/articles.parquet, results/models/*
# OUTPUTS  results/keys/windows.zarr.zip        token_id (window, position), page_id, title (window)
#          results/keys/parts/part_{part}.zarr.zip   the windows of one job
#          results/keys/errors.zarr.zip         error (window, layer, protocol, replicate, n, head), error_quantile (window, layer,
#                                               quantile, protocol, n, head), output_error; first_order, first_order_output,
#                                               second_moment (window, layer, context, protocol, head), stratum; first_weight, entropy,
#                                               effective_keys, largest_mass, horizon, constant_tilt, spread (window, layer, head)
#          results/rates/keys.zarr.zip          rms (layer, protocol, n, head), beta, growth, gain (layer, protocol, head), keys,
#                                               first_order_keys, first_order_reliable, cache_share, first_order_ratio (eps, …); medians
#                                               over heads: median_keys, median_beta, …; joint_gain; each with _low and _high
#          results/keys.csv                     one row per head: keys for 5 % by protocol, and how the head distributes its weights
#          results/budgets/*                    the same in formats of other tools: docs/language.md
#          results/figures/{keys,keys_by_layer,keys_by_context}.{pdf,svg,png}
KEY_PARTS = range(config["measure_keys"]["parts"])
MERGED["keys/errors"] = Merge(expand("results/keys/parts/part_{part}.zarr.zip", part=KEY_PARTS), dimension="window")
BUDGETS = {
    "csv": "results/budgets/budgets.csv",
    "ratios": "results/budgets/prune_ratios.npy",
    "heads": "results/budgets/full_attention_heads.tsv",
    "sizes": "results/budgets/config.json",
}
if "language" in CHAPTERS:
    TARGETS += BUDGETS.values()


rule prepare_windows:
    input:
        articles="results/corpus/articles.parquet",
        tokenizer="results/models/tokenizer.json",
        config="results/models/config.json",
    output:
        windows="results/keys/windows.zarr.zip",
    log:
        "results/logs/prepare_windows/log.txt",
    benchmark:
        "results/benchmarks/prepare_windows/run.tsv"
    priority: EARLY
    conda:
        "../envs/prepare_windows.yaml"
    resources:
        mem_mb=lambda wildcards, input, attempt: attempt * (1000 + 5 * int(input.size_mb)),
        runtime=growing(30),
    params:
        job=job("prepare_windows", settings=config["prepare_windows"], seed=config["seed"]),
    script:
        "../scripts/prepare_windows.py"


rule measure_keys:
    input:
        windows="results/keys/windows.zarr.zip",
        heads="results/models/heads.zarr.zip",
        config="results/models/config.json",
        tokenizer="results/models/tokenizer.json",
        weights="results/models/model.safetensors",
    output:
        errors="results/keys/parts/part_{part}.zarr.zip",
    log:
        "results/logs/measure_keys/part_{part}.txt",
    benchmark:
        "results/benchmarks/measure_keys/part_{part}.tsv"
    conda:
        "../envs/measure_keys.yaml"
    resources:
        **asked("measure_keys"),
    params:
        job=job(
            "measure_keys",
            part=number("part"),
            settings=config["measure_keys"],
            layers=LAYERS,
            seed=config["seed"],
            device=config["device"],
        ),
    script:
        "../scripts/measure_keys.py"


rule fit_keys:
    input:
        errors="results/keys/errors.zarr.zip",
    output:
        rates="results/rates/keys.zarr.zip",
    log:
        "results/logs/fit_keys/log.txt",
    benchmark:
        "results/benchmarks/fit_keys/run.tsv"
    conda:
        "../envs/fit_keys.yaml"
    params:
        job=job("fit_keys"),
    script:
        "../scripts/fit_keys.py"


rule tabulate_keys:
    input:
        rates="results/rates/keys.zarr.zip",
    output:
        table=report(
            "results/keys.csv",
            caption="report/keys_table.rst",
            category="4 Rates",
            labels={"shows": "keys that each head needs, for a spreadsheet"},
        ),
    log:
        "results/logs/tabulate_keys/log.txt",
    benchmark:
        "results/benchmarks/tabulate_keys/run.tsv"
    conda:
        "../envs/tabulate_keys.yaml"
    params:
        job=job("tabulate_keys"),
    script:
        "../scripts/tabulate_keys.py"


rule export_budgets:
    input:
        rates="results/rates/keys.zarr.zip",
    output:
        **BUDGETS,
    log:
        "results/logs/export_budgets/log.txt",
    benchmark:
        "results/benchmarks/export_budgets/run.tsv"
    conda:
        "../envs/export_budgets.yaml"
    params:
        job=job("export_budgets", settings=only(config["measure_keys"], "first", "last")),
    script:
        "../scripts/export_budgets.py"


rule plot_keys:
    input:
        rates="results/rates/keys.zarr.zip",
    output:
        figures("keys"),
    log:
        "results/logs/plot_keys/log.txt",
    benchmark:
        "results/benchmarks/plot_keys/run.tsv"
    conda:
        "../envs/plot_keys.yaml"
    params:
        job=job("plot_keys", quick_look=config["quick_look"]),
    script:
        "../scripts/plot_keys.py"
