# Simulated tokens, whose limits have closed forms.
# INPUTS   none
# OUTPUTS  results/synthetic/sphere.zarr.zip    mean, cov, cov_spectral (setting, replicate, n); {mean,cov}_gram (setting, n, group,
#                                               group_2); …_scale, horizon, psi, bound_v3, …, scale, attended (setting)
#          results/synthetic/hardmax.zarr.zip   expected, proposition, ratio (n); {line,plane}_error (n, replicate_…), direct_error
#                                               (dimension, n_direct, replicate_direct); …_value, …_value_se, …_local_slope, …_local_power
#          results/synthetic/uniform.zarr.zip     sup, sup_coarse, effective (setting, replicate, n), a setting a dimension
#                                                 and radius, NaN where not run; clt_edge, clt_sup (setting)
#          results/rates/uniform.zarr.zip         beta, chi2, … (setting), constant, reached, … (setting, n),
#                                                 growth, … (of_dimension)
#          results/synthetic/normality.zarr.zip   deviation, plug_in, effective (setting, n, replicate, …), a setting a tilt;
#                                                 variance_ratio, n_bias, coverage, … (setting, n, coordinate)
#          results/synthetic/gaussian.zarr.zip              as sphere; dimension, isotropic (setting)
#          results/synthetic/gaussian_published.zarr.zip    as sphere; exact (setting): against the closed form, or a finite sample
#          results/synthetic/gaussian_asymptotic.zarr.zip   as sphere; {mean,cov}_wide_bins (setting, replicate, n),
#                                                           {mean,cov}_discretisation (setting, n)


rule simulate_sphere:
    output:
        errors="results/synthetic/sphere.zarr.zip",
    log:
        "results/logs/simulate_sphere/log.txt",
    benchmark:
        "results/benchmarks/simulate_sphere/run.tsv"
    conda:
        "../envs/simulate_sphere.yaml"
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=minutes("simulate_sphere"),
        gpu=gpus("simulate_sphere"),
    params:
        dimension=config["simulate_sphere"]["dimension"],
        radius=config["simulate_sphere"]["radius"],
        horizons=config["simulate_sphere"]["horizons"],
        scales=config["simulate_sphere"]["scales"],
        sizes=config["simulate_sphere"]["sizes"],
        replicates=config["simulate_sphere"]["replicates"],
        group=config["simulate_sphere"]["group"],
        nested=config["simulate_sphere"]["nested"],
        dtype=config["simulate_sphere"]["dtype"],
        device=config["device"],
        seed=config["seed"],
        code=code("simulate_sphere.py", **config["simulate_sphere"]),
    script:
        "../scripts/simulate_sphere.py"


rule simulate_hardmax:
    output:
        hardmax="results/synthetic/hardmax.zarr.zip",
    log:
        "results/logs/simulate_hardmax/log.txt",
    benchmark:
        "results/benchmarks/simulate_hardmax/run.tsv"
    conda:
        "../envs/simulate_hardmax.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(60),
    params:
        sigma=config["simulate_hardmax"]["sigma"],
        sizes=config["simulate_hardmax"]["sizes"],
        line_replicates=config["simulate_hardmax"]["line_replicates"],
        plane_replicates=config["simulate_hardmax"]["plane_replicates"],
        dimensions=config["simulate_hardmax"]["dimensions"],
        direct_sizes=config["simulate_hardmax"]["direct_sizes"],
        direct_replicates=config["simulate_hardmax"]["direct_replicates"],
        seed=config["seed"],
        code=code("simulate_hardmax.py", **config["simulate_hardmax"]),
    script:
        "../scripts/simulate_hardmax.py"


rule simulate_uniform:
    output:
        suprema="results/synthetic/uniform.zarr.zip",
    log:
        "results/logs/simulate_uniform/log.txt",
    benchmark:
        "results/benchmarks/simulate_uniform/run.tsv"
    conda:
        "../envs/simulate_uniform.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=minutes("simulate_uniform"),
    params:
        sizes=config["simulate_uniform"]["sizes"],
        largest_in_plane=config["simulate_uniform"]["largest_in_plane"],
        radii=config["simulate_uniform"]["radii"],
        replicates=config["simulate_uniform"]["replicates"],
        step=config["simulate_uniform"]["step"],
        angles=config["simulate_uniform"]["angles"],
        limit_draws=config["simulate_uniform"]["limit_draws"],
        seed=config["seed"],
        code=code("simulate_uniform.py", **config["simulate_uniform"]),
    script:
        "../scripts/simulate_uniform.py"


