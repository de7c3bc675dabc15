from snakemake.utils import min_version

min_version("9.27.1")


configfile: f"{workflow.basedir}/config.yaml"  # beside this file, wherever the run has its folder


include: "rules/common.smk"
include: "rules/sources.smk"
include: "rules/population.smk"


for question in registry.questions():

    include: f"rules/{question}.smk"


include: "rules/results.smk"


# These take seconds, or the network, and run where Snakemake runs; all others queue on a cluster, and say for what.
LOCAL = ("archive_", "assess_", "compare_", "compose_", "fetch_", "fit_", "gather_", "merge_parts", "plot_", "state_")
LOCAL += ("export_", "tabulate_")
QUEUED = ("fit_surrogate",)  # it reads the tokens of the population
workflow.localrules(*(each.name for each in workflow.rules if each.name.startswith(LOCAL) and each.name not in QUEUED))


# Short jobs, which others wait for, run at once; then the longest; figures last, so that no core is idle at the end of a run.
SECONDS = job_seconds(config)
for each in workflow.rules:
    seconds = round(SECONDS.get(each.name, 0))
    own = 0 if each.name.startswith("plot_") else min(seconds, SHORT - 1) if seconds > 10 else SHORT
    each.priority = each.priority or own


report: "rules/report/workflow.rst"


onstart:
    require_writable("results", *Path("results").glob("*"))
    begin_run(config, ROOT, workflow.overwrite_configfiles)
    if workflow.local_exec:
        # Its limit of 100 jobs a second makes Snakemake look again, each second, about once for every job done so far: 3,300
        # times, by a thread each, in 100 s with 88 jobs. No option takes it away.
        workflow.scheduler.job_rate_limiter = None


onsuccess:
    end_run("finished" if all(map(os.path.exists, [*TARGETS, "results/attnlimit.tar.zst"])) else "unfinished")


onerror:
    end_run("failed")


rule all:
    default_target: True
    input:
        TARGETS,
        "results/attnlimit.tar.zst",
        STORES,  # so that a deleted store is rebuilt
