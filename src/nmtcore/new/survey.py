"""Look at the text of a data set before anything is made of it: lengths, odd pairs, shifted files, overlap, a sample.

The workflow's reading writes each split to a temporary file, over whose columns everything is counted.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nmtcore.config.corpora import SIDES, WordsSettings
from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.stages import ReadingSettings
from nmtcore.corpus.filters import detect_language, detected_languages
from nmtcore.corpus.formats.lines import describe_columns
from nmtcore.corpus.read import read_split
from nmtcore.corpus.text_lines import how_to_convert
from nmtcore.corpus.writing_systems import count_unspaced, has_unspaced, main_script, unsegmented_warning
from nmtcore.errors import UserError, quoted
from nmtcore.new.odd_text import PATTERNS, PIECES, excerpts
from nmtcore.new.round_trip import RoundTrip, round_trip
from nmtcore.new.shifts import correlation, find_shifts
from nmtcore.parquet import read_batches, read_rows

LONG_WORDS, LONG_CHARACTERS = 250, 2_500
"""A longer side makes a pair very long."""
HIGH_RATIO = 9.0
"""Higher ratio of the lengths of both sides makes a pair unbalanced, as in the filter `ratio`."""
SAMPLE_PAIRS, SAMPLE_SEED = 1_000, 1
"""Pairs that are drawn from each split to identify their languages, and the seed of the draw."""
SAMPLE_CHARACTERS = 1_000
"""Characters that a sample keeps of a text."""
SHOWN_ROWS = 5
"""Pairs with an oddity that a survey shows; all are counted."""
MOST_PIECES = 0.1
"""From this share of texts with pieces of subwords on, a side was cut into them. Clean text has none."""
MOST_SHIFTED = 0.01
"""From this share of shifted pairs on, the files must be corrected."""
LOW_TOGETHER, LEAST_PAIRS, LEAST_TEXTS = 0.5, 500, 300
"""Below this correlation of lengths, the sides of so many pairs are no translations of each other, if so many texts of
a sample differ by more than numbers; formulas differ less."""
MOST_SWAPPED = 0.5
"""From this share of sentences in the language of the other side on, the sides are taken to be swapped."""
MOST_OTHERS = 0.9
"""From this share of texts without letters, or in another language, on, a side is not what it is taken for."""
FEWEST_JUDGED = 20
"""Texts from which that can be told."""
MOST_SHARED = 0.1
"""Share of the smaller one of dev and a test that may be in both before it is said."""
MOST_BAD = 0.01
"""From this share of pairs that cannot be read on, files must be corrected, or more be allowed."""
ANY_NUMBER = 10**9
"""Lines that cannot be read are counted, however many there are."""
ODD = {
    "empty": "with an empty side",
    "identical": "with both sides identical",
    "long": f"with a side of over {LONG_WORDS} words or {LONG_CHARACTERS:,} characters",
    "unbalanced": f"with one side over {HIGH_RATIO:g} times as long as the other",
    **{name: description for name, (description, _) in PATTERNS.items()},
    "decomposed": "with letters and their accents apart (NFD)",
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
    others: float | None = None
    """The share of texts drawn that seem to be in another language; None if langdetect does not know this one."""

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


class Overlap(NamedTuple):
    """Pairs of a split that another split has too."""

    pairs: int
    """Those of which both sides are a pair of the other split."""
    sources: int
    """Those of which the source is a source of the other split."""


@dataclass
class SplitSurvey:
    """What a split's text looks like."""

    sides: dict[str, SideSurvey]
    """The sides that have text (treebanks may have only one; then no pair is odd)."""
    pairs: int = 0
    """Pairs that can be read."""
    odd: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in ODD})
    """Where pairs with each oddity are (corpus and row, from 1)."""
    shown: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in ODD})
    """What the first of these look like."""
    bad: Counter[str] = field(default_factory=Counter)
    """Pairs that cannot be read, by reason."""
    first_bad: list[str] = field(default_factory=list)
    """The first of these, with file and line."""
    separators: int = 0
    """Texts with separators of lines, which become spaces."""
    sample: list[tuple[str, str]] = field(default_factory=list)
    """Pairs drawn at random, cut to `SAMPLE_CHARACTERS`."""
    dropped: list[tuple[str, str]] = field(default_factory=list)
    """Those that the filter langdetect would drop; empty if it does not know both languages."""
    hashes: np.ndarray = field(default_factory=lambda: np.zeros((2, 0), np.int64))
    """Hashes of the words of each source and of each pair, [2, N]; equal words have equal hashes in one process."""
    in_train: Overlap | None = None
    """Of dev and tests, the pairs that are also in train."""
    in_dev: Overlap | None = None
    """Of tests, the pairs that are also in dev."""
    round_trip: RoundTrip | str | None = None
    """Of dev and tests, what the references drawn score against themselves, or why that is not known."""
    faults: list[str] = field(default_factory=list)
    """The error that ended reading, or sentences on text that is not what it is taken for."""
    notes: list[str] = field(default_factory=list)
    """Sentences on lengths that hardly go together."""
    is_cut: bool = False
    """Whether the survey ended after a given number of pairs."""

    @property
    def texts(self) -> dict[str, tuple[str, ...]]:
        """The texts of the sample, by side."""
        return {side: tuple(pair[number] for pair in self.sample) for number, side in enumerate(SIDES)}


