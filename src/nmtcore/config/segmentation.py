"""Settings of words and subwords: how text is tokenised and how words are segmented."""

import re
from typing import Literal

from nmtcore.config.ranges import Count, settings_class

WordsKind = Literal["moses", "spaces", "given", "mecab", "characters", "spacy"]


@settings_class
class WordsSettings:
    """Tokenisation of one side into words."""

    kind: WordsKind = "moses"
    """moses: Moses' tokeniser; spaces: text that is tokenised already; given: words that come with the corpus (czeng,
    conllu); mecab: MeCab with the IPA dictionary, for Japanese; characters: those of scripts without spaces
    (Chinese, Thai...); spacy: the tokeniser of spaCy's empty pipeline."""
    normalise: Literal[False, True, "nfc"] = False
    """true: Moses' normalisation of punctuation comes before words are split; nfc: texts, references and words are in
    Unicode's composed form (NFC)."""
    apostrophes: Literal["split", "keep"] = "split"
    """keep, for moses: apostrophes within words stay there (`Ankara'da`), as do other marks (`col·legi`, vowel signs,
    joiners), and punctuation of other scripts is joined to words like Latin punctuation."""
    language: str | None = None
    """For spacy: the language of the pipeline, if spaCy has another code for it than the data set."""

    def __post_init__(self) -> None:
        if self.apostrophes == "keep" and self.kind != "moses":
            raise ValueError(f"`apostrophes: keep` is of `kind: moses`, not of `kind: {self.kind}`: delete it")
        if self.language is not None and self.kind != "spacy":
            raise ValueError(f"`language` is of `kind: spacy`, not of `kind: {self.kind}`: delete it")


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
