# How does the error of a layer propagate through later layers?
# INPUTS   results/corpus/blocks.zarr.zip, results/models/*
# OUTPUTS  results/propagation/parts/part_{part}.zarr.zip   the blocks of one job
#          results/propagation/errors.zarr.zip   error (statistic, layer, block, replicate, n): keys drawn in all layers;
#                                                single_error (statistic, drawn_layer, layer, block, replicate, single_n): in one;
#                                                limit_scale (statistic, layer, block): of the dense states
#          results/rates/propagation.zarr.zip    beta{,_low,_high}, … (statistic, layer); rms{,_low,_high} (statistic, layer, n), single_rms: relative;
#                                                gain{,_low,_high} (statistic, drawn_layer, layer, single_n);
#                                                quadrature{,_low,_high}, quadrature_in_step (statistic, layer, single_n);
#                                                late_rate{,_low,_high}, late_saturated (statistic, layer); depth_change{,_low,_high} (statistic)
#          results/figures/{propagation,propagation_gain}.{pdf,svg,png}
PROPAGATION_PARTS = range(config["measure_propagation"]["parts"])
MERGED["propagation/errors"] = Merge(
    expand("results/propagation/parts/part_{part}.zarr.zip", part=PROPAGATION_PARTS), dimension="block"
)


rule measure_propagation:
    input:
        blocks="results/corpus/blocks.zarr.zip",
        heads="results/models/heads.zarr.zip",
        config="results/models/config.json",
        weights="results/models/model.safetensors",
    output:
        errors="results/propagation/parts/part_{part}.zarr.zip",
    log:
        "results/logs/measure_propagation/part_{part}.txt",
    benchmark:
        "results/benchmarks/measure_propagation/part_{part}.tsv"
    conda:
        "../envs/measure_propagation.yaml"
    resources:
        **asked("measure_propagation"),
    params:
        job=job(
            "measure_propagation",
            part=number("part"),
            settings=config["measure_propagation"],
            block=config["tokenize_corpus"]["block"],
            seed=config["seed"],
        ),
    script:
        "../scripts/measure_propagation.py"


rule fit_propagation:
    input:
        errors="results/propagation/errors.zarr.zip",
    output:
        rates="results/rates/propagation.zarr.zip",
    log:
        "results/logs/fit_propagation/log.txt",
    benchmark:
        "results/benchmarks/fit_propagation/run.tsv"
    conda:
        "../envs/fit_propagation.yaml"
    params:
        job=job(
            "fit_propagation",
            settings=only(config["fit_rates"], "bootstrap", "misfit", "saturated"),
            seed=config["seed"],
        ),
    script:
        "../scripts/fit_propagation.py"


rule plot_propagation:
    input:
        rates="results/rates/propagation.zarr.zip",
    output:
        figures("propagation"),
    log:
        "results/logs/plot_propagation/log.txt",
    benchmark:
        "results/benchmarks/plot_propagation/run.tsv"
    conda:
        "../envs/plot_propagation.yaml"
    params:
        job=job(
            "plot_propagation",
            **only(config["assess_claims"], "quadrature_tolerance", "depth_tolerance"),
            quick_look=config["quick_look"],
        ),
    script:
        "../scripts/plot_propagation.py"
