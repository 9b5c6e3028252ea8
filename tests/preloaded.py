"""Imported by the process that tests/forked.py forks: what calls of Snakemake, its jobs and `nmtcore` import."""

import gc
import importlib

from forking_snakemake import preload

for name in ("pytest", "nmtcore.cli", "nmtcore.planning.configured", "nmtcore.planning.targets", "snakemake.cli"):
    importlib.import_module(name)
preload()
gc.collect()
gc.freeze()  # out of the garbage collections of calls
