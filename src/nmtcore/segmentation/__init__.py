"""Segmentation of words into subwords, and vocabularies."""
