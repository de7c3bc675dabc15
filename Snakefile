from snakemake.utils import min_version

min_version("9.27.1")


configfile: "config.yaml"


include: "rules/common.smk"
include: "rules/corpus.smk"
include: "rules/embeddings.smk"
include: "rules/limits.smk"
include: "rules/errors.smk"
include: "rules/synthetic.smk"
include: "rules/rates.smk"
include: "rules/figures.smk"
include: "rules/claims.smk"
include: "rules/provenance.smk"
include: "rules/archive.smk"
include: "rules/bench.smk"


report: "rules/report/workflow.rst"


onstart:
    require_writable("results", *Path("results").glob("*"))


rule all:
    default_target: True
    input:
        TARGETS,
        "results/attnlimit.tar.zst",
        STORES,  # else one that was deleted would stay away
    localrule: True
