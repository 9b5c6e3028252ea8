from pathlib import Path

from nmtcore.experiment.launch import launch
from nmtcore.experiment.training import TrainingJob
from nmtcore.job import job, project_settings

with job(snakemake) as terminal:
    settings = project_settings(snakemake)
    launch(
        TrainingJob(
            run=snakemake.params.run[0],
            features=str(Path(snakemake.input.features[0]).parent),
            segmentation=str(snakemake.input.segmentation),
            labels=snakemake.params.labels,
            dev_corpus=str(snakemake.input.dev),
            checkpoints=str(snakemake.params.checkpoints),
            model=str(snakemake.output.model),
            history=str(snakemake.output.history),
            device=settings.device,
            gpus=settings.gpus,
            threads=snakemake.threads,
            start=str(snakemake.input.start[0]) if snakemake.input.start else None,
        ),
        terminal=terminal,
    )
