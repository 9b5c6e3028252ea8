"""What jobs of the corpus stage are told of a data set: the values that they depend on, and nothing else."""

from dataclasses import dataclass, replace

from nmtcore.config.datasets import SIDES, CorpusSettings, DatasetSettings, PartSettings, WordsSettings
from nmtcore.config.filters import FilterSettings


@dataclass(frozen=True, kw_only=True)
class ReadingSettings:
    """What decides how a split is read."""

    languages: dict[str, str]
    """Language codes by side."""
    treebank: bool
    """Whether the split is a treebank: sentences with the trees and words that came along."""
    parts: tuple[PartSettings, ...]
    corpora: dict[str, CorpusSettings]
    """The corpora of the parts, without licences, citations and files' approximate sizes."""
    words: dict[str, WordsSettings]
    """How each side's words are fixed."""
    max_bad_lines: int = 0
    """Broken lines that are dropped and counted before reading stops with an error."""

    @classmethod
    def of(cls, dataset: DatasetSettings, split: str) -> "ReadingSettings":
        """Take what reading one split of a data set depends on."""
        parts = dataset.splits[split]
        return cls(
            languages={side: dataset.language(side) for side in SIDES},
            treebank=split in dataset.treebanks,
            parts=parts,
            corpora={part.corpus: _what_is_read(dataset.corpora[part.corpus]) for part in parts},
            words=dataset.words,
            max_bad_lines=dataset.max_bad_lines,
        )


@dataclass(frozen=True, kw_only=True)
class FilteringSettings:
    """What decides which pairs of a split are kept."""

    languages: dict[str, str]
    """Language codes by side."""
    filters: tuple[FilterSettings, ...]
    """In the order in which they are applied; none unless the split is the training split."""

    @classmethod
    def of(cls, dataset: DatasetSettings, split: str) -> "FilteringSettings":
        """Take what filtering one split of a data set depends on."""
        return cls(
            languages={side: dataset.language(side) for side in SIDES},
            filters=dataset.filters if split == "train" else (),
        )


def _what_is_read(corpus: CorpusSettings) -> CorpusSettings:
    files = {role: tuple(replace(file, megabytes=None) for file in each) for role, each in corpus.files.items()}
    return replace(corpus, files=files, licence="", citation="")
