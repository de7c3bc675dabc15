# The atlas entry of one model: how many keys does each head need, and what are its couplings?
# INPUTS   results/keys/windows.zarr.zip, results/models/*; keys of a context come from keys.smk
# OUTPUTS  results/atlas/couplings.zarr.zip   horizon, constant_tilt (layer, head), depth (layer)


rule measure_couplings:
    input:
        windows="results/keys/windows.zarr.zip",
        heads="results/models/heads.zarr.zip",
        config="results/models/config.json",
        tokenizer="results/models/tokenizer.json",
        weights="results/models/model.safetensors",
    output:
        couplings="results/atlas/couplings.zarr.zip",
    log:
        "results/logs/measure_couplings/log.txt",
    benchmark:
        "results/benchmarks/measure_couplings/run.tsv"
    conda:
        "../envs/measure_couplings.yaml"
    resources:
        **asked("measure_couplings"),
    params:
        job=job("measure_couplings", layers=LAYERS, device=config["device"]),
    script:
        "../scripts/measure_couplings.py"
