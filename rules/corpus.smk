# Text to tokens.
# INPUTS   the Wikipedia excerpt and the model carried by installed packages, each checked by its sha256
# OUTPUTS  results/corpus/articles.parquet     page_id, title, revision_id, text
#          results/models/*                    the model's files as checked
#          results/models/heads.zarr.zip       {query,key,value}_weight (layer, head, width, feature), …_bias (layer, head, width)
#          results/corpus/blocks.zarr.zip      token_id, position, block_of_token (token); page_id, revision_id (block)


rule fetch_corpus:
    output:
        articles="results/corpus/articles.parquet",
    log:
        "results/logs/fetch_corpus/log.txt",
    benchmark:
        "results/benchmarks/fetch_corpus/run.tsv"
    localrule: True
    conda:
        "../envs/fetch_corpus.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        source=config["fetch_corpus"]["source"],
        sha256=config["fetch_corpus"]["sha256"],
        max_bytes=config["fetch_corpus"]["max_bytes"],
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
    localrule: True
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
        mem_mb=growing(1000),
        runtime=growing(30),
    params:
        block=config["tokenize_corpus"]["block"],
        population=config["tokenize_corpus"]["population"],
        seed=config["seed"],
        code=code("tokenize_corpus.py", **config["tokenize_corpus"]),
    script:
        "../scripts/tokenize_corpus.py"
