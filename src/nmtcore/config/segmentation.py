"""Settings of words and subwords: how text is tokenised and how words are segmented."""

import re
from typing import ClassVar, Literal

from nmtcore.config.ranges import Count, settings_class

WordsKind = Literal["moses", "spaces", "given", "mecab"]


@settings_class
class WordsSettings:
    """Tokenisation of one side into words."""

    kind: WordsKind = "moses"
    """moses: Moses' tokeniser; spaces: text that is tokenised already; given: words that come with the corpus (czeng,
    conllu, demo); mecab: MeCab with the IPA dictionary, for Japanese."""
    normalise: bool = False
    """Whether Moses' normalisation of punctuation comes first."""

    REMOVED: ClassVar = {
        "truecase": "Delete it: words keep their case. Moses' scripts can truecase the corpus before it is read."
    }


@settings_class
class SegmentationSettings:
    """Segmentation of words into subwords. Its name contains all settings, so names are unambiguous."""

    kind: Literal["words", "bpe"]
    """words: no subwords, a vocabulary of whole words; bpe: byte pair encoding."""
    size: Count
    """words: size of the vocabulary; bpe: number of merges."""
    joint: bool = False
    """Whether both sides share the merges and the vocabulary."""
    also: Literal["constituency"] | None = None
    """Further text to learn from: the sources' linearised parses, as additional targets."""

    @property
    def name(self) -> str:
        """The name in paths: words_50000, bpe_joint_6000, bpe_32000, bpe_joint_16000_constituency."""
        joint, also = ["joint"] if self.joint else [], [self.also] if self.also else []
        return "_".join([self.kind, *joint, str(self.size), *also])

    @classmethod
    def parse(cls, name: str) -> "SegmentationSettings":
        """Read a name back; raise a `ValueError` for a text that names no segmentation."""
        match = re.fullmatch(r"(words|bpe)(_joint)?_(\d+)(?:_(constituency))?", name)
        if not match:
            raise ValueError(f"'{name}' is no segmentation; names are like words_50000, bpe_joint_6000, bpe_32000")
        unit, joint, size, also = match.groups()
        return cls(kind=unit, joint=bool(joint), size=int(size), also=also)
