"""What `nmtcore new dataset` and `nmtcore check` say about a data set, as lines for the terminal."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence

from nmtcore.config.corpora import LangDetectSettings
from nmtcore.config.datasets import DatasetSettings
from nmtcore.corpus.sources import FileLocation
from nmtcore.new.round_trip import LEAST_BLEU, RoundTrip
from nmtcore.new.survey import MOST_SHARED, ODD, SAMPLE_PAIRS, SHOWN_ROWS, DatasetSurvey, SplitSurvey, percentile
from nmtcore.tables.pages import terminal_table

_NOT_CHECKED = "not checked"
SHOWN_PAIRS, SHOWN_CHARACTERS = 5, 50
"""Pairs that a filter would drop, and the most characters of each side."""


def survey_lines(survey: DatasetSurvey) -> list[str]:
    """Describe the text of a data set: a table of lengths and languages, odd lines, overlaps."""
    header = ["split", "side", "pairs", "length", "median", "99 %", "longest", "other language"]
    rows = [row for split in survey.splits for row in _rows(survey, split)]
    lines = terminal_table(header, rows, text=2).splitlines() if rows else []
    judged = f"of up to {SAMPLE_PAIRS:,} pairs per split, by langdetect"
    if all(row[-1] == _NOT_CHECKED for row in rows):
        judged = "not checked: langdetect does not know them"
    if rows:
        lines.append(f"(lengths between spaces, of treebanks in words of the trees; languages {judged})")
    odd = {split: _odd_lines(split, split_survey) for split, split_survey in survey.splits.items()}
    sound = [split for split, odd_lines in odd.items() if not odd_lines and not survey.splits[split].faults]
    lines += [line for odd_lines in odd.values() for line in odd_lines]
    lines += [f"{', '.join(sound)}: no odd lines."] if sound else []
    return [*lines, *survey.unsegmented, *_overlap_lines(survey), *_language_lines(survey), *_round_trip_lines(survey)]


def _rows(survey: DatasetSurvey, split: str) -> Iterable[list[str]]:
    split_survey = survey.splits[split]
    for side, side_survey in split_survey.sides.items():
        lengths = side_survey.lengths
        yield [
            split,
            survey.languages[side],
            f"{split_survey.pairs:,}" + ("+" if split_survey.is_cut else ""),
            f"{lengths.sum():,} {side_survey.unit}",
            *(f"{percentile(lengths, part):,}" for part in (0.5, 0.99)),
            f"{lengths.max(initial=0):,}",
            _NOT_CHECKED if side_survey.others is None else f"{100 * side_survey.others:.1f} %",
        ]


def _odd_lines(split: str, survey: SplitSurvey) -> list[str]:
    lines = []
    if survey.is_cut:
        lines.append(f"{split}: only the first {survey.pairs + survey.bad.total():,} pairs were read.")
    if bad := survey.bad.total():
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in survey.bad.most_common())
        lines.append(f"{split}: {_number(bad)} cannot be read ({reasons}):")
        lines += [f"  {sentence}" for sentence in survey.first_bad]
    for name, places in survey.odd.items():
        if places:
            more = ", such as" if len(places) > SHOWN_ROWS else ":"
            lines.append(f"{split}: {_number(len(places))} {ODD[name]}{more}")
            lines += [f"  {pair}" for pair in survey.shown[name]]
    lines += survey.notes
    if survey.separators:
        lines.append(f"{split}: {survey.separators:,} texts have separators of lines inside, which become spaces.")
    return lines


def _overlap_lines(survey: DatasetSurvey) -> Iterable[str]:
    unique = []
    for split, split_survey in survey.splits.items():
        number = _number(split_survey.pairs)
        if split_survey.in_train and split_survey.in_train.sources:
            pairs, sources = split_survey.in_train
            yield f"{split}: {pairs:,} of {number} and {sources:,} of its sources are also in train."
        elif split_survey.in_train:
            unique.append(split)
        if split_survey.in_dev and split_survey.in_dev.pairs > MOST_SHARED * min(
            split_survey.pairs, survey.splits["dev"].pairs
        ):
            yield (
                f"{split}: {split_survey.in_dev.pairs:,} of {number} are also in dev, so the checkpoint is chosen by "
                "sentences that it is scored on: use others."
            )
    if unique:
        yield f"{', '.join(unique)}: no pair or source is also in train."


def _round_trip_lines(survey: DatasetSurvey) -> Iterable[str]:
    """Say what references score against themselves after they are words and text again, with examples if it is low."""
    trips = {split: split_survey.round_trip for split, split_survey in survey.splits.items() if split_survey.round_trip}
    scores = [f"{split} {trip.bleu:.1f} BLEU" for split, trip in trips.items() if isinstance(trip, RoundTrip)]
    if scores:
        yield f"References taken apart into words and joined again score against themselves: {', '.join(scores)}."
    for split, trip in trips.items():
        if isinstance(trip, str):
            yield f"{split}: the references could not be taken apart into words: {trip}"
        elif trip.bleu < LEAST_BLEU:
            yield f"{split}: these {trip.bleu:.1f} BLEU are about the most that a system can reach. For example,"
            yield from (f"  {before} becomes {after}" for before, after in trip.examples)
            yield "  Other `words` may lose less: the repository's config/README.md lists them."


def _language_lines(survey: DatasetSurvey) -> list[str]:
    """Say how many training pairs the filter langdetect would drop, with some of them, and how to add it."""
    train = survey.splits.get("train")
    if not train or not train.dropped or any(isinstance(one, LangDetectSettings) for one in survey.dataset.filters):
        return []
    others = train.dropped
    about = (
        f", about {train.pairs * len(others) // len(train.sample):,} of all" if len(train.sample) < train.pairs else ""
    )
    pairs = (" ||| ".join(textwrap.shorten(text, SHOWN_CHARACTERS) for text in pair) for pair in others[:SHOWN_PAIRS])
    return [
        f"train: the filter langdetect would drop {len(others):,} of {len(train.sample):,} pairs{about}, such as",
        *(f"  {pair}" for pair in pairs),
        "  It is often wrong about short sentences. To use it, add the line `  - langdetect` to `filters`.",
    ]


def _number(pairs: int) -> str:
    return f"{pairs:,} pair{'' if pairs == 1 else 's'}"


def location_lines(locations: Mapping[str, Mapping[str, list[FileLocation]]], dataset: DatasetSettings) -> list[str]:
    """Say how many files of a data set are on this machine and, of each other file, where it would come from."""
    places = [
        (corpus, role, location)
        for corpus, roles in locations.items()
        for role, files in roles.items()
        for location in files
    ]
    here = sum(location.input is not None for *_, location in places)
    return [f"{here} of {len(places)} on this machine"] + [
        f"  {corpus}: {dataset.corpora[corpus].format}: {role}: {location.place}"
        for corpus, role, location in places
        if location.input is None
    ]


def system_lines(
    planned: Sequence[str], missing: Mapping[str, list[str]], *, total: int, target: str, width: int = 118
) -> list[str]:
    """List the systems that can be planned, and what the data set lacks for others, by families.

    A family is a pattern as `systems` of config.yaml may have it, and its number of systems. `target` is a result.
    """
    lines = [f"{len(planned)} of {total} can be planned; ask for {target}" + (":" if planned else "")]
    lines += _wrapped(", ".join(families(planned)), width)
    for reason, systems in sorted(missing.items(), key=lambda item: -len(item[1])):
        lines += _wrapped(f"{reason}: not {', '.join(families(systems))}", width)
    return lines


def _wrapped(text: str, width: int) -> list[str]:
    """Wrap families, and keep each with its number."""
    lines = textwrap.wrap(text.replace(" (", "\x00("), width, subsequent_indent="  ")
    return [line.replace("\x00", " ") for line in lines]


def families(systems: Sequence[str]) -> list[str]:
    """Group names by their first words: `depparse_* (9)`; a name alone stands for itself."""
    groups: dict[str, list[str]] = {}
    for name in sorted(systems):
        groups.setdefault(name.partition("_")[0], []).append(name)
    return [f"{first}* ({len(names)})" if len(names) > 1 else names[0] for first, names in groups.items()]
