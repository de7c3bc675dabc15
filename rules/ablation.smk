# Does the rate of a head fall when its attention is made sharper?
# INPUTS   results/corpus/blocks.zarr.zip, results/embeddings/shard_{shard}.zarr.zip, results/models/heads.zarr.zip,
#          results/geometry/layer_{layer}.zarr.zip; of the figures, results/rates/{ablation,heads,gaussian}.zarr.zip
# OUTPUTS  results/ablation/errors.zarr.zip   chosen heads with A or their constant tilt scaled, against limits of their own: error
#                                             (setting, statistic, replicate, n), limit_scale (setting, statistic); {mean,cov}_gram
#                                             (setting, n, group, group_2); horizon, psi, …, of_layer, of_head, alpha, tilt_factor (setting)
#          results/figures/{ablation,constant_tilt}.{pdf,svg,png}


rule measure_ablation:
    input:
        blocks="results/corpus/blocks.zarr.zip",
        heads="results/models/heads.zarr.zip",
        embeddings=EMBEDDINGS,
        geometry=expand("results/geometry/layer_{layer}.zarr.zip", layer=LAYERS),
    output:
        errors="results/ablation/errors.zarr.zip",
    log:
        "results/logs/measure_ablation/log.txt",
    benchmark:
        "results/benchmarks/measure_ablation/run.tsv"
    conda:
        "../envs/measure_ablation.yaml"
    resources:
        mem_mb=growing(3000),
        runtime=growing(240),
        gpu=gpus("measure_ablation"),
    params:
        job=job(
            "measure_ablation",
            settings=config["measure_ablation"],
            block=config["compute_limits"]["block"],
            seed=config["seed"],
            device=config["device"],
        ),
    script:
        "../scripts/measure_ablation.py"


rule plot_ablation:
    input:
        rates="results/rates/ablation.zarr.zip",
    output:
        **figure("ablation"),
    log:
        "results/logs/plot_ablation/log.txt",
    benchmark:
        "results/benchmarks/plot_ablation/run.tsv"
    conda:
        "../envs/plot_ablation.yaml"
    params:
        job=job("plot_ablation", quick_look=config["quick_look"]),
    script:
        "../scripts/plot_ablation.py"


rule plot_constant_tilt:
    input:
        **fits_at_hand("heads", "gaussian"),
        ablation="results/rates/ablation.zarr.zip",
    output:
        **figure("constant_tilt"),
    log:
        "results/logs/plot_constant_tilt/log.txt",
    benchmark:
        "results/benchmarks/plot_constant_tilt/run.tsv"
    conda:
        "../envs/plot_constant_tilt.yaml"
    params:
        job=job("plot_constant_tilt", quick_look=config["quick_look"]),
    script:
        "../scripts/plot_constant_tilt.py"
