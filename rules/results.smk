# From errors to rates, verdicts, the page and the archive: the end of every run. And the speed of the kernel, on request.
# INPUTS   stores of errors, in parts and whole; fits; figures
# OUTPUTS  results/{merged}.zarr.zip                a store whose parts are joined along one dimension
#          results/rates/{source}.zarr.zip          beta, beta_low, beta_high, se, chi2, dof, … (layer, statistic, part, head);
#                                                   value, value_se, noise_floor (…, n); local_slope{,_low,_high} (…, interval);
#                                                   limit_scale, limit_se (layer, statistic, head); horizon, psi, … (layer, head);
#                                                   tokens_needed, … (eps, layer, statistic, head); head -1: the whole layer
#          results/rates.csv                        the same fits, one row each
#          results/answer.{txt,json}                the answer of the run in a few lines: for the terminal; by key, for the page
#          results/claims.json                      a list of records, one per claim: `Record` in attnlimit/stats/claim.py; verdict:
#                                                   holds, does not hold, undecided; none of a claim that is left out with the
#                                                   chapter named in left_out
#          results/figures/claims.{pdf,svg,png}     the same at a glance
#          results/index.html                       question, answer, claims, heads to explore, figures, settings, data, versions, in
#                                                   one file that needs no network; the same bytes for the same run; `make page` writes it from what a run has
#          results/attnlimit.tar.zst                a BagIt bag with an RO-Crate: sources, results, settings, jobs; the same bytes
#                                                   for the same run, but for the times of its jobs
#          results/bench/{attention,limits}.json    by `make bench`, lists of records: case, contender, seconds, speed-ups, errors,
#                                                   peak memory, roofline, medians with quartiles; a limit from all queries, from
#                                                   drawn ones, with a surrogate
#          results/bench/attention.txt              both as tables
from attnlimit.base.code_hash import texts_hash  # noqa: E402
from attnlimit.workflow.study_files import command_of  # noqa: E402
from attnlimit.workflow.rule_files import absent, at_hand, params_of  # noqa: E402
from attnlimit.workflow.workflow_files import commit_before  # noqa: E402

OF_KEYS = fits_at_hand(**{"language" if "language" in CHAPTERS else "entry": "keys"})  # a model's own run
PAGE_FILES = fits_at_hand("first_order", "patterns", "studies", "atlas", rates="heads", of_keys="keys") | {
    "records": "results/claims.json",
    "answer": "results/answer.json",
    "weights": ["results/models/heads.zarr.zip"] if "heads" in CHAPTERS else [],
    "tails": each_layer("tails/layer_{layer}") if "tails" in CHAPTERS else [],
    "stores": STORES,
    "figures": expand("results/figures/{name}.svg", name=registry.figures(CHAPTERS)),
}
PAGE_ALONE = lambda: bool(workflow.dag_settings.allowed_rules)  # by `make page`: then of the files that are there
CLAIMS = registry.questions_with_claims(CHAPTERS)


rule merge_parts:
    input:
        parts=lambda wildcards: MERGED[wildcards.merged].parts,
    output:
        merged="results/{merged}.zarr.zip",
    log:
        "results/logs/merge_parts/{merged}.txt",
    benchmark:
        "results/benchmarks/merge_parts/{merged}.tsv"
    wildcard_constraints:
        merged="|".join(MERGED),
    conda:
        "../envs/merge_parts.yaml"
    params:
        job=job(
            "merge_parts",
            dimension=lambda wildcards: MERGED[wildcards.merged].dimension,
            shared=lambda wildcards: MERGED[wildcards.merged].shared,
        ),
    script:
        "../scripts/merge_parts.py"


rule fit_rates:
    input:
        errors=lambda wildcards: each_layer(SOURCES[wildcards.source]),
    output:
        rates="results/rates/{source}.zarr.zip",
    log:
        "results/logs/fit_rates/{source}.txt",
    benchmark:
        "results/benchmarks/fit_rates/{source}.tsv"
    conda:
        "../envs/fit_rates.yaml"
    params:
        job=job(
            "fit_rates",
            source=lambda wildcards: wildcards.source,
            settings=config["fit_rates"],
            seed=config["seed"],
        ),
    script:
        "../scripts/fit_rates.py"


