"""The sizes of splits, in sentence pairs and subwords, as far as they are known before the data are prepared."""

from dataclasses import dataclass, field
from pathlib import Path

from nmtcore.config.corpora import PartSettings
from nmtcore.config.formats import DemoOptions, corpus_options
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.errors import UserError
from nmtcore.files import read_json


def sentence_pairs(project: Project, dataset: str, split: str) -> int | None:
    """Return the number of pairs of a split: as counted in the results folder or, before that, at most.

    That is the smaller one of the published and the configured number; None if neither is known.
    """
    settings = project.dataset(dataset)
    counted = _counted_pairs(project, dataset, split)
    if counted is not None:
        return counted
    counts = [_part_pairs(project, dataset, part) for part in settings.splits[split]]
    known = [settings.published.pairs.get(split), None if None in counts else sum(counts)]
    return min((count for count in known if count is not None), default=None)


def _counted_pairs(project: Project, dataset: str, split: str) -> int | None:
    """Return the pairs that are left by the filters and the selection; None if they have not been counted."""
    path = project.layout.path("pairs_report", dataset=dataset, split=split)
    if split == "train" and project.dataset(dataset).selection is not None:
        path = project.layout.path("selection_report", dataset=dataset)
    if not Path(path).exists():
        return None
    try:
        return int(read_json(Path(path))["kept"])
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path} has no number 'kept': delete it and run the workflow again.") from error


def _part_pairs(project: Project, dataset: str, part: PartSettings) -> int | None:
    """Return the rows of a part of a corpus, at most; None if they are not limited."""
    corpus = project.dataset(dataset).corpora[part.corpus]
    options = corpus_options(corpus.format, corpus.options, corpus.files, where=f"{dataset}, {part.corpus}")
    last = part.last or (options.pairs if isinstance(options, DemoOptions) else None)
    rows = None if last is None else last - part.first + 1
    return part.sample if rows is None else min(rows, part.sample or rows)


@dataclass
class KnownSizes:
    """Sizes of splits; those that are unknown are None, and noted."""

    project: Project
    subwords_per_sentence: float | None
    """Assumed mean length of a sentence."""
    unknown: dict[str, None] = field(default_factory=dict)
    """What was unknown, in the order of its first use."""

    def note_unknown(self, what: str) -> None:
        """Note that something is unknown."""
        self.unknown[what] = None

    def pairs(self, dataset: str, split: str) -> int | None:
        """Return the pairs of a split."""
        pairs = sentence_pairs(self.project, dataset, split)
        if pairs is None:
            self.note_unknown(f"the size of {dataset}, {split}")
        return pairs

    def used_pairs(self, run: RunSettings, split: str) -> int | None:
        """Return the pairs of a split that a run uses, at most: its scale may limit them."""
        most = run.sentences.of(split)
        if most is None:
            return self.pairs(run.dataset, split)
        return min(most, sentence_pairs(self.project, run.dataset, split) or most)

    def subwords(self, pairs: int | None) -> float | None:
        """Return the subwords of one side of some pairs."""
        if self.subwords_per_sentence is None:
            self.note_unknown("the length of sentences")
        return None if pairs is None or self.subwords_per_sentence is None else pairs * self.subwords_per_sentence
