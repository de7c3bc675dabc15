# Text to tokens.
# INPUTS   the Wikipedia excerpt and the model carried by installed packages, each checked by its sha256;
#          or the corpus that fetch_corpus.location names: a dump, which a URL brings to results/downloads/, or text
# OUTPUTS  results/corpus/articles.parquet     page_id, title, revision_id, text
#                                              (page_id: number of file or row where there is no id; revision_id: 0 for none)
#          results/models/*                    the model's files as checked
#          results/models/heads.zarr.zip       {query,key,value}_weight (layer, head, width, feature), …_bias (layer, head, width)
#          results/corpus/blocks.zarr.zip      token_id, position, block_of_token (token); page_id, revision_id (block)

from attnlimit.location import local_files


rule fetch_corpus:
    input:
        files=lambda wildcards: local_files(config["fetch_corpus"]),
    output:
        articles="results/corpus/articles.parquet",
    log:
        "results/logs/fetch_corpus/log.txt",
    benchmark:
        "results/benchmarks/fetch_corpus/run.tsv"
    conda:
        "../envs/fetch_corpus.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30 if config["fetch_corpus"]["source"] == "excerpt" else 1440,
    params:
        corpus=config["fetch_corpus"],
        downloads="results/downloads",
        code=code("fetch_corpus.py", **config["fetch_corpus"]),
    script:
        "../scripts/fetch_corpus.py"


rule fetch_model:
    output:
        config="results/models/config.json",
        tokenizer="results/models/tokenizer.json",
        weights="results/models/model.safetensors",
        heads="results/models/heads.zarr.zip",
    log:
        "results/logs/fetch_model/log.txt",
    benchmark:
        "results/benchmarks/fetch_model/run.tsv"
    conda:
        "../envs/fetch_model.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        sha256={
            "config.json": config["fetch_model"]["config_sha256"],
            "tokenizer.json": config["fetch_model"]["tokenizer_sha256"],
            "model.safetensors": config["fetch_model"]["weights_sha256"],
        },
        code=code("fetch_model.py", **config["fetch_model"]),
    script:
        "../scripts/fetch_model.py"


rule tokenize_corpus:
    input:
        articles="results/corpus/articles.parquet",
        tokenizer="results/models/tokenizer.json",
    output:
        blocks="results/corpus/blocks.zarr.zip",
    log:
        "results/logs/tokenize_corpus/log.txt",
    benchmark:
        "results/benchmarks/tokenize_corpus/run.tsv"
    conda:
        "../envs/tokenize_corpus.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, input: 1000 + 5 * int(input.size_mb),
        runtime=lambda wildcards, input: 30 + int(input.size_mb) // 20,
    params:
        block=config["tokenize_corpus"]["block"],
        population=config["tokenize_corpus"]["population"],
        seed=config["seed"],
        code=code("tokenize_corpus.py", **config["tokenize_corpus"]),
    script:
        "../scripts/tokenize_corpus.py"
