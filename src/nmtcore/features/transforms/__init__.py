"""Transforms of examples for training and translation."""
