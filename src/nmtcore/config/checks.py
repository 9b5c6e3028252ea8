"""Checks of a data set that need to know of other files."""

import re

from nmtcore.config.corpora import SIDES
from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.formats import corpus_options
from nmtcore.config.named_files import NamedFiles
from nmtcore.config.typed import choose
from nmtcore.errors import UserError
from nmtcore.layout import NAME, SELECTION


def check_names(dataset: DatasetSettings, datasets: NamedFiles, *, where: str) -> None:
    """Names become parts of paths, so they are held to one pattern; those of other things must be known."""
    if dataset.segmentation_from:
        datasets.check(dataset.segmentation_from, where=f"{where}: segmentation_from")
    if SELECTION in dataset.annotators:
        raise UserError(f"{where}: no annotator can be called '{SELECTION}': a folder of the data set is.")
    for kind, names in (("split", dataset.splits), ("annotator", dataset.annotators), ("corpus", dataset.corpora)):
        for name in names:
            if not re.fullmatch(NAME, name):
                raise UserError(
                    f"{where}: a {kind} cannot be called '{name}': small letters, digits and single underscores only."
                )
    for side in dataset.words:
        choose(side, SIDES, what="side", where=f"{where}: words")
    for name, corpus in dataset.corpora.items():
        place = f"{where}: corpora.{name}"
        corpus_options(corpus.format, corpus.options, corpus.files, where=place)
