"""Look at the text of a data set before anything is made of it: lengths, odd pairs, overlap of splits, a sample.

The workflow's reading writes each split to a temporary file, over whose columns everything is counted.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nmtcore.config.corpora import FileSettings
from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.filters import LangDetectSettings
from nmtcore.config.segmentation import WordsSettings
from nmtcore.config.stages import ReadingSettings
from nmtcore.corpus.filters import detect_language, detected_languages
from nmtcore.corpus.formats.rows import Inputs
from nmtcore.corpus.pairs import SIDES
from nmtcore.corpus.read import read_split
from nmtcore.corpus.writing_systems import count_unspaced, has_unspaced, unsegmented_warning
from nmtcore.errors import UserError
from nmtcore.parquet import read_batches

LONG_WORDS, LONG_CHARACTERS = 250, 2_500
"""A longer side makes a pair very long."""
HIGH_RATIO = 9.0
"""Higher ratio of the lengths of both sides makes a pair unbalanced, as in the filter `ratio`."""
SAMPLE_PAIRS, SAMPLE_SEED = 1_000, 1
"""Pairs that are drawn from each split to identify their languages, and the seed of the draw."""
SAMPLE_CHARACTERS = 1_000
"""Characters that a sample keeps of a text."""
SHOWN_ROWS = 3
"""Odd pairs whose numbers a survey keeps; all are counted."""
MOST_SWAPPED = 0.5
"""From this share of sentences in the language of the other side on, the sides are taken to be swapped."""
MOST_SHARED = 0.1
"""Share of the smaller one of dev and a test that may be in both before it is said."""
ANY_NUMBER = 10**9
"""Lines that cannot be read are counted, however many there are."""
ODD = {
    "empty": "with an empty side",
    "identical": "with both sides identical",
    "long": f"with a side of over {LONG_WORDS} words or {LONG_CHARACTERS:,} characters",
    "unbalanced": f"with one side over {HIGH_RATIO:g} times as long as the other",
    "control": "with control characters",
    "replaced": "with U+FFFD, the trace of an earlier wrong conversion",
}
"""What is odd about a pair, by a short name."""
_COLUMNS = ["origin", *SIDES, *(f"{side}_words" for side in SIDES)]


@dataclass
class SideSurvey:
    """One side of a split: the length of each text in words (between white space) and in characters."""

    words: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    characters: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    unspaced: Counter = field(default_factory=Counter)
    """What `count_unspaced` counts."""

    def add(self, texts: pa.Array, words: pa.Array) -> None:
        """Count a batch of texts."""
        self.words = np.concatenate([self.words, pc.list_value_length(words)])
        self.characters = np.concatenate([self.characters, pc.utf8_length(texts)])
        self.unspaced += count_unspaced(texts, words)

    @property
    def unit(self) -> str:
        """The unit of lengths: characters if most texts are in a script without spaces, else words."""
        return "characters" if 2 * self.unspaced["lines"] > len(self.words) else "words"

    @property
    def lengths(self) -> np.ndarray:
        """The lengths in `unit`."""
        return getattr(self, self.unit)


@dataclass
class SplitSurvey:
    """What a split's text looks like."""

    sides: dict[str, SideSurvey]
    """The sides that have text (treebanks may have only one; then no pair is odd)."""
    pairs: int = 0
    """Pairs that can be read."""
    odd: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in ODD})
    """Where pairs with each oddity are (corpus and row, from 1)."""
    bad: Counter[str] = field(default_factory=Counter)
    """Pairs that cannot be read, by reason."""
    first_bad: list[str] = field(default_factory=list)
    """The first of these, with file and line."""
    separators: int = 0
    """Texts with separators of lines, which become spaces."""
    sample: list[tuple[str, str]] = field(default_factory=list)
    """Pairs drawn at random, cut to `SAMPLE_CHARACTERS`."""
    hashes: np.ndarray = field(default_factory=lambda: np.zeros((2, 0), np.int64))
    """Hashes of the words of each source and of each pair, [2, N]; equal words have equal hashes in one process."""
    fault: str | None = None
    """The error that ended reading, if there was one."""
    is_cut: bool = False
    """Whether the survey ended after a given number of pairs."""


@dataclass(frozen=True, kw_only=True)
class LanguageShare:
    """How many texts of a side seem to be in another language."""

    texts: int
    """Texts that were judged; empty ones are not."""
    others: int
    """Texts that the filter would drop."""
    swapped: int
    """Those that seem to be in the language of the other side."""

    @property
    def share(self) -> float:
        """The share of texts in another language."""
        return self.others / self.texts if self.texts else 0.0


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """Pairs of a split that another split has too."""

    compared: int
    """Pairs of the split."""
    pairs: int
    """Those of which both sides are a pair of the other split."""
    sources: int
    """Those of which the source is a source of the other split."""


