# Where the numbers of a run come from.
# INPUTS   what the run leaves: stores, table, answer, claims, figures
# OUTPUTS  results/provenance.html   settings, data, versions, machine; times, which differ between runs, are in results/benchmarks/


rule state_provenance:
    input:
        stores=STORES,
        rest=[
            "results/rates.csv",
            "results/answer.txt",
            "results/claims.json",
            expand("results/figures/{figure}.png", figure=FIGURES),
        ],
    output:
        page=report(
            "results/provenance.html",
            caption="report/provenance.rst",
            category="5 Provenance",
            labels={"shows": "where the numbers come from"},
        ),
    log:
        "results/logs/state_provenance/log.txt",
    benchmark:
        "results/benchmarks/state_provenance/run.tsv"
    localrule: True
    conda:
        "../envs/state_provenance.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "state_provenance",
            config=config,
            left_out=LEFT_OUT,
        ),
    script:
        "../scripts/state_provenance.py"
