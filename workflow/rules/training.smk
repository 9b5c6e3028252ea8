# One model per run, imported or trained. Its checkpoints are not declared as outputs, so that Snakemake never deletes them.
from nmtcore.planning.training import (
    label_files,
    label_paths,
    published_model,
    segmentation_of_run,
    start_model,
    training_features,
)


rule train_model:
    input:
        features=planned(training_features),
        start=planned(start_model),
        labels=planned(label_paths),
        dev=LAYOUT.pattern("pairs", split="dev"),
        segmentation=planned(segmentation_of_run),
    output:
        model=directory(LAYOUT.pattern("model")),
        history=LAYOUT.pattern("history"),
    wildcard_constraints:
        system=TRAINED,
    # In training on several GPUs, each process has its own threads, and loads the corpus.
    threads: SETTINGS.threads * max(1, GPUS)
    resources:
        mem_mb=8000 * max(1, GPUS),
        runtime=1440,
        # All slots of so many GPUs, or with an executor the GPUs themselves
        gpu=(GPUS if GPUS < 2 else lambda wildcards: GPUS * (jobs_per_gpu() or 1)),
        # Five minutes before the time limit, Slurm sends a signal and the job saves a checkpoint. This is not set in
        # the profile's default resources because a user's own --default-resources would replace them.
        slurm_extra="--signal=USR1@300",
    params:
        **run_params(training_settings, *TRAINING),
        labels=planned(label_files),
        checkpoints=LAYOUT.pattern("checkpoints"),
    script:
        "../scripts/train_model.py"


rule import_model:
    input:
        published=planned(published_model),
        segmentation=planned(segmentation_of_run),
    output:
        model=directory(LAYOUT.pattern("model")),
    wildcard_constraints:
        system=IMPORTED,
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        **run_params(training_settings, "imported", "model", "words"),
    script:
        "../scripts/import_model.py"
