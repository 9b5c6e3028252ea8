"""A run from its features to its hypotheses: training, translating and parsing, with parts from all stages.

This package may import every stage, so that training can validate by translating without importing inference.
"""

import gc
import importlib

# Garbage collections during the import of torch find next to nothing, but take .2 s. Later ones skip frozen objects.
gc.disable()
importlib.import_module("torch")
gc.freeze()
gc.enable()
