# What the results say of each claim of the paper.
# INPUTS   results/rates/{name}.zarr.zip
# OUTPUTS  results/claims.json                    a list of records: id, claim, verdict, in_short, measured, test, threshold,
#                                                 evidence, why, could_fail, left_out, rule, function, test_file; verdict:
#                                                 holds, does not hold, not tested at this size; none of a claim that is left
#                                                 out with the chapter named in left_out
#          results/claims.html                    the same as a page
#          results/figures/claims.{pdf,svg,png}   the same at a glance


rule assess_claims:
    input:
        **fits_at_hand(*registry.fits(CHAPTERS)),
    output:
        records="results/claims.json",
        page=report(
            "results/claims.html",
            caption="report/claims.rst",
            category="1 Claims",
            labels={"shows": "every claim, its test and its verdict"},
        ),
    log:
        "results/logs/assess_claims/log.txt",
    benchmark:
        "results/benchmarks/assess_claims/run.tsv"
    localrule: True
    conda:
        "../envs/assess_claims.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "assess_claims",
            thresholds=config["assess_claims"],
            seed=config["seed"],
            chapters=registry.chapters_of_fits(CHAPTERS),
            left_out=LEFT_OUT,
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/assess_claims.py"


rule plot_claims:
    input:
        records="results/claims.json",
    output:
        **figure("claims", "the claims at a glance, a figure", caption="claims_figure", category="1 Claims"),
    log:
        "results/logs/plot_claims/log.txt",
    benchmark:
        "results/benchmarks/plot_claims/run.tsv"
    localrule: True
    conda:
        "../envs/plot_claims.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "plot_claims",
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/plot_claims.py"