rule tabulate_rates:
    input:
        rates=expand("results/rates/{source}.zarr.zip", source=registry.sources(CHAPTERS)),
    output:
        table=report(
            "results/rates.csv",
            caption="report/rates.rst",
            category="4 Rates",
            labels={"shows": "every fit, for a spreadsheet"},
        ),
    log:
        "results/logs/tabulate_rates/log.txt",
    benchmark:
        "results/benchmarks/tabulate_rates/run.tsv"
    conda:
        "../envs/tabulate_rates.yaml"
    params:
        job=job("tabulate_rates", run=config["run"]),
    script:
        "../scripts/tabulate_rates.py"


rule state_answer:
    input:
        **fits_at_hand("contexts", "patterns", "studies", "atlas", rates="heads"),
        **OF_KEYS,
        records="results/claims.json",
    output:
        lines=report(
            "results/answer.txt", caption="report/answer.rst", category="2 Answer", labels={"shows": "in short"}
        ),
        sentences="results/answer.json",
    log:
        "results/logs/state_answer/log.txt",
    benchmark:
        "results/benchmarks/state_answer/run.tsv"
    conda:
        "../envs/state_answer.yaml"
    params:
        job=job(
            "state_answer",
            settings=only(config["assess_claims"], "weakest_horizon", "agreement"),
            left_out=LEFT_OUT,
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/state_answer.py"


rule assess_claims:
    input:
        fits=expand("results/rates/{fit}.zarr.zip", fit=registry.fits(CHAPTERS)),
    output:
        records=report(
            "results/claims.json",
            caption="report/claims.rst",
            category="1 Claims",
            labels={"shows": "every claim, its test and its verdict, for programs"},
        ),
    log:
        "results/logs/assess_claims/log.txt",
    benchmark:
        "results/benchmarks/assess_claims/run.tsv"
    conda:
        "../envs/assess_claims.yaml"
    params:
        job=job(
            "assess_claims",
            thresholds=config["assess_claims"],
            chapters=registry.chapters_of_fits(CHAPTERS),
            questions=CLAIMS,
            rules=dict.fromkeys(SOURCES, "fit_rates") | {"studies": "compare_studies", "atlas": "compare_atlas"},
            also=[f"attnlimit.questions.{name}.claims" for name in CLAIMS],
        ),
    script:
        "../scripts/assess_claims.py"


rule plot_claims:
    input:
        records="results/claims.json",
    output:
        figure("claims", "the claims at a glance", "claims_figure", "1 Claims"),
    log:
        "results/logs/plot_claims/log.txt",
    benchmark:
        "results/benchmarks/plot_claims/run.tsv"
    conda:
        "../envs/plot_claims.yaml"
    params:
        job=job("plot_claims", quick_look=config["quick_look"]),
    script:
        "../scripts/plot_claims.py"


rule compose_page:
    input:
        unpack(lambda wildcards: at_hand(PAGE_FILES) if PAGE_ALONE() else PAGE_FILES),
    output:
        page="results/index.html",
    log:
        "results/logs/compose_page/log.txt",
    benchmark:
        "results/benchmarks/compose_page/run.tsv"
    conda:
        "../envs/compose_page.yaml"
    params:
        job=job(
            "compose_page",
            config=config,
            command=command_of(config, ROOT),
            sections=registry.page_sections(CHAPTERS),
            figures=registry.figures(CHAPTERS),
            texts=texts_hash(ROOT / "rules/page", ROOT / "rules/report"),
            state=lambda wildcards: {
                "commit": commit_before(ROOT),
                "absent": absent(PAGE_FILES) if PAGE_ALONE() else [],
            },
        ),
    script:
        "../scripts/compose_page.py"


rule archive_results:
    input:
        TARGETS,
    output:
        archive="results/attnlimit.tar.zst",
    log:
        "results/logs/archive_results/log.txt",
    benchmark:
        "results/benchmarks/archive_results/run.tsv"
    conda:
        "../envs/archive_results.yaml"
    params:
        job=job(
            "archive_results",
            config=config,
            rules=lambda wildcards: params_of(workflow.rules),
            commit=lambda wildcards: commit(ROOT),
            source=lambda wildcards: source_sha256(ROOT),
            engine=snakemake.__version__,
            settings=config["archive_results"],
            left_out=LEFT_OUT,
        ),
    script:
        "../scripts/archive_results.py"


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
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        job=job("bench_attention", settings=config["bench_attention"], seed=config["seed"]),
    script:
        "../scripts/bench_attention.py"
