"""Survey the splits of a data set whose files are on this machine."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.formats import DEMO_PAIRS, corpus_options
from nmtcore.corpus.formats.rows import Inputs
from nmtcore.corpus.overlap import HeldOut, Overlap
from nmtcore.corpus.survey import SplitSurvey, survey_split
from nmtcore.corpus.survey_languages import LanguageShare, language_shares

MOST_SWAPPED = 0.5
"""From this share of sentences in the language of the other side on, the sides are taken to be swapped."""
SECONDS_PER_GENERATED_PAIR, SECONDS_PER_MEGABYTE, SECONDS_PER_SPLIT = 0.0015, 0.25, 1.0
"""Rough times of a survey on one core: to generate a pair, to read text, and to judge the languages of a sample."""
BYTES_PER_PAIR = 400
"""Bytes of a pair, both sides, by which `limit` bounds an estimate."""
UNPACKED = 3
"""How many times larger than its file the text in a compressed file is taken to be."""
COMPRESSED = (".gz", ".tgz", ".bz2", ".xz", ".zst", ".zip")
"""Endings of compressed files."""
WORTH_SAYING = 5.0
"""Seconds that a survey should take at least to be announced."""


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


def _known_splits(dataset: DatasetSettings, inputs: Mapping[str, Inputs]) -> list[str]:
    """List the splits all of whose corpora have files."""
    return [split for split, parts in dataset.splits.items() if all(part.corpus in inputs for part in parts)]


def survey_announcement(
    dataset: DatasetSettings, inputs: Mapping[str, Inputs], *, limit: int | None = None
) -> str | None:
    """Say what `survey_dataset` is going to read and about how long that takes; None if it takes a few seconds."""
    splits = _known_splits(dataset, inputs)
    seconds, generated, size = SECONDS_PER_SPLIT * len(splits), 0, 0
    for corpus in (part.corpus for split in splits for part in dataset.splits[split]):
        settings = dataset.corpora[corpus]
        options = corpus_options(settings.format, settings.options, settings.files, where=f"corpora.{corpus}")
        if not options.roles:
            pairs = options.count or DEMO_PAIRS[options.split]
            generated += pairs if limit is None else min(pairs, limit)
        paths = [file.path for files in inputs[corpus].values() for file in files if file.path.is_file()]
        own = sum(path.stat().st_size * (UNPACKED if path.suffix in COMPRESSED else 1) for path in paths)
        size += own if limit is None else min(own, limit * BYTES_PER_PAIR)
    seconds += SECONDS_PER_GENERATED_PAIR * generated + SECONDS_PER_MEGABYTE * size / 1e6
    if seconds < WORTH_SAYING:
        return None
    amounts = [f"{generated:,} generated pairs"] * bool(generated) + [f"{size / 1e6:,.0f} MB of text"] * bool(size)
    return f"Reading {', '.join(splits)} ({', '.join(amounts)}): about {_rough_time(seconds)}."


def _rough_time(seconds: float) -> str:
    if seconds < 55:
        return f"{10 * math.ceil(seconds / 10)} seconds"
    minutes = round(seconds / 60)
    return f"{minutes} minute{'' if minutes == 1 else 's'}"


def survey_dataset(
    dataset: DatasetSettings, inputs: Mapping[str, Inputs], *, limit: int | None = None
) -> DatasetSurvey:
    """Survey each split all of whose corpora have files in `inputs` (by corpus); at most `limit` pairs per split."""
    held_out = HeldOut()
    known = _known_splits(dataset, inputs)
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
