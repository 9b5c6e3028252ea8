"""Do a job that is one call of a function, which depends on what the job makes: the type of its first output."""

from importlib import import_module

from nmtcore.job import job_settings, run_job

FUNCTIONS = {
    "annotation": "annotation.shards.gather_shards",
    "attention": "experiment.measure.measure_attention",
    "brackets": "annotation.labels.write_linearised_parses",
    "comet_counts": "evaluation.scores.score_comet",
    "contrast_scores": "experiment.measure.measure_contrasts",
    "contrasts": "corpus.contrasts.list_contrasts",
    "demo_text": "reporting.demo_results.write_demo",
    "gates": "experiment.measure.measure_gates",
    "gold_parses": "experiment.inference.parse_gold",
    "gold_scores": "evaluation.scores.score_gold",
    "head_scores": "experiment.measure.measure_heads",
    "hypotheses": "experiment.inference.translate_split",
    "labels": "annotation.labels.label_vocabularies",
    "pairs_in_train": "corpus.filters.count_in_train",
    "report": "reporting.report.page.write_report",
    "segmentation": "segmentation.learn.learn_segmentation",
    "summary": "evaluation.summary.write_summary",
    "syntax": "features.extract.extract_syntax",
}

made = job_settings(snakemake).layout.parse(snakemake.output[0]).file_type
module, _, function = FUNCTIONS[made].rpartition(".")
run_job(getattr(import_module(f"nmtcore.{module}"), function), snakemake)