@dataclass(kw_only=True)
class DatasetSurvey:
    """What the text of a data set looks like."""

    dataset: DatasetSettings
    splits: dict[str, SplitSurvey]
    """In the order of the data set."""

    @property
    def languages(self) -> dict[str, str]:
        """Language codes, by side."""
        return dict(zip(SIDES, (self.dataset.source, self.dataset.target), strict=True))

    @property
    def faults(self) -> list[str]:
        """One sentence for each mistake in the text that would stop reading, or make training useless."""
        return [fault for survey in self.splits.values() for fault in survey.faults]

    def bad_lines(self, most: int | None, option: str) -> list[str]:
        """One sentence for each split with more unreadable pairs than `most` (None: `MOST_BAD` of them)."""
        return [
            f"{bad:,} of {survey.pairs + bad:,} pairs of {split} cannot be read. The first one: {survey.first_bad[0]}. "
            f"Correct the files, or drop these pairs with {option.format(bad)}.{how_to_convert(survey.first_bad[0])}"
            for split, survey in self.splits.items()
            if (bad := survey.bad.total()) > (MOST_BAD * (survey.pairs + bad) if most is None else most)
        ]

    @property
    def unsegmented(self) -> list[str]:
        """One sentence for each side whose training text has no spaces between words, which its `words` expect."""
        train, warnings = self.splits.get("train"), []
        for side, side_survey in train.sides.items() if train else ():
            words_kind, language = self.dataset.words[side].kind, self.languages[side]
            warnings.append(unsegmented_warning(side_survey.unspaced, side, words_kind=words_kind, language=language))
        return [f"train: {warning}" for warning in warnings if warning]


def survey_dataset(dataset: DatasetSettings, *, limit: int | None = None) -> DatasetSurvey:
    """Survey each split all of whose files have a `path` on this machine; at most `limit` pairs per split."""
    files = {
        name: [file for role in corpus.files.values() for file in role] for name, corpus in dataset.corpora.items()
    }
    here = [
        name
        for name, corpus_files in files.items()
        if all(file.path and Path(file.path).is_file() for file in corpus_files)
    ]
    known = [split for split, parts in dataset.splits.items() if all(part.corpus in here for part in parts)]
    surveys = {split: _survey_split(dataset, split, limit) for split in known}
    for split in dataset.tests:
        if split in known:
            surveys[split].in_train = _overlap(surveys[split], surveys.get("train"))
            surveys[split].in_dev = _overlap(surveys[split], surveys.get("dev")) if split != "dev" else None
    return DatasetSurvey(dataset=dataset, splits=surveys)


def add_round_trips(survey: DatasetSurvey) -> None:
    """Take the references of dev and tests apart and join them, unless only tokens are scored or words are given."""
    dataset, words = survey.dataset, survey.dataset.words["target"]
    if dataset.evaluation.text != "tokens" and words.kind != "given":
        for split in survey.splits.keys() & {"dev", *dataset.tests}:
            if texts := [text for text in survey.splits[split].texts["target"] if text]:
                survey.splits[split].round_trip = round_trip(texts, words, dataset.target, dataset.evaluation)


