"""Components that add syntax to a model: one file per component, and `base.py` for their interface."""
