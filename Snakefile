from snakemake.utils import min_version

min_version("9.27.1")


configfile: f"{workflow.basedir}/config.yaml"  # beside this file, wherever the run has its folder


include: "rules/common.smk"
include: "rules/corpus.smk"
include: "rules/embeddings.smk"
include: "rules/limits.smk"
include: "rules/errors.smk"
include: "rules/contexts.smk"
include: "rules/patterns.smk"
include: "rules/whole_model.smk"
include: "rules/synthetic.smk"
include: "rules/downstream.smk"
include: "rules/rates.smk"
include: "rules/studies.smk"
include: "rules/figures.smk"
include: "rules/claims.smk"
include: "rules/provenance.smk"
include: "rules/page.smk"
include: "rules/archive.smk"
include: "rules/bench.smk"


report: "rules/report/workflow.rst"


onstart:
    require_writable("results", *Path("results").glob("*"))
    begin_run(config, ROOT, workflow.overwrite_configfiles)


onsuccess:
    end_run("finished" if all(map(os.path.exists, [*TARGETS, "results/attnlimit.tar.zst"])) else "unfinished")


onerror:
    end_run("failed")


rule all:
    default_target: True
    input:
        TARGETS,
        "results/attnlimit.tar.zst",
        STORES,  # else one that was deleted would stay away
    localrule: True
