"""Checks of a data set that depend on other files."""

import re

from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.formats import corpus_options
from nmtcore.config.named_files import NamedFiles
from nmtcore.errors import UserError, quoted
from nmtcore.layout import NAME, SELECTION


def check_names(dataset: DatasetSettings, datasets: NamedFiles, *, where: str) -> None:
    """Raise `UserError` if a name that becomes part of a path does not match `NAME`, or a reference is unknown."""
    if dataset.segmentation_from:
        datasets.check(dataset.segmentation_from, where=f"{where}: segmentation_from")
    if SELECTION in dataset.annotators:
        raise UserError(
            f"{where}: an annotator cannot be called '{SELECTION}', which is the name of a folder of the data set."
        )
    for noun, names in (("split", dataset.splits), ("annotator", dataset.annotators), ("corpus", dataset.corpora)):
        for name in names:
            if not re.fullmatch(NAME, name):
                raise UserError(
                    f"{where}: the {noun} name {quoted(name)} is not valid: use small letters, digits and single "
                    "underscores."
                )
    for name, corpus in dataset.corpora.items():
        corpus_options(corpus.format, corpus.options, corpus.files, where=f"{where}: corpora.{name}")
