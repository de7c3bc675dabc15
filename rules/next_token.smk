# How does the next-token prediction change when every layer reads only some keys of the context?
# INPUTS   results/keys/windows.zarr.zip, results/models/*
# OUTPUTS  results/next_token/parts/part_{part}.zarr.zip   the windows of one job
#          results/next_token/answers.zarr.zip  loss, divergence, agreement (window, protocol, n, replicate), dense_loss (window)
#          results/rates/next_token.zarr.zip    perplexity, divergence, agreement (protocol, n), dense_perplexity, divergence_ratio (rival, n),
#                                               each with _low and _high; budget (protocol, n)
#          results/figures/next_token.{pdf,svg,png}
ANSWER_PARTS = range(config["measure_next_token"]["parts"])
MERGED["next_token/answers"] = Merge(
    expand("results/next_token/parts/part_{part}.zarr.zip", part=ANSWER_PARTS), dimension="window"
)


rule measure_next_token:
    input:
        windows="results/keys/windows.zarr.zip",
        heads="results/models/heads.zarr.zip",
        config="results/models/config.json",
        tokenizer="results/models/tokenizer.json",
        weights="results/models/model.safetensors",
    output:
        answers="results/next_token/parts/part_{part}.zarr.zip",
    log:
        "results/logs/measure_next_token/part_{part}.txt",
    benchmark:
        "results/benchmarks/measure_next_token/part_{part}.tsv"
    conda:
        "../envs/measure_next_token.yaml"
    resources:
        **asked("measure_next_token"),
    params:
        job=job(
            "measure_next_token",
            part=number("part"),
            settings=config["measure_next_token"] | only(config["measure_keys"], "context", "first", "last"),
            seed=config["seed"],
            device=config["device"],
        ),
    script:
        "../scripts/measure_next_token.py"


rule fit_next_token:
    input:
        answers="results/next_token/answers.zarr.zip",
    output:
        rates="results/rates/next_token.zarr.zip",
    log:
        "results/logs/fit_next_token/log.txt",
    benchmark:
        "results/benchmarks/fit_next_token/run.tsv"
    conda:
        "../envs/fit_next_token.yaml"
    params:
        job=job("fit_next_token"),
    script:
        "../scripts/fit_next_token.py"


rule plot_next_token:
    input:
        rates="results/rates/next_token.zarr.zip",
    output:
        figures("next_token"),
    log:
        "results/logs/plot_next_token/log.txt",
    benchmark:
        "results/benchmarks/plot_next_token/run.tsv"
    conda:
        "../envs/plot_next_token.yaml"
    params:
        job=job("plot_next_token", quick_look=config["quick_look"]),
    script:
        "../scripts/plot_next_token.py"
