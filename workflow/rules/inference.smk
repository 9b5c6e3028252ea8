# Translations and trees of one run, by one process; scores are computed from their files (evaluation.smk).


rule translate_tests:
    input:
        model=f"{RUN}/model",
        features=lambda wildcards: feature_files(
            run_of(wildcards), run_of(wildcards).tests
        ),
        corpus=lambda wildcards: [
            f"{DATA}/corpus/{split}.parquet" for split in run_of(wildcards).tests
        ],
    output:
        hypotheses=directory(f"{RUN}/hypotheses"),
    log:
        f"{LOGS}/{{scale}}{{dataset}}/{{system}}/seed{{seed}}.inference.log",
    benchmark:
        f"{BENCHMARKS}/{{scale}}{{dataset}}/{{system}}/seed{{seed}}.inference.tsv"
    conda:
        "../../envs/core.yaml"
    threads: SETTINGS.threads
    resources:
        mem_mb=8000,
        runtime=480,
        gpu=min(GPUS, 1),
    params:
        version=VERSIONS["inference"],
        run=run_param(inference_settings),
    script:
        "../scripts/translate_tests.py"


rule parse_gold:
    input:
        model=f"{RUN}/model",
        features=lambda wildcards: feature_files(
            run_of(wildcards), run_of(wildcards).gold
        ),
    output:
        parses=directory(f"{RUN}/gold"),
    log:
        f"{LOGS}/{{scale}}{{dataset}}/{{system}}/seed{{seed}}.gold.log",
    benchmark:
        f"{BENCHMARKS}/{{scale}}{{dataset}}/{{system}}/seed{{seed}}.gold.tsv"
    conda:
        "../../envs/core.yaml"
    threads: SETTINGS.threads
    resources:
        mem_mb=8000,
        runtime=120,
        gpu=min(GPUS, 1),
    params:
        version=VERSIONS["inference"],
        run=run_param(gold_settings),
    script:
        "../scripts/parse_gold.py"
