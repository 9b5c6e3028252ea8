"""Syntax in neural machine translation: corpora, trees, models and scores."""

__version__ = "0.1.0"
