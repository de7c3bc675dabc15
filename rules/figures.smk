# Figures: they draw stored numbers, and curves of formulas through their one definition; they measure nothing.
# INPUTS   results/rates/{source}.zarr.zip, results/synthetic/{source}.zarr.zip, results/tails/layer_{layer}.zarr.zip,
#          results/ablation/errors.zarr.zip
# OUTPUTS  results/figures/{figure}.{pdf,svg,png}


rule plot_convergence:
    input:
        rates="results/rates/bert.zarr.zip",
    output:
        pdf="results/figures/convergence.pdf",
        svg="results/figures/convergence.svg",
        png=report(
            "results/figures/convergence.png",
            caption="report/convergence.rst",
            category="3 Figures",
            labels={"tokens": "BERT", "figure": "error against n, per layer"},
        ),
    log:
        "results/logs/plot_convergence/log.txt",
    benchmark:
        "results/benchmarks/plot_convergence/run.tsv"
    localrule: True
    conda:
        "../envs/plot_convergence.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("plot_convergence.py"),
    script:
        "../scripts/plot_convergence.py"


rule plot_beta_vs_horizon:
    input:
        rates="results/rates/bert.zarr.zip",
        gaussian="results/rates/gaussian.zarr.zip",
        counted="results/rates/gaussian_asymptotic.zarr.zip",
        errors="results/synthetic/gaussian.zarr.zip",
    output:
        pdf="results/figures/beta_vs_horizon.pdf",
        svg="results/figures/beta_vs_horizon.svg",
        png=report(
            "results/figures/beta_vs_horizon.png",
            caption="report/beta_vs_horizon.rst",
            category="3 Figures",
            labels={"tokens": "BERT, Gaussian", "figure": "rate against horizon, per head"},
        ),
    log:
        "results/logs/plot_beta_vs_horizon/log.txt",
    benchmark:
        "results/benchmarks/plot_beta_vs_horizon/run.tsv"
    localrule: True
    conda:
        "../envs/plot_beta_vs_horizon.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("plot_beta_vs_horizon.py"),
    script:
        "../scripts/plot_beta_vs_horizon.py"


rule plot_heat_map:
    input:
        rates="results/rates/bert.zarr.zip",
    output:
        pdf="results/figures/heat_map.pdf",
        svg="results/figures/heat_map.svg",
        png=report(
            "results/figures/heat_map.png",
            caption="report/heat_map.rst",
            category="3 Figures",
            labels={"tokens": "BERT", "figure": "rate and horizon, layer by head"},
        ),
    log:
        "results/logs/plot_heat_map/log.txt",
    benchmark:
        "results/benchmarks/plot_heat_map/run.tsv"
    localrule: True
    conda:
        "../envs/plot_heat_map.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("plot_heat_map.py"),
    script:
        "../scripts/plot_heat_map.py"


rule plot_local_slopes:
    input:
        rates="results/rates/bert.zarr.zip",
    output:
        pdf="results/figures/local_slopes.pdf",
        svg="results/figures/local_slopes.svg",
        png=report(
            "results/figures/local_slopes.png",
            caption="report/local_slopes.rst",
            category="3 Figures",
            labels={"tokens": "BERT", "figure": "slopes between sizes, per layer"},
        ),
    log:
        "results/logs/plot_local_slopes/log.txt",
    benchmark:
        "results/benchmarks/plot_local_slopes/run.tsv"
    localrule: True
    conda:
        "../envs/plot_local_slopes.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("plot_local_slopes.py"),
    script:
        "../scripts/plot_local_slopes.py"


rule plot_bias_fluctuation:
    input:
        rates="results/rates/bert.zarr.zip",
    output:
        pdf="results/figures/bias_fluctuation.pdf",
        svg="results/figures/bias_fluctuation.svg",
        png=report(
            "results/figures/bias_fluctuation.png",
            caption="report/bias_fluctuation.rst",
            category="3 Figures",
            labels={"tokens": "BERT", "figure": "bias and fluctuation, chosen heads"},
        ),
    log:
        "results/logs/plot_bias_fluctuation/log.txt",
    benchmark:
        "results/benchmarks/plot_bias_fluctuation/run.tsv"
    localrule: True
    conda:
        "../envs/plot_bias_fluctuation.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("plot_bias_fluctuation.py"),
    script:
        "../scripts/plot_bias_fluctuation.py"


