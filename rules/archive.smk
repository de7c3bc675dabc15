# The run as one file that outlives it.
# INPUTS   what `all` asks for; through Snakemake's records, every file between that and the data
# OUTPUTS  results/attnlimit.tar.zst   a BagIt bag with an RO-Crate: sources, results, settings, jobs; the same bytes for the same run
from attnlimit.workflow.rule_files import params_of  # noqa: E402


rule archive_results:
    input:
        TARGETS,
    output:
        archive="results/attnlimit.tar.zst",
    log:
        "results/logs/archive_results/log.txt",
    benchmark:
        "results/benchmarks/archive_results/run.tsv"
    localrule: True
    conda:
        "../envs/archive_results.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=60,
    params:
        job=job(
            "archive_results",
            config=config,
            rules=lambda wildcards: params_of(workflow.rules),
            commit=lambda wildcards: commit(ROOT),
            source=lambda wildcards: source_sha256(ROOT),
            settings=config["archive_results"],
            left_out=LEFT_OUT,
        ),
    script:
        "../scripts/archive_results.py"
