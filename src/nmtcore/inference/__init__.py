"""Inference with trained models: bundles, beam search, parsing, attention maps."""
