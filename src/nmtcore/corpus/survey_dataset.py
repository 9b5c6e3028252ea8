"""Survey the splits of a data set whose files are on this machine."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nmtcore.config.datasets import DatasetSettings
from nmtcore.corpus.formats.rows import Inputs
from nmtcore.corpus.overlap import HeldOut, Overlap
from nmtcore.corpus.survey import SplitSurvey, survey_split
from nmtcore.corpus.survey_languages import LanguageShare, language_shares

MOST_SWAPPED = 0.5
"""From this share of sentences in the language of the other side on, the sides are taken to be swapped."""


@dataclass(kw_only=True)
class DatasetSurvey:
    """What the text of a data set looks like; all values are by split."""

    languages: Mapping[str, str]
    """Language codes, by side."""
    words: Mapping[str, str]
    """How text becomes words (kinds of `WordsSettings`), by side."""
    splits: dict[str, SplitSurvey]
    """In the order of the data set."""
    shares: dict[str, dict[str, LanguageShare]] = field(default_factory=dict)
    """Sentences in other languages, by side."""
    overlaps: dict[str, Overlap] = field(default_factory=dict)
    """Pairs of development and test splits that are in the training split."""

    @property
    def faults(self) -> list[str]:
        """One sentence for each mistake in the text that would stop reading, or make training useless."""
        faults = [survey.fault for survey in self.splits.values() if survey.fault]
        for split, shares in self.shares.items():
            for side, share in shares.items():
                if share.texts and share.swapped > MOST_SWAPPED * share.texts:
                    faults.append(
                        f"{split}: {share.swapped} of {share.texts} {side} sentences drawn seem to be in the language "
                        f"of the other side, not in '{self.languages[side]}': are the files swapped?"
                    )
        return faults

    @property
    def unsegmented(self) -> list[str]:
        """One sentence for each side whose training text has no spaces between words, which its `words` expect."""
        sides = self.splits["train"].sides.items() if "train" in self.splits else ()
        return [
            f"train: the {side} side looks unsegmented (average {length:.0f} characters per word): segment it first, "
            "with spaces between words."
            for side, survey in sides
            if self.words[side] in ("moses", "spaces") and (length := survey.unsegmented_length) is not None
        ]


def survey_dataset(
    dataset: DatasetSettings, inputs: Mapping[str, Inputs], *, limit: int | None = None
) -> DatasetSurvey:
    """Survey each split all of whose corpora have files in `inputs` (by corpus); at most `limit` pairs per split."""
    held_out = HeldOut()
    known = [split for split, parts in dataset.splits.items() if all(part.corpus in inputs for part in parts)]
    # Training pairs are compared with those of the other splits, which must be known before.
    order = sorted(known, key=lambda split: split == "train")
    surveys = {split: survey_split(dataset, split, inputs, held_out, limit=limit) for split in order}
    languages = {"source": dataset.source, "target": dataset.target}
    return DatasetSurvey(
        languages=languages,
        words={side: words.kind for side, words in dataset.words.items()},
        splits={split: surveys[split] for split in known},
        shares={split: language_shares(surveys[split].sample, languages) for split in known},
        overlaps=held_out.overlaps() if "train" in surveys else {},
    )