rule fit_uniform:
    input:
        suprema="results/synthetic/uniform.zarr.zip",
    output:
        rates="results/rates/uniform.zarr.zip",
    log:
        "results/logs/fit_uniform/log.txt",
    benchmark:
        "results/benchmarks/fit_uniform/run.tsv"
    localrule: True
    conda:
        "../envs/fit_uniform.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        bootstrap=config["fit_rates"]["bootstrap"],
        misfit=config["fit_rates"]["misfit"],
        slope_tolerance=config["fit_uniform"]["slope_tolerance"],
        carriers=config["fit_uniform"]["carriers"],
        seed=config["seed"],
        code=code("fit_uniform.py", **config["fit_uniform"]),
    script:
        "../scripts/fit_uniform.py"


rule simulate_normality:
    output:
        normality="results/synthetic/normality.zarr.zip",
    log:
        "results/logs/simulate_normality/log.txt",
    benchmark:
        "results/benchmarks/simulate_normality/run.tsv"
    conda:
        "../envs/simulate_normality.yaml"
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=minutes("simulate_normality"),
    params:
        sizes=config["simulate_normality"]["sizes"],
        tilts=config["simulate_normality"]["tilts"],
        replicates=config["simulate_normality"]["replicates"],
        seed=config["seed"],
        code=code("simulate_normality.py", **config["simulate_normality"]),
    script:
        "../scripts/simulate_normality.py"


rule simulate_gaussian:
    output:
        errors="results/synthetic/gaussian.zarr.zip",
    log:
        "results/logs/simulate_gaussian/log.txt",
    benchmark:
        "results/benchmarks/simulate_gaussian/run.tsv"
    conda:
        "../envs/simulate_gaussian.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=minutes("simulate_gaussian"),
        gpu=gpus("simulate_gaussian"),
    params:
        dimensions=config["simulate_gaussian"]["dimensions"],
        condition=config["simulate_gaussian"]["condition"],
        scales=config["simulate_gaussian"]["scales"],
        sizes=config["simulate_gaussian"]["sizes"],
        replicates=config["simulate_gaussian"]["replicates"],
        group=config["simulate_gaussian"]["group"],
        nested=config["simulate_gaussian"]["nested"],
        dtype=config["simulate_gaussian"]["dtype"],
        device=config["device"],
        seed=config["seed"],
        code=code("simulate_gaussian.py", **config["simulate_gaussian"]),
    script:
        "../scripts/simulate_gaussian.py"


rule simulate_gaussian_published:
    output:
        errors="results/synthetic/gaussian_published.zarr.zip",
    log:
        "results/logs/simulate_gaussian_published/log.txt",
    benchmark:
        "results/benchmarks/simulate_gaussian_published/run.tsv"
    conda:
        "../envs/simulate_gaussian_published.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=minutes("simulate_gaussian_published"),
        gpu=gpus("simulate_gaussian_published"),
    params:
        dimension=config["simulate_gaussian_published"]["dimension"],
        variance=config["simulate_gaussian_published"]["variance"],
        scales=config["simulate_gaussian_published"]["scales"],
        sizes=config["simulate_gaussian_published"]["sizes"],
        replicates=config["simulate_gaussian_published"]["replicates"],
        group=config["simulate_gaussian_published"]["group"],
        nested=config["simulate_gaussian_published"]["nested"],
        references=config["simulate_gaussian_published"]["references"],
        reference_tokens=config["simulate_gaussian_published"]["reference_tokens"],
        dtype=config["simulate_gaussian_published"]["dtype"],
        device=config["device"],
        seed=config["seed"],
        code=code("simulate_gaussian_published.py", **config["simulate_gaussian_published"]),
    script:
        "../scripts/simulate_gaussian_published.py"


rule simulate_gaussian_asymptotic:
    output:
        errors="results/synthetic/gaussian_asymptotic.zarr.zip",
    log:
        "results/logs/simulate_gaussian_asymptotic/log.txt",
    benchmark:
        "results/benchmarks/simulate_gaussian_asymptotic/run.tsv"
    conda:
        "../envs/simulate_gaussian_asymptotic.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(60),
    params:
        horizons=config["simulate_gaussian_asymptotic"]["horizons"],
        sizes=config["simulate_gaussian_asymptotic"]["sizes"],
        replicates=config["simulate_gaussian_asymptotic"]["replicates"],
        group=config["simulate_gaussian_asymptotic"]["group"],
        bin_width=config["simulate_gaussian_asymptotic"]["bin_width"],
        seed=config["seed"],
        code=code("simulate_gaussian_asymptotic.py", **config["simulate_gaussian_asymptotic"]),
    script:
        "../scripts/simulate_gaussian_asymptotic.py"
