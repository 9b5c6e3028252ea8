"""Learn a segmentation from the training split."""

from pathlib import Path

from nmtcore.config.segmentation import SegmentationSettings
from nmtcore.job import job, job_settings
from nmtcore.segmentation.learn import learn_segmentation

with job(snakemake):
    layout = job_settings(snakemake).layout
    learn_segmentation(
        Path(snakemake.input.corpus),
        SegmentationSettings.parse(snakemake.wildcards.segmentation),
        Path(snakemake.output[0]),
        selection=Path(snakemake.input.selection[0]) if snakemake.input.selection else None,
        truecasers={layout.names(path, "truecaser")["side"]: Path(path) for path in snakemake.input.truecasers},
        linearised_parses=Path(snakemake.input.linearised_parses[0]) if snakemake.input.linearised_parses else None,
    )