@dataclass(kw_only=True)
class DatasetSurvey:
    """What the text of a data set looks like; all values are by split."""

    languages: Mapping[str, str]
    """Language codes, by side."""
    words: Mapping[str, str]
    """How text becomes words (kinds of `WordsSettings`), by side."""
    splits: dict[str, SplitSurvey]
    """In the order of the data set."""
    drops_languages: bool = False
    """Whether the data set has the filter langdetect."""
    shares: dict[str, dict[str, LanguageShare]] = field(default_factory=dict)
    """Sentences in other languages, by side."""
    others: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """Of each sample, the pairs that the filter langdetect would drop; empty if it does not know the languages."""
    overlaps: dict[str, Overlap] = field(default_factory=dict)
    """Pairs of development and test splits that are in the training split."""
    shared_with_dev: dict[str, Overlap] = field(default_factory=dict)
    """Pairs of tests that are in dev, of tests that share more than `MOST_SHARED`."""

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
        if self._has_nothing_of_its_own():
            faults.append(
                f"train: all its pairs have a blank side or are also in {' or '.join(self.overlaps)}, so nothing is "
                "left to train on: are these the right files?"
            )
        return faults

    def _has_nothing_of_its_own(self) -> bool:
        """Return whether no training pair with text on both sides is missing from dev and the tests."""
        train = self.splits.get("train")
        if not self.overlaps or train.is_cut:
            return False
        others = np.concatenate([self.splits[split].hashes[1] for split in self.overlaps])
        has_text = np.all([side.words > 0 for side in train.sides.values()], axis=0)
        return train.pairs > 0 and not (has_text & ~np.isin(train.hashes[1], others)).any()

    @property
    def unsegmented(self) -> list[str]:
        """One sentence for each side whose training text has no spaces between words, which its `words` expect."""
        sides = self.splits["train"].sides.items() if "train" in self.splits else ()
        warnings = (
            unsegmented_warning(own.unspaced, side, words_kind=self.words[side], language=self.languages[side])
            for side, own in sides
        )
        return [f"train: {warning}" for warning in warnings if warning]


def survey_dataset(
    dataset: DatasetSettings, inputs: Mapping[str, Inputs], *, limit: int | None = None
) -> DatasetSurvey:
    """Survey each split all of whose corpora have files in `inputs` (by corpus); at most `limit` pairs per split."""
    known = [split for split, parts in dataset.splits.items() if all(part.corpus in inputs for part in parts)]
    surveys = {split: _survey_split(dataset, split, inputs, limit) for split in known}
    languages = {"source": dataset.source, "target": dataset.target}
    judged = {split: judge_languages(surveys[split].sample, languages) for split in known}
    return DatasetSurvey(
        languages=languages,
        words={side: words.kind for side, words in dataset.words.items()},
        splits=surveys,
        drops_languages=any(isinstance(own, LangDetectSettings) for own in dataset.filters),
        shares={split: shares for split, (shares, _) in judged.items()},
        others={split: others for split, (_, others) in judged.items()},
        overlaps={
            split: _overlap(surveys[split], surveys["train"])
            for split in dataset.tests
            if {split, "train"} <= surveys.keys()
        },
        shared_with_dev=_shared_with_dev(surveys, [split for split in dataset.tests if split in surveys]),
    )


def _survey_split(dataset: DatasetSettings, split: str, inputs: Mapping[str, Inputs], limit: int | None) -> SplitSurvey:
    """Survey a split; an error that ends reading, such as files of different lengths, is its fault."""
    survey = SplitSurvey(sides={side: SideSurvey() for side in dataset.sides(split)})
    with TemporaryDirectory(prefix="nmtcore-") as folder:
        raw = Path(folder) / "raw.parquet"
        try:
            report = read_split(
                _settings(dataset, split, inputs),
                dataset=dataset.name,
                split=split,
                downloads=Path(folder),
                output=raw,
                report=raw.with_suffix(".json"),
                limit=limit,
            )
        except UserError as error:
            survey.fault = str(error)
            return survey
        survey.bad = Counter(report["dropped"])
        survey.first_bad = report["first_dropped"][:SHOWN_ROWS]
        survey.separators = sum(report["line_separators"].values())
        survey.is_cut = report["pairs"] == limit
        draw = np.random.default_rng(SAMPLE_SEED)
        drawn = draw.choice(report["kept"], min(report["kept"], SAMPLE_PAIRS), replace=False, shuffle=False)
        for batch in read_batches(raw, columns=_COLUMNS):
            _add_batch(survey, batch, drawn)
    return survey


def _settings(dataset: DatasetSettings, split: str, inputs: Mapping[str, Inputs]) -> ReadingSettings:
    """Return the settings to read a split, with its files where they are now and words between white space."""
    settings = ReadingSettings.of(dataset, split)
    corpora = {
        name: replace(
            corpus,
            files={
                role: tuple(FileSettings(path=str(file.path), member=file.member) for file in files)
                for role, files in inputs[name].items()
            },
        )
        for name, corpus in settings.corpora.items()
    }
    words = dict.fromkeys(SIDES, WordsSettings(kind="spaces"))
    return replace(settings, corpora=corpora, words=words, max_bad_lines=ANY_NUMBER)


