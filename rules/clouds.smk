# What does convergence to the limit look like?
# INPUTS   results/embeddings/shard_{shard}.zarr.zip, results/models/heads.zarr.zip, results/geometry/layer_{layer}.zarr.zip
# OUTPUTS  results/clouds/outputs.zarr.zip   outputs of two heads at chosen n and in the limit: plane (setting, cloud, point, axis),
#                                            tsne (setting, cloud, mapped, axis); horizon, of_layer, of_head (setting)
#          results/figures/clouds.{pdf,svg,png}


rule measure_clouds:
    input:
        heads="results/models/heads.zarr.zip",
        embeddings=EMBEDDINGS,
        geometry=expand("results/geometry/layer_{layer}.zarr.zip", layer=LAYERS),
    output:
        outputs="results/clouds/outputs.zarr.zip",
    log:
        "results/logs/measure_clouds/log.txt",
    benchmark:
        "results/benchmarks/measure_clouds/run.tsv"
    conda:
        "../envs/measure_clouds.yaml"
    resources:
        mem_mb=growing(3000),
        runtime=growing(60),
        gpu=gpus("measure_clouds"),
    params:
        job=job(
            "measure_clouds",
            settings=config["measure_clouds"],
            block=config["compute_limits"]["block"],
            seed=config["seed"],
            device=config["device"],
        ),
    script:
        "../scripts/measure_clouds.py"


rule plot_clouds:
    input:
        outputs="results/clouds/outputs.zarr.zip",
    output:
        figures("clouds"),
    log:
        "results/logs/plot_clouds/log.txt",
    benchmark:
        "results/benchmarks/plot_clouds/run.tsv"
    conda:
        "../envs/plot_clouds.yaml"
    params:
        job=job("plot_clouds", quick_look=config["quick_look"]),
    script:
        "../scripts/plot_clouds.py"
