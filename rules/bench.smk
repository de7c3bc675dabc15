# Speed of the kernel, on request: `make bench`.
# INPUTS   results/embeddings/shard_{shard}.zarr.zip, results/models/heads.zarr.zip, results/corpus/blocks.zarr.zip
# OUTPUTS  results/bench/attention.json   a list of records: case, contender, seconds, speed-ups, errors, peak memory,
#                                         roofline; medians, and their quartiles
#          results/bench/limits.json      a list of records: a limit from all queries, from drawn ones, with a surrogate
#          results/bench/attention.txt    both as tables


rule bench_attention:
    input:
        blocks="results/corpus/blocks.zarr.zip",
        heads="results/models/heads.zarr.zip",
        embeddings=EMBEDDINGS,
    output:
        records="results/bench/attention.json",
        limits="results/bench/limits.json",
        table="results/bench/attention.txt",
    log:
        "results/logs/bench_attention/log.txt",
    benchmark:
        "results/benchmarks/bench_attention/run.tsv"
    conda:
        "../envs/bench_attention.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        job=job(
            "bench_attention",
            settings=config["bench_attention"],
            seed=config["seed"],
        ),
    script:
        "../scripts/bench_attention.py"