def _add_batch(survey: SplitSurvey, batch: pa.RecordBatch, drawn: np.ndarray) -> None:
    """Count a batch of pairs; those whose numbers are among `drawn` join the sample."""
    for side, side_survey in survey.sides.items():
        side_survey.add(batch[side], batch[f"{side}_words"])
    if len(survey.sides) == len(SIDES):
        for name, is_odd in oddities(batch).items():
            survey.odd[name] += batch["origin"].filter(pa.array(is_odd)).to_pylist()
    source, target = (pc.binary_join(batch[f"{side}_words"], " ") for side in SIDES)
    both = pc.binary_join_element_wise(source, target, "\n")
    hashes = np.array([[hash(text) for text in texts.to_pylist()] for texts in (source, both)], np.int64)
    survey.hashes = np.concatenate([survey.hashes, hashes], axis=1)
    rows = np.sort(drawn[(drawn >= survey.pairs) & (drawn < survey.pairs + batch.num_rows)]) - survey.pairs
    sample = (pc.utf8_slice_codeunits(batch[side].take(pa.array(rows)), 0, SAMPLE_CHARACTERS) for side in SIDES)
    survey.sample += zip(*(texts.to_pylist() for texts in sample), strict=True)
    survey.pairs += batch.num_rows


def oddities(batch: pa.RecordBatch) -> dict[str, np.ndarray]:
    """Say which pairs have each oddity (of `ODD`). Scripts without spaces are compared by characters, not words."""
    texts = [batch[side] for side in SIDES]
    words = [pc.list_value_length(batch[f"{side}_words"]).to_numpy() for side in SIDES]
    characters = [pc.utf8_length(own).to_numpy() for own in texts]
    lengths = np.where(has_unspaced(texts[0]) | has_unspaced(texts[1]), characters, words)
    joined = [pc.binary_join(batch[f"{side}_words"], " ") for side in SIDES]
    not_empty = np.minimum(*words) > 0
    return {
        "empty": ~not_empty,
        "identical": not_empty & pc.equal(*joined).to_numpy(zero_copy_only=False),
        "long": (np.maximum(*words) > LONG_WORDS) | (np.maximum(*characters) > LONG_CHARACTERS),
        "unbalanced": not_empty & (lengths.max(0) > HIGH_RATIO * lengths.min(0)),
        "control": _match(texts, r"[^\P{Cc}\t]"),
        "replaced": _match(texts, "\ufffd"),
    }


def _match(texts: list[pa.Array], pattern: str) -> np.ndarray:
    """Say which pairs have a text that a regular expression matches."""
    source, target = (pc.match_substring_regex(own, pattern).to_numpy(zero_copy_only=False) for own in texts)
    return source | target


def judge_languages(
    sample: Sequence[tuple[str, str]], languages: Mapping[str, str]
) -> tuple[dict[str, LanguageShare], list[tuple[str, str]]]:
    """Judge both sides of a sample; `languages` are the codes by side. Languages that langdetect lacks are left out.

    Also returns the pairs without an empty side that the filter langdetect would drop.
    """
    shares, others = {}, set()
    for number, side in enumerate(SIDES):
        if languages[side] in detected_languages():
            detected = {row: detect_language(pair[number]) for row, pair in enumerate(sample) if pair[number].strip()}
            dropped = [row for row, language in detected.items() if language != languages[side]]
            swapped = (
                [*detected.values()].count(languages[SIDES[1 - number]]) if len(set(languages.values())) > 1 else 0
            )
            shares[side] = LanguageShare(texts=len(detected), others=len(dropped), swapped=swapped)
            others.update(dropped)
    is_judged = len(shares) == len(SIDES)
    return shares, [sample[row] for row in sorted(others) if is_judged and all(map(str.strip, sample[row]))]


def _shared_with_dev(surveys: Mapping[str, SplitSurvey], tests: Sequence[str]) -> dict[str, Overlap]:
    if "dev" not in tests:
        return {}
    overlaps = {split: _overlap(surveys[split], surveys["dev"]) for split in tests if split != "dev"}
    most = {split: MOST_SHARED * min(surveys[split].pairs, surveys["dev"].pairs) for split in overlaps}
    return {split: own for split, own in overlaps.items() if own.pairs > most[split]}


def _overlap(survey: SplitSurvey, other: SplitSurvey) -> Overlap:
    sources, pairs = (int(np.isin(*hashes).sum()) for hashes in zip(survey.hashes, other.hashes, strict=True))
    return Overlap(compared=survey.pairs, pairs=pairs, sources=sources)


def percentile(lengths: np.ndarray, share: float) -> int:
    """Return the smallest length that at least `share` of all texts do not exceed; 0 if there are none."""
    return int(np.quantile(lengths, share, method="inverted_cdf")) if len(lengths) else 0
