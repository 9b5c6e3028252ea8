"""Cut the words of one side of a split, or its linearised parses, into subwords and look up their ids."""

from nmtcore.config.segmentation import SegmentationSettings
from nmtcore.features.extract import extract_subwords
from nmtcore.features.schema import LINEARISED_TOKENS_SCHEMA
from nmtcore.job import run_job

names = snakemake.wildcards
if hasattr(names, "side"):
    of = {"column": f"{names.side}_words"}
else:
    of = {"column": "brackets", "side": "target", "schema": LINEARISED_TOKENS_SCHEMA}
run_job(extract_subwords, snakemake, settings=SegmentationSettings.parse(names.segmentation), **of)
