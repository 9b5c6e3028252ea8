"""A run from its features to its scores: what workflow, torchrun and command line put together of all stages.

Stands to the right of the stages, so that training can validate by translating without importing inference.
"""
