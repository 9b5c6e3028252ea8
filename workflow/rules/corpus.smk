# Download, read and filter parallel text.


rule download:
    output:
        file=f"{DOWNLOADS}/{{file}}",
        record=f"{DOWNLOADS}/{{file}}.json",
    log:
        f"{LOGS}/download/{{file}}.log",
    benchmark:
        f"{BENCHMARKS}/download/{{file}}.tsv"
    wildcard_constraints:
        file=r".+(?<!\.json)",
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=1000,
        runtime=240,
    params:
        version=VERSIONS["download"],
        file=file_param,
    script:
        "../scripts/download.py"


rule read_split:
    input:
        split_files,
    output:
        pairs=f"{DATA}/corpus/raw/{{split}}.parquet",
        report=f"{DATA}/corpus/raw/{{split}}.json",
    log:
        f"{LOGS}/{{dataset}}/corpus/raw.{{split}}.log",
    benchmark:
        f"{BENCHMARKS}/{{dataset}}/corpus/raw.{{split}}.tsv"
    conda:
        "../../envs/core.yaml"
    threads: 2
    resources:
        mem_mb=2000,
        runtime=240,
    params:
        version=VERSIONS["corpus"],
        settings=reading_param,
    script:
        "../scripts/read_split.py"


rule learn_truecaser:
    input:
        f"{DATA}/corpus/raw/train.parquet",
    output:
        f"{DATA}/corpus/truecase.{{side}}.txt",
    log:
        f"{LOGS}/{{dataset}}/corpus/truecase.{{side}}.log",
    benchmark:
        f"{BENCHMARKS}/{{dataset}}/corpus/truecase.{{side}}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=4000,
        runtime=120,
    params:
        version=VERSIONS["corpus"],
    script:
        "../scripts/learn_truecaser.py"


rule filter_split:
    input:
        raw=f"{DATA}/corpus/raw/{{split}}.parquet",
        others=other_splits,
        truecasers=truecasers,
    output:
        pairs=f"{DATA}/corpus/{{split}}.parquet",
        report=f"{DATA}/corpus/{{split}}.json",
    log:
        f"{LOGS}/{{dataset}}/corpus/{{split}}.log",
    benchmark:
        f"{BENCHMARKS}/{{dataset}}/corpus/{{split}}.tsv"
    conda:
        "../../envs/core.yaml"
    threads: filter_threads
    resources:
        mem_mb=lambda wildcards, threads: 1500 + 500 * threads,
        runtime=240,
    params:
        version=VERSIONS["corpus"],
        settings=filtering_param,
    script:
        "../scripts/filter_split.py"
