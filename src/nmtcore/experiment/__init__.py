"""A run from its features to its hypotheses: training, translating and parsing, with parts from all stages.

This package may import every stage, so that training can validate by translating without importing inference.
"""