rule plot_sphere_beta_vs_horizon:
    input:
        errors="results/synthetic/sphere.zarr.zip",
        rates="results/rates/sphere.zarr.zip",
    output:
        pdf="results/figures/sphere_beta_vs_horizon.pdf",
        svg="results/figures/sphere_beta_vs_horizon.svg",
        png=report(
            "results/figures/sphere_beta_vs_horizon.png",
            caption="report/sphere_beta_vs_horizon.rst",
            category="3 Figures",
            labels={"tokens": "sphere", "figure": "rate against horizon"},
        ),
    log:
        "results/logs/plot_sphere_beta_vs_horizon/log.txt",
    benchmark:
        "results/benchmarks/plot_sphere_beta_vs_horizon/run.tsv"
    localrule: True
    conda:
        "../envs/plot_sphere_beta_vs_horizon.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("plot_sphere_beta_vs_horizon.py"),
    script:
        "../scripts/plot_sphere_beta_vs_horizon.py"


rule plot_hardmax:
    input:
        hardmax="results/synthetic/hardmax.zarr.zip",
    output:
        pdf="results/figures/hardmax.pdf",
        svg="results/figures/hardmax.svg",
        png=report(
            "results/figures/hardmax.png",
            caption="report/hardmax.rst",
            category="3 Figures",
            labels={"tokens": "Gaussian", "figure": "hardmax: error against n, by dimension"},
        ),
    log:
        "results/logs/plot_hardmax/log.txt",
    benchmark:
        "results/benchmarks/plot_hardmax/run.tsv"
    localrule: True
    conda:
        "../envs/plot_hardmax.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("plot_hardmax.py"),
    script:
        "../scripts/plot_hardmax.py"


rule plot_uniform:
    input:
        rates="results/rates/uniform.zarr.zip",
    output:
        pdf="results/figures/uniform.pdf",
        svg="results/figures/uniform.svg",
        png=report(
            "results/figures/uniform.png",
            caption="report/uniform.rst",
            category="3 Figures",
            labels={"tokens": "Gaussian", "figure": "largest error over a ball"},
        ),
    log:
        "results/logs/plot_uniform/log.txt",
    benchmark:
        "results/benchmarks/plot_uniform/run.tsv"
    localrule: True
    conda:
        "../envs/plot_uniform.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("plot_uniform.py"),
    script:
        "../scripts/plot_uniform.py"


rule plot_normality:
    input:
        normality="results/synthetic/normality.zarr.zip",
    output:
        pdf="results/figures/normality.pdf",
        svg="results/figures/normality.svg",
        png=report(
            "results/figures/normality.png",
            caption="report/normality.rst",
            category="3 Figures",
            labels={"tokens": "Gaussian", "figure": "normality at one query"},
        ),
    log:
        "results/logs/plot_normality/log.txt",
    benchmark:
        "results/benchmarks/plot_normality/run.tsv"
    localrule: True
    conda:
        "../envs/plot_normality.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("plot_normality.py"),
    script:
        "../scripts/plot_normality.py"


rule plot_gaussian_beta_vs_horizon:
    input:
        rates="results/rates/gaussian.zarr.zip",
        errors="results/synthetic/gaussian.zarr.zip",
    output:
        pdf="results/figures/gaussian_beta_vs_horizon.pdf",
        svg="results/figures/gaussian_beta_vs_horizon.svg",
        png=report(
            "results/figures/gaussian_beta_vs_horizon.png",
            caption="report/gaussian_beta_vs_horizon.rst",
            category="3 Figures",
            labels={"tokens": "Gaussian", "figure": "rate against horizon, by dimension"},
        ),
    log:
        "results/logs/plot_gaussian_beta_vs_horizon/log.txt",
    benchmark:
        "results/benchmarks/plot_gaussian_beta_vs_horizon/run.tsv"
    localrule: True
    conda:
        "../envs/plot_gaussian_beta_vs_horizon.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("plot_gaussian_beta_vs_horizon.py"),
    script:
        "../scripts/plot_gaussian_beta_vs_horizon.py"


