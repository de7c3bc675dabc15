# What the results say of each claim of the paper.
# INPUTS   results/rates/{source}.zarr.zip, results/rates/uniform.zarr.zip, results/synthetic/{source}.zarr.zip
# OUTPUTS  results/claims.json                    a list of records: id, claim, verdict, in_short, measured, test, threshold,
#                                                 evidence, why; verdict: holds, does not hold, not tested at this size
#          results/claims.html                    the same as a page
#          results/figures/claims.{pdf,svg,png}   the same at a glance


rule assess_claims:
    input:
        bert="results/rates/bert.zarr.zip",
        gaussian="results/rates/gaussian.zarr.zip",
        gaussian_errors="results/synthetic/gaussian.zarr.zip",
        gaussian_published="results/rates/gaussian_published.zarr.zip",
        gaussian_published_errors="results/synthetic/gaussian_published.zarr.zip",
        gaussian_asymptotic="results/rates/gaussian_asymptotic.zarr.zip",
        sphere="results/rates/sphere.zarr.zip",
        sphere_errors="results/synthetic/sphere.zarr.zip",
        uniform="results/rates/uniform.zarr.zip",
        uniform_errors="results/synthetic/uniform.zarr.zip",
        hardmax="results/synthetic/hardmax.zarr.zip",
        normality="results/synthetic/normality.zarr.zip",
    output:
        records="results/claims.json",
        page=report(
            "results/claims.html",
            caption="report/claims.rst",
            category="1 Claims",
            labels={"page": "every claim, its test and its verdict"},
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
        mem_mb=1000,
        runtime=10,
    params:
        thresholds=config["assess_claims"],
        seed=config["seed"],
        code=code("assess_claims.py", **config["assess_claims"]),
    script:
        "../scripts/assess_claims.py"


rule plot_claims:
    input:
        records="results/claims.json",
    output:
        pdf="results/figures/claims.pdf",
        svg="results/figures/claims.svg",
        png=report(
            "results/figures/claims.png",
            caption="report/claims_figure.rst",
            category="1 Claims",
            labels={"page": "the claims at a glance, a figure"},
        ),
    log:
        "results/logs/plot_claims/log.txt",
    benchmark:
        "results/benchmarks/plot_claims/run.tsv"
    localrule: True
    conda:
        "../envs/plot_claims.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("plot_claims.py"),
    script:
        "../scripts/plot_claims.py"