def _survey_split(dataset: DatasetSettings, split: str, limit: int | None) -> SplitSurvey:
    """Survey a split; an error that ends reading, such as files of different lengths, is its fault."""
    survey = SplitSurvey(sides={side: SideSurvey() for side in dataset.sides(split)})
    words = dict.fromkeys(SIDES, WordsSettings(kind="spaces"))
    with TemporaryDirectory(prefix="nmtcore-") as folder:
        raw = Path(folder) / "raw.parquet"
        try:
            report = read_split(
                replace(ReadingSettings.of(dataset, split), words=words, max_bad_lines=ANY_NUMBER),
                dataset=dataset.name,
                split=split,
                downloads=Path(folder),
                output=raw,
                report=raw.with_suffix(".json"),
                limit=limit,
            )
        except UserError as error:
            survey.faults = [str(error)]
            return survey
        survey.bad = Counter(report["dropped"])
        survey.first_bad = report["first_dropped"][:SHOWN_ROWS]
        survey.separators = sum(report["line_separators"].values())
        survey.is_cut = report["pairs"] == limit
        draw = np.random.default_rng(SAMPLE_SEED)
        drawn = draw.choice(report["kept"], min(report["kept"], SAMPLE_PAIRS), replace=False, shuffle=False)
        for batch in read_batches(raw, columns=_COLUMNS):
            _add_batch(survey, batch, drawn)
        if len(survey.sides) == len(SIDES):
            _compare_lengths(survey, dataset, split, raw)
    corpora = (dataset.corpora[part.corpus] for part in dataset.splits[split])
    columns = [describe_columns(corpus) for corpus in corpora if corpus.format == "tsv"][:1]
    faults = judge_texts(survey, {"source": dataset.source, "target": dataset.target})
    survey.faults += [" ".join([f"{split}: {fault}", *columns]) for fault in faults]
    return survey


def _compare_lengths(survey: SplitSurvey, dataset: DatasetSettings, split: str, raw: Path) -> None:
    """Judge by the lengths of both sides whether they belong together. (Pairs whose ids differ were not read.)"""
    lengths = [side.characters for side in survey.sides.values()]
    for shift in find_shifts(*lengths):
        (first,) = read_rows(raw, columns=["origin"], start=shift.first, stop=shift.first + 1)
        corpus, _, row = first["origin"].rpartition(":")
        unit = "line" if dataset.corpora[corpus].format in ("plain", "tsv", "czeng") else "pair"
        lines = f"{abs(shift.lines)} {unit}{'' if abs(shift.lines) == 1 else 's'}"
        missing, added = SIDES if shift.lines > 0 else SIDES[::-1]
        sentences = survey.notes if shift.end - shift.first < MOST_SHIFTED * survey.pairs else survey.faults
        sentences.append(
            f"{split}: from about {unit} {row} of {corpus} on, the lengths of both sides do not go together in "
            f"{shift.end - shift.first:,} pairs (correlation {shift.correlation:.2f}), but with the target {lines} "
            f"{'below' if shift.lines > 0 else 'above'} they do ({shift.shifted:.2f}): the {missing} seems to lack "
            f"{lines} there, or the {added} to have {lines} more. Correct the files."
        )
    together = correlation(*lengths)
    texts = ({re.sub("[0-9]+", "0", text) for text in side} for side in survey.texts.values())
    can_tell = together is not None and survey.pairs >= LEAST_PAIRS and min(map(len, texts)) >= LEAST_TEXTS
    if can_tell and together < LOW_TOGETHER and not survey.faults:
        survey.faults.append(
            f"{split}: the lengths of both sides hardly go together (correlation {together:.2f}; those of translations "
            "above .7): are the files parallel, in the same order?"
        )


def _add_batch(survey: SplitSurvey, batch: pa.RecordBatch, drawn: np.ndarray) -> None:
    """Count a batch of pairs; those whose numbers are among `drawn` join the sample."""
    for side, side_survey in survey.sides.items():
        side_survey.add(batch[side], batch[f"{side}_words"])
    if len(survey.sides) == len(SIDES):
        for name, is_odd in oddities(batch).items():
            left = SHOWN_ROWS - len(survey.shown[name])
            survey.odd[name] += batch["origin"].filter(pa.array(is_odd)).to_pylist()
            first = batch.take(pa.array(np.flatnonzero(is_odd)[:left]))
            survey.shown[name] += excerpts(first, name)
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
    characters = [pc.utf8_length(column).to_numpy() for column in texts]
    lengths = np.where(has_unspaced(texts[0]) | has_unspaced(texts[1]), characters, words)
    joined = [pc.binary_join(batch[f"{side}_words"], " ") for side in SIDES]
    not_empty = np.minimum(*words) > 0
    return {
        "empty": ~not_empty,
        "identical": not_empty & pc.equal(*joined).to_numpy(zero_copy_only=False),
        "long": (np.maximum(*words) > LONG_WORDS) | (np.maximum(*characters) > LONG_CHARACTERS),
        "unbalanced": not_empty & (lengths.max(0) > HIGH_RATIO * lengths.min(0)),
        **{name: _match(texts, pattern) for name, (_, pattern) in PATTERNS.items()},
        "decomposed": np.any([_is_decomposed(column) for column in texts], axis=0),
    }


