"""Cut the words of one side of a split, or its linearised parses, into subwords and look up their ids."""

from nmtcore.features.examples import LINEARISED_TOKENS_SCHEMA
from nmtcore.features.extract import extract_subwords
from nmtcore.job import run_job

side = getattr(snakemake.wildcards, "side", None)
linearised = {"column": "brackets", "side": "target", "schema": LINEARISED_TOKENS_SCHEMA}
run_job(extract_subwords, snakemake, **({"column": f"{side}_words"} if side else linearised))
