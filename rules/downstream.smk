# How do a model's answers and embeddings change when every layer attends to n drawn keys?
# INPUTS   results/corpus/articles.parquet, or labelled texts of measure_downstream.location; results/models/*
# OUTPUTS  results/downstream/texts.zarr.zip     token_id, text_of_token (token); label, training (text)
#          results/downstream/parts/{part}.zarr.zip   the texts of one job: embedding (text, replicate, n, feature), dense_embedding
#                                                (text, feature); of a classifier scores (text, replicate, n, class), dense_scores;
#                                                training_embedding (training_text, feature); horizon, … (text, layer, head)
#          results/downstream/answers.zarr.zip   embedding_error, logit_error, divergence, answer, right, agrees (text, replicate, n); dense_answer, dense_right, label,
#                                                cluster (text); horizon, horizon_frobenius, constant_tilt (text, layer, head); chance,
#                                                unrelated_distance
#          results/rates/downstream.zarr.zip     accuracy, agreement, logit_error, divergence, embedding_error (n); dense_accuracy, beta, bend; local_slope
#                                                (interval); each with _low, _high where it has an interval
#          results/figures/downstream.{pdf,svg,png}
from attnlimit.sources.corpus.location import labelled_file, task_lengths  # noqa: E402

LABELLED_FILE = labelled_file(located({"source": "text"} | config["measure_downstream"], ROOT))
TEXT_PARTS = range(config["measure_downstream"]["parts"])


wildcard_constraints:
    text_part="|".join(map(str, TEXT_PARTS)),


rule choose_texts:
    input:
        texts=LABELLED_FILE or "results/corpus/articles.parquet",
        tokenizer="results/models/tokenizer.json",
        config="results/models/config.json",
    output:
        texts="results/downstream/texts.zarr.zip",
    log:
        "results/logs/choose_texts/log.txt",
    benchmark:
        "results/benchmarks/choose_texts/run.tsv"
    priority: EARLY
    conda:
        "../envs/choose_texts.yaml"
    resources:
        mem_mb=lambda wildcards, input, attempt: attempt * (1000 + 5 * int(input.size_mb)),
        runtime=lambda wildcards, input, attempt: attempt * (30 + int(input.size_mb) // 20),
    params:
        job=job(
            "choose_texts",
            settings=only(
                config["measure_downstream"],
                *("task", "sha256", "text_column", "label_column", "texts", "per_article", "training"),
            ),
            lengths=task_lengths(config),
            seed=config["seed"],
        ),
    script:
        "../scripts/choose_texts.py"


rule measure_downstream:
    input:
        texts="results/downstream/texts.zarr.zip",
        heads="results/models/heads.zarr.zip",
        config="results/models/config.json",
        weights="results/models/model.safetensors",
    output:
        downstream="results/downstream/parts/{text_part}.zarr.zip",
    log:
        "results/logs/measure_downstream/part_{text_part}.txt",
    benchmark:
        "results/benchmarks/measure_downstream/part_{text_part}.tsv"
    conda:
        "../envs/measure_downstream.yaml"
    resources:
        **asked("measure_downstream"),
    params:
        job=job(
            "measure_downstream",
            part=number("text_part"),
            settings=only(config["measure_downstream"], "task", "sizes", "replicates", "replacement", "parts"),
            seed=config["seed"],
        ),
    script:
        "../scripts/measure_downstream.py"


rule merge_downstream:
    input:
        texts="results/downstream/texts.zarr.zip",
        parts=expand("results/downstream/parts/{part}.zarr.zip", part=TEXT_PARTS),
    output:
        downstream="results/downstream/answers.zarr.zip",
    log:
        "results/logs/merge_downstream/log.txt",
    benchmark:
        "results/benchmarks/merge_downstream/run.tsv"
    conda:
        "../envs/merge_downstream.yaml"
    resources:
        mem_mb=memory("merge_downstream"),
        runtime=growing(30),
    params:
        job=job("merge_downstream"),
    script:
        "../scripts/merge_downstream.py"


rule fit_downstream:
    input:
        downstream="results/downstream/answers.zarr.zip",
    output:
        rates="results/rates/downstream.zarr.zip",
    log:
        "results/logs/fit_downstream/log.txt",
    benchmark:
        "results/benchmarks/fit_downstream/run.tsv"
    conda:
        "../envs/fit_downstream.yaml"
    params:
        job=job("fit_downstream", settings=config["fit_downstream"], seed=config["seed"]),
    script:
        "../scripts/fit_downstream.py"


rule plot_downstream:
    input:
        rates="results/rates/downstream.zarr.zip",
        downstream="results/downstream/answers.zarr.zip",
    output:
        figures("downstream"),
    log:
        "results/logs/plot_downstream/log.txt",
    benchmark:
        "results/benchmarks/plot_downstream/run.tsv"
    conda:
        "../envs/plot_downstream.yaml"
    params:
        job=job("plot_downstream", quick_look=config["quick_look"]),
    script:
        "../scripts/plot_downstream.py"
