# Simulated tokens, whose limits have closed forms.
# INPUTS   none
# OUTPUTS  results/synthetic/parts/{cut}_part_{part}.zarr.zip   some settings of sphere, gaussian or gaussian_published
#          results/synthetic/sphere.zarr.zip    error (setting, statistic, replicate, n), limit_scale (setting, statistic); {mean,cov}_gram
#                                               (setting, n, group, group_2); horizon, psi, …, scale, published, attended (setting)
#          results/synthetic/hardmax.zarr.zip   {line,plane}_error (n, replicate_…), direct_error (dimension, n_direct, replicate_direct)
#          results/rates/hardmax.zarr.zip       …_value, …_value_se, …_local_slope, …_local_power; expected, proposition, ratio (n);
#                                               log_power, log_chi2, power_chi2
#          results/synthetic/uniform.zarr.zip     sup, sup_coarse, effective (setting, replicate, n), a setting a law
#                                                 and radius, NaN where not run; law, clt_edge, clt_sup (setting)
#          results/rates/uniform.zarr.zip         beta, chi2, … (setting), constant, reached, … (setting, n),
#                                                 growth, change_low, total_growth, upper_growth, … (of_law)
#          results/synthetic/normality.zarr.zip   deviation, plug_in, effective (setting, n, replicate, …), a setting a tilt
#          results/rates/normality.zarr.zip       variance_ratio, n_bias, coverage, distance, … (setting, n, coordinate)
#          results/rates/constants.zarr.zip       power, {power,exponential,mixed,polynomial}_chi2, radii, … (statistic), from the sphere
#          results/synthetic/gaussian.zarr.zip              as sphere; dimension, isotropic (setting)
#          results/synthetic/gaussian_published.zarr.zip    as sphere; exact (setting): against the closed form, or a finite sample
#          results/synthetic/gaussian_asymptotic.zarr.zip   as sphere; {mean,cov}_wide_bins (setting, replicate, n),
#                                                           {mean,cov}_discretisation (setting, n)


rule simulate_sphere:
    output:
        errors="results/synthetic/parts/sphere_part_{part}.zarr.zip",
    log:
        "results/logs/simulate_sphere/part_{part}.txt",
    benchmark:
        "results/benchmarks/simulate_sphere/part_{part}.tsv"
    conda:
        "../envs/simulate_sphere.yaml"
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=minutes("simulate_sphere"),
        gpu=gpus("simulate_sphere"),
    params:
        job=job(
            "simulate_sphere",
            part=lambda wildcards: int(wildcards.part),
            settings=config["simulate_sphere"],
            seed=config["seed"],
            device=config["device"],
        ),
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
        job=job(
            "simulate_hardmax",
            settings=config["simulate_hardmax"],
            seed=config["seed"],
        ),
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
        job=job(
            "simulate_uniform",
            settings=config["simulate_uniform"],
            seed=config["seed"],
        ),
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
        job=job(
            "fit_uniform",
            settings=config["fit_uniform"] | only(config["fit_rates"], "bootstrap", "misfit"),
            seed=config["seed"],
        ),
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
        job=job(
            "simulate_normality",
            settings=config["simulate_normality"],
            seed=config["seed"],
        ),
    script:
        "../scripts/simulate_normality.py"


rule simulate_gaussian:
    output:
        errors="results/synthetic/parts/gaussian_part_{part}.zarr.zip",
    log:
        "results/logs/simulate_gaussian/part_{part}.txt",
    benchmark:
        "results/benchmarks/simulate_gaussian/part_{part}.tsv"
    conda:
        "../envs/simulate_gaussian.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=minutes("simulate_gaussian"),
        gpu=gpus("simulate_gaussian"),
    params:
        job=job(
            "simulate_gaussian",
            part=lambda wildcards: int(wildcards.part),
            settings=config["simulate_gaussian"],
            seed=config["seed"],
            device=config["device"],
        ),
    script:
        "../scripts/simulate_gaussian.py"


rule simulate_gaussian_published:
    output:
        errors="results/synthetic/parts/gaussian_published_part_{part}.zarr.zip",
    log:
        "results/logs/simulate_gaussian_published/part_{part}.txt",
    benchmark:
        "results/benchmarks/simulate_gaussian_published/part_{part}.tsv"
    conda:
        "../envs/simulate_gaussian_published.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=minutes("simulate_gaussian_published"),
        gpu=gpus("simulate_gaussian_published"),
    params:
        job=job(
            "simulate_gaussian_published",
            part=lambda wildcards: int(wildcards.part),
            settings=config["simulate_gaussian_published"],
            seed=config["seed"],
            device=config["device"],
        ),
    script:
        "../scripts/simulate_gaussian_published.py"


rule merge_simulations:
    input:
        errors=lambda wildcards: expand(
            "results/synthetic/parts/{{cut}}_part_{part}.zarr.zip", part=SIMULATION_PARTS[wildcards.cut]
        ),
    output:
        errors="results/synthetic/{cut}.zarr.zip",
    log:
        "results/logs/merge_simulations/{cut}.txt",
    benchmark:
        "results/benchmarks/merge_simulations/{cut}.tsv"
    localrule: True
    conda:
        "../envs/merge_simulations.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job("merge_simulations"),
    script:
        "../scripts/merge_simulations.py"


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
        job=job(
            "simulate_gaussian_asymptotic",
            settings=config["simulate_gaussian_asymptotic"],
            seed=config["seed"],
        ),
    script:
        "../scripts/simulate_gaussian_asymptotic.py"


rule fit_hardmax:
    input:
        hardmax="results/synthetic/hardmax.zarr.zip",
    output:
        rates="results/rates/hardmax.zarr.zip",
    log:
        "results/logs/fit_hardmax/log.txt",
    benchmark:
        "results/benchmarks/fit_hardmax/run.tsv"
    localrule: True
    conda:
        "../envs/fit_hardmax.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "fit_hardmax",
            settings=config["fit_hardmax"],
        ),
    script:
        "../scripts/fit_hardmax.py"


rule fit_normality:
    input:
        normality="results/synthetic/normality.zarr.zip",
    output:
        rates="results/rates/normality.zarr.zip",
    log:
        "results/logs/fit_normality/log.txt",
    benchmark:
        "results/benchmarks/fit_normality/run.tsv"
    localrule: True
    conda:
        "../envs/fit_normality.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job("fit_normality"),
    script:
        "../scripts/fit_normality.py"


rule fit_constants:
    input:
        errors="results/synthetic/sphere.zarr.zip",
        rates="results/rates/sphere.zarr.zip",
    output:
        rates="results/rates/constants.zarr.zip",
    log:
        "results/logs/fit_constants/log.txt",
    benchmark:
        "results/benchmarks/fit_constants/run.tsv"
    localrule: True
    conda:
        "../envs/fit_constants.yaml"
    threads: 1
    resources:
        **SMALL,
    params:
        job=job(
            "fit_constants",
            settings=only(config["fit_rates"], "bootstrap")
            | only(config["assess_claims"], "slope_tolerance", "polynomial_degree"),
            seed=config["seed"],
        ),
    script:
        "../scripts/fit_constants.py"
