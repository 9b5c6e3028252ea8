"""Measure the model of a run on a split: its attention, its gates, its heads as parsers, or contrastive pairs."""

from pathlib import Path

from nmtcore.experiment import measure
from nmtcore.job import job, job_settings, model_arguments, optional_path

with job(snakemake):
    measured = measure.ModelOnSplit(**model_arguments(snakemake), split=snakemake.wildcards.split)
    inputs, output = snakemake.input, Path(snakemake.output[0])
    match job_settings(snakemake).layout.parse(output).file_type:
        case "attention":
            measure.measure_attention(measured, sentences=snakemake.params.sentences, output=output)
        case "gates":
            measure.measure_gates(measured, tags=optional_path(inputs.tags), output=output)
        case "head_scores":
            corpus, trees = map(Path, inputs.treebank)
            measure.measure_heads(measured, corpus=corpus, trees=trees, output=output)
        case "contrast_scores":
            measure.measure_contrasts(measured, contrasts=Path(inputs.contrasts), output=output)
