"""What things may be called, and the names of folders of results/ that none of them may have."""

NAME = r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*"
"""What data sets, systems, recipes and scales may be called."""

STAGES = ("corpus", "annotation", "segmentation", "features")
"""Folders of a data set beside those of its systems, so no system may have such a name."""

SELECTION = "selection"
"""The folder beside those of annotators that says which training pairs are used."""

RESERVED = ("tables", "figures", "logs", "benchmarks")
"""Folders of results/ beside those of the data sets and scales."""
