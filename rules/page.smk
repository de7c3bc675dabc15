# The page that answers: question, answer, claims, heads to explore, figures, in one file that needs no network.
# INPUTS   results/claims.json, results/answer.txt, results/rates/*.zarr.zip, results/tails/layer_{layer}.zarr.zip,
#          results/models/heads.zarr.zip (for the number of layers), results/figures/*.svg
# OUTPUTS  results/index.html   the same bytes for the same run; `make page` writes it from what a run has
from attnlimit.base.code_hash import texts_hash  # noqa: E402
from attnlimit.workflow.rule_files import absent, at_hand  # noqa: E402
from attnlimit.workflow.workflow_files import commit_before  # noqa: E402

PAGE_FIGURES = {name: list(registry.figures([name])) for name in CHAPTERS}  # in their order
PAGE_FILES = fits_at_hand(rates="heads") | {
    "records": "results/claims.json",
    "answer": "results/answer.txt",
    "weights": ["results/models/heads.zarr.zip"] if "heads" in CHAPTERS else [],
    "tails": expand("results/tails/layer_{layer}.zarr.zip", layer=LAYERS if "tails" in CHAPTERS else []),
    "stores": [f"results/rates/{name}.zarr.zip" for name in registry.fits(CHAPTERS)],
    "figures": [f"results/figures/{name}.svg" for name in registry.figures(CHAPTERS)],
}
PAGE_ALONE = lambda: bool(workflow.dag_settings.allowed_rules)  # by `make page`: then of the files that are there


rule compose_page:
    input:
        unpack(lambda wildcards: at_hand(PAGE_FILES) if PAGE_ALONE() else PAGE_FILES),
    output:
        page="results/index.html",
    log:
        "results/logs/compose_page/log.txt",
    benchmark:
        "results/benchmarks/compose_page/run.tsv"
    localrule: True
    conda:
        "../envs/compose_page.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "compose_page",
            config=config,
            chapters=PAGE_FIGURES,
            abouts=registry.chapter_titles(),
            titles=registry.figures(CHAPTERS),
            left_out=LEFT_OUT,
            texts=texts_hash(ROOT / "rules/page", ROOT / "rules/report"),
            state=lambda wildcards: {
                "commit": commit_before(ROOT),
                "absent": absent(PAGE_FILES) if PAGE_ALONE() else [],
            },
        ),
    script:
        "../scripts/compose_page.py"