def _match(texts: list[pa.Array], pattern: str) -> np.ndarray:
    """Say which pairs have a text that a regular expression matches."""
    source, target = (pc.match_substring_regex(column, pattern).to_numpy(zero_copy_only=False) for column in texts)
    return source | target


def _is_decomposed(texts: pa.Array) -> np.ndarray:
    """Say which texts have letters and accents apart that Unicode has together: composed, they are shorter."""
    return pc.less(pc.utf8_length(pc.utf8_normalize(texts, "NFC")), pc.utf8_length(texts)).to_numpy(
        zero_copy_only=False
    )


def judge_texts(survey: SplitSurvey, languages: Mapping[str, str]) -> list[str]:
    """Judge both sides of a sample: say what nearly all texts are that they should not be, and add what survives.

    Languages (codes by side) that langdetect lacks are not judged.
    """
    faults, dropped, judged = [], set(), 0
    for number, (side, language) in enumerate(languages.items()):
        texts = {row: pair[number] for row, pair in enumerate(survey.sample) if pair[number].strip()}
        faults += _not_sentences(list(texts.values()), side)
        if language not in detected_languages() or side not in survey.sides:
            continue
        judged += 1
        detected = {row: detect_language(text) for row, text in texts.items()}
        foreign = [row for row, other in detected.items() if other != language]
        survey.sides[side].others = len(foreign) / max(1, len(texts))
        dropped.update(foreign)
        parallel = [row for row in texts if len({*survey.sample[row]}) > 1]
        others = [row for row in parallel if detected[row] != language]
        swapped = sum(detected[row] == languages[SIDES[1 - number]] for row in others)
        drawn = f"{len(texts)} {side} sentences drawn seem to be in"
        if swapped > MOST_SWAPPED * len(texts):
            advice = f"not in '{language}': are the files swapped?"
            faults.append(f"{swapped} of {drawn} the language of the other side, {advice}")
        elif len(parallel) >= FEWEST_JUDGED and len(others) >= MOST_OTHERS * len(parallel):
            common = _common_language([texts[row] for row in others])
            if common != language:
                advice = f"such as '{common}': correct the language code or the text."
                faults.append(f"{len(foreign)} of {drawn} another language than '{language}', {advice}")
    if judged == len(SIDES):
        survey.dropped = [survey.sample[row] for row in sorted(dropped) if all(map(str.strip, survey.sample[row]))]
    return faults


def _not_sentences(texts: Sequence[str], side: str) -> list[str]:
    """Say that texts of a side were cut into pieces of subwords, or that nearly all have no letters, if so."""
    faults = []
    for mark, (pattern, undo) in PIECES.items():
        cut = pc.sum(pc.match_substring_regex(pa.array(texts, pa.string()), pattern)).as_py() or 0
        if cut > MOST_PIECES * len(texts):
            faults.append(
                f"{cut:,} of {len(texts):,} {side} sentences drawn are cut into pieces of subwords (`{mark}`), but "
                f"nmtcore cuts words itself, and scores whole words. Undo this in all files: {undo} FILE > NEW"
            )
    numbers = [text for text in texts if not any(map(str.isalpha, text))]
    if len(texts) >= FEWEST_JUDGED and len(numbers) >= MOST_OTHERS * len(texts):
        shown = quoted(numbers[0])
        faults.append(
            f"{len(numbers)} of {len(texts)} {side} sentences drawn have no letters, such as {shown}: are they text?"
        )
    return faults


def _common_language(texts: Sequence[str]) -> str:
    """Return the language that texts are in together, since langdetect is often wrong about single words.

    Latin names and the like among other letters mislead it.
    """
    letters = "[A-Za-z]+" if main_script(texts) != "LATIN" else "(?!)"
    return detect_language(re.sub(letters, "", " ".join(texts)))


def _overlap(survey: SplitSurvey, other: SplitSurvey | None) -> Overlap | None:
    if other is None:
        return None
    sources, pairs = (int(np.isin(*hashes).sum()) for hashes in zip(survey.hashes, other.hashes, strict=True))
    return Overlap(pairs=pairs, sources=sources)


def percentile(lengths: np.ndarray, share: float) -> int:
    """Return the smallest length that at least `share` of all texts do not exceed; 0 if there are none."""
    return int(np.quantile(lengths, share, method="inverted_cdf")) if len(lengths) else 0
