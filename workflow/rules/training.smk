# One model a run. Checkpoints lie beside the outputs, undeclared, so that Snakemake never deletes them.


rule train_model:
    input:
        features=training_features,
        start=lambda wildcards: start_model(run_of(wildcards)),
        labels=lambda wildcards: [
            path
            for files in label_files(run_of(wildcards)).values()
            for path in files.values()
        ],
        dev=f"{DATA}/corpus/dev.parquet",
        segmentation=lambda wildcards: segmentation_folder(
            wildcards.dataset, run_of(wildcards).segmentation.name
        ),
    output:
        model=directory(f"{RUN}/model"),
        history=f"{RUN}/training.jsonl",
    log:
        f"{LOGS}/{{scale}}{{dataset}}/{{system}}/seed{{seed}}.training.log",
    benchmark:
        f"{BENCHMARKS}/{{scale}}{{dataset}}/{{system}}/seed{{seed}}.training.tsv"
    conda:
        "../../envs/core.yaml"
    # Each process of a training on several GPUs loads the corpus and has threads of its own.
    threads: SETTINGS.threads * max(1, GPUS)
    resources:
        mem_mb=8000 * max(1, GPUS),
        runtime=1440,
        gpu=GPUS,
        # Five minutes before its time is up Slurm tells the job, which saves itself. Here, not in the profile's default
        # resources, which a user's own --default-resources would replace.
        slurm_extra="--signal=USR1@300",
    params:
        version=VERSIONS["training"],
        run=run_param(training_settings),
        labels=lambda wildcards: label_files(run_of(wildcards)),
        checkpoints=f"{RUN}/checkpoints",
    script:
        "../scripts/train_model.py"
