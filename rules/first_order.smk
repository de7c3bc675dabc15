# Can the error of a head be predicted from the influence of single tokens, without a fit?
# INPUTS   results/corpus/blocks.zarr.zip, results/models/heads.zarr.zip, results/embeddings/shard_{shard}.zarr.zip,
#          results/limits/layer_{layer}.zarr.zip and the outputs of its queries, results/limits/{parts,outputs}/…,
#          results/errors/layer_{layer}.zarr.zip
# OUTPUTS  results/first_order/layer_{layer}.zarr.zip   constant, constant_se (statistic, head); bias_squared, second_variance,
#                                                       kappa, … (head); head -1: the whole layer, without its covariance
#          results/rates/first_order.zarr.zip           predicted, measured, ratio (layer, statistic, head, n);
#                                                       slope, predicted_slope (layer, statistic, head);
#                                                       tokens_predicted (eps, layer, statistic, head); usable_from, few_tokens (layer, head)
#          results/figures/first_order.{pdf,svg,png}
ATTENDED = "outputs" if has_surrogate(config) else "parts"  # where the limit pass left the outputs of its queries


rule measure_first_order:
    input:
        blocks="results/corpus/blocks.zarr.zip",
        heads="results/models/heads.zarr.zip",
        embeddings=EMBEDDINGS,
        limit="results/limits/layer_{layer}.zarr.zip",
        attended=expand(f"results/limits/{ATTENDED}/layer_{{{{layer}}}}_part_{{part}}.zarr.zip", part=LIMIT_PARTS),
    output:
        constants="results/first_order/layer_{layer}.zarr.zip",
    log:
        "results/logs/measure_first_order/layer_{layer}.txt",
    benchmark:
        "results/benchmarks/measure_first_order/layer_{layer}.tsv"
    conda:
        "../envs/measure_first_order.yaml"
    resources:
        **asked("measure_first_order"),
    params:
        job=job(
            "measure_first_order",
            layer=number("layer"),
            settings=config["measure_first_order"],
            limit=only(config["compute_limits"], "block", "queries"),
            seed=config["seed"],
            device=config["device"],
        ),
    script:
        "../scripts/measure_first_order.py"


rule fit_first_order:
    input:
        constants=each_layer("first_order/layer_{layer}"),
        errors=each_layer("errors/layer_{layer}"),
    output:
        rates="results/rates/first_order.zarr.zip",
    log:
        "results/logs/fit_first_order/log.txt",
    benchmark:
        "results/benchmarks/fit_first_order/run.tsv"
    conda:
        "../envs/fit_first_order.yaml"
    params:
        job=job(
            "fit_first_order",
            expansion=config["fit_first_order"]["expansion"],
            bootstrap=config["fit_rates"]["bootstrap"],
            seed=config["seed"],
        ),
    script:
        "../scripts/fit_first_order.py"


rule plot_first_order:
    input:
        rates="results/rates/first_order.zarr.zip",
    output:
        figures("first_order"),
    log:
        "results/logs/plot_first_order/log.txt",
    benchmark:
        "results/benchmarks/plot_first_order/run.tsv"
    conda:
        "../envs/plot_first_order.yaml"
    params:
        job=job("plot_first_order", quick_look=config["quick_look"]),
    script:
        "../scripts/plot_first_order.py"