rule plot_gaussian_local_slopes:
    input:
        rates="results/rates/gaussian.zarr.zip",
        counted="results/rates/gaussian_asymptotic.zarr.zip",
        errors="results/synthetic/gaussian.zarr.zip",
    output:
        pdf="results/figures/gaussian_local_slopes.pdf",
        svg="results/figures/gaussian_local_slopes.svg",
        png=report(
            "results/figures/gaussian_local_slopes.png",
            caption="report/gaussian_local_slopes.rst",
            category="3 Figures",
            labels={"tokens": "Gaussian", "figure": "slopes between sizes"},
        ),
    log:
        "results/logs/plot_gaussian_local_slopes/log.txt",
    benchmark:
        "results/benchmarks/plot_gaussian_local_slopes/run.tsv"
    localrule: True
    conda:
        "../envs/plot_gaussian_local_slopes.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("plot_gaussian_local_slopes.py"),
    script:
        "../scripts/plot_gaussian_local_slopes.py"


rule plot_gaussian_protocol:
    input:
        rates="results/rates/gaussian_published.zarr.zip",
        errors="results/synthetic/gaussian_published.zarr.zip",
    output:
        pdf="results/figures/gaussian_protocol.pdf",
        svg="results/figures/gaussian_protocol.svg",
        png=report(
            "results/figures/gaussian_protocol.png",
            caption="report/gaussian_protocol.rst",
            category="3 Figures",
            labels={"tokens": "Gaussian", "figure": "exact against finite reference"},
        ),
    log:
        "results/logs/plot_gaussian_protocol/log.txt",
    benchmark:
        "results/benchmarks/plot_gaussian_protocol/run.tsv"
    localrule: True
    conda:
        "../envs/plot_gaussian_protocol.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("plot_gaussian_protocol.py"),
    script:
        "../scripts/plot_gaussian_protocol.py"


rule plot_gaussian_asymptotic:
    input:
        rates="results/rates/gaussian_asymptotic.zarr.zip",
        errors="results/synthetic/gaussian_asymptotic.zarr.zip",
    output:
        pdf="results/figures/gaussian_asymptotic.pdf",
        svg="results/figures/gaussian_asymptotic.svg",
        png=report(
            "results/figures/gaussian_asymptotic.png",
            caption="report/gaussian_asymptotic.rst",
            category="3 Figures",
            labels={"tokens": "Gaussian", "figure": "rate up to ten thousand million tokens, d = 1"},
        ),
    log:
        "results/logs/plot_gaussian_asymptotic/log.txt",
    benchmark:
        "results/benchmarks/plot_gaussian_asymptotic/run.tsv"
    localrule: True
    conda:
        "../envs/plot_gaussian_asymptotic.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("plot_gaussian_asymptotic.py"),
    script:
        "../scripts/plot_gaussian_asymptotic.py"


rule plot_tails:
    input:
        tails=expand("results/tails/layer_{layer}.zarr.zip", layer=LAYERS),
    output:
        pdf="results/figures/tails.pdf",
        svg="results/figures/tails.svg",
        png=report(
            "results/figures/tails.png",
            caption="report/tails.rst",
            category="3 Figures",
            labels={"figure": "spectrum and tails of the tokens, per layer and head"},
        ),
    log:
        "results/logs/plot_tails/log.txt",
    benchmark:
        "results/benchmarks/plot_tails/run.tsv"
    localrule: True
    conda:
        "../envs/plot_tails.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("plot_tails.py"),
    script:
        "../scripts/plot_tails.py"


rule plot_ablation:
    input:
        rates="results/rates/ablation.zarr.zip",
        errors="results/ablation/errors.zarr.zip",
    output:
        pdf="results/figures/ablation.pdf",
        svg="results/figures/ablation.svg",
        png=report(
            "results/figures/ablation.png",
            caption="report/ablation.rst",
            category="3 Figures",
            labels={"figure": "rate of chosen heads, A scaled"},
        ),
    log:
        "results/logs/plot_ablation/log.txt",
    benchmark:
        "results/benchmarks/plot_ablation/run.tsv"
    localrule: True
    conda:
        "../envs/plot_ablation.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("plot_ablation.py"),
    script:
        "../scripts/plot_ablation.py"
