"""What Snakemake 9 said in a small run, cut to a few jobs."""

RECORDED = b"""\
Using workflow specific profile profiles/default for setting default command line arguments.
Assuming unrestricted shared filesystem usage.

Building DAG of jobs...
Using shell: /usr/bin/bash
Provided cores: 2
Rules claiming more threads will be scaled down.
Conda environments: ignored
Job stats:
job                 count
----------------  -------
fetch_corpus            1
compute_limits          2
measure_errors          4
merge_limits            2
plot_hardmax            1
all                     1
total                  11

Select jobs to execute...
Execute 1 jobs...

[Tue Nov 17 09:26:56 2026]
localrule fetch_corpus:
    output: results/corpus/articles.parquet
    log: results/logs/fetch_corpus/log.txt
    jobid: 6
    benchmark: results/benchmarks/fetch_corpus/run.tsv
    reason: Missing output files: results/corpus/articles.parquet
    priority: 10
    resources: tmpdir=/tmp, runtime=30, mem_mb=1000, mem=1 GB, mem_mib=954
Select jobs to execute...
[Tue Nov 17 09:27:03 2026]
Finished jobid: 6 (Rule: fetch_corpus)
1 of 11 steps (9%) done
Execute 1 jobs...

[Tue Nov 17 09:29:36 2026]
localrule compute_limits:
    input: results/corpus/blocks.zarr.zip, results/models/heads.zarr.zip, results/embeddings/shard_0.zarr.zip
    output: results/limits/parts/layer_5_part_0.zarr.zip
    log: results/logs/compute_limits/layer_5_part_0.txt
    jobid: 19
    benchmark: results/benchmarks/compute_limits/layer_5_part_0.tsv
    reason: Missing output files: results/limits/parts/layer_5_part_0.zarr.zip
    wildcards: layer=5, part=0
    resources: tmpdir=/tmp, runtime=10, gpu=0, mem_mb=1304, mem=1.3 GB, mem_mib=1244
Select jobs to execute...
[Tue Nov 17 09:29:45 2026]
Finished jobid: 19 (Rule: compute_limits)
2 of 11 steps (18%) done
Execute 1 jobs...

[Tue Nov 17 09:29:45 2026]
localrule merge_limits:
    input: results/limits/parts/layer_5_part_0.zarr.zip
    output: results/limits/layer_5.zarr.zip
    log: results/logs/merge_limits/layer_5.txt
    jobid: 18
    benchmark: results/benchmarks/merge_limits/layer_5.tsv
    reason: Missing output files: results/limits/layer_5.zarr.zip
    wildcards: layer=5
    resources: tmpdir=/tmp, runtime=10, mem_mb=1311, mem=1.31 GB, mem_mib=1251
Select jobs to execute...
[Tue Nov 17 09:29:49 2026]
Finished jobid: 18 (Rule: merge_limits)
3 of 11 steps (27%) done
Execute 1 jobs...

[Tue Nov 17 09:29:49 2026]
localrule measure_errors:
    input: results/models/heads.zarr.zip, results/embeddings/shard_0.zarr.zip, results/limits/layer_5.zarr.zip
    output: results/errors/parts/layer_5_part_1.zarr.zip
    log: results/logs/measure_errors/layer_5_part_1.txt
    jobid: 20
    benchmark: results/benchmarks/measure_errors/layer_5_part_1.tsv
    reason: Missing output files: results/errors/parts/layer_5_part_1.zarr.zip
    wildcards: layer=5, part=1
    resources: tmpdir=/tmp, runtime=10, gpu=0, mem_mb=1302, mem=1.3 GB, mem_mib=1242
Select jobs to execute...
"""
