# The run as one file that outlives it.
# INPUTS   what `all` asks for; through Snakemake's records, every file between that and the data
# OUTPUTS  results/attnlimit.tar.zst   a BagIt bag with an RO-Crate: sources, results, settings, jobs; the same bytes for the same run
from attnlimit.source import commit, source_sha256


def varies(value):
    """Whether a param follows from the wildcards of a job."""
    return callable(value) or (isinstance(value, str) and "{" in value)


def archived_rules():
    """Of each rule: the params that all its jobs share, as Snakemake's records show them, and the names of the others."""
    return {
        each.name: {
            "fixed": {name: repr(value) for name, value in each.params.items() if not varies(value)},
            "varying": [name for name, value in each.params.items() if varies(value)],
        }
        for each in workflow.rules
    }


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
        config=config,
        rules=archived_rules(),
        commit=commit(Path(workflow.basedir)),
        source=source_sha256(Path(workflow.basedir)),
        embeddings=config["archive_results"]["embeddings"],
        code=code("archive_results.py"),
    script:
        "../scripts/archive_results.py"
