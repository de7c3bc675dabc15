# Are the tokens of a model sub-Gaussian, as the paper assumes?
# INPUTS   results/corpus/blocks.zarr.zip, results/embeddings/shard_{shard}.zarr.zip, results/models/heads.zarr.zip,
#          results/geometry/layer_{layer}.zarr.zip
# OUTPUTS  results/tails/layer_{layer}.zarr.zip   eigenvalues (feature), participation_ratio; variance, kurtosis (head, direction),
#                                                 log_mgf_ratio, effective_tokens (head, direction, scale), sub_gaussian (head);
#                                                 head -1: along the leading eigenvectors of the tokens' covariance
#          results/figures/tails.{pdf,svg,png}


rule measure_tails:
    input:
        blocks="results/corpus/blocks.zarr.zip",
        heads="results/models/heads.zarr.zip",
        embeddings=EMBEDDINGS,
        geometry="results/geometry/layer_{layer}.zarr.zip",
    output:
        tails="results/tails/layer_{layer}.zarr.zip",
    log:
        "results/logs/measure_tails/layer_{layer}.txt",
    benchmark:
        "results/benchmarks/measure_tails/layer_{layer}.tsv"
    conda:
        "../envs/measure_tails.yaml"
    resources:
        mem_mb=memory("measure_tails"),
        runtime=growing(60),
    params:
        job=job(
            "measure_tails",
            layer=number("layer"),
            settings=config["measure_tails"],
            block=config["compute_limits"]["block"],
        ),
    script:
        "../scripts/measure_tails.py"


rule plot_tails:
    input:
        tails=expand("results/tails/layer_{layer}.zarr.zip", layer=LAYERS),
    output:
        figures("tails"),
    log:
        "results/logs/plot_tails/log.txt",
    benchmark:
        "results/benchmarks/plot_tails/run.tsv"
    conda:
        "../envs/plot_tails.yaml"
    params:
        job=job("plot_tails", quick_look=config["quick_look"]),
    script:
        "../scripts/plot_tails.py"
