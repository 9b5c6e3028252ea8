"""What `nmtcore new dataset` and `nmtcore check` say about a data set, as lines for the terminal."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence

from nmtcore.config.datasets import DatasetSettings
from nmtcore.corpus.sources import FileLocation
from nmtcore.new.round_trip import LEAST_BLEU, RoundTrip
from nmtcore.new.survey import (
    ODD,
    SAMPLE_PAIRS,
    SHOWN_ROWS,
    DatasetSurvey,
    SplitSurvey,
    percentile,
)
from nmtcore.reporting.terminal_table import terminal_table

FEW_SYSTEMS = 2
"""Reasons that concern so few systems share a line."""
SHOWN_PAIRS, SHOWN_CHARACTERS = 5, 50
"""Pairs that a filter would drop, and the most characters of each side."""


def survey_lines(survey: DatasetSurvey) -> list[str]:
    """Describe the text of a data set: a table of lengths and languages, odd lines, overlaps."""
    header = ["split", "side", "pairs", "length", "median", "99 %", "longest", "other language"]
    rows = [row for split in survey.splits for row in _rows(survey, split)]
    lines = terminal_table(header, rows, text=2).splitlines() if rows else []
    judged = "not checked: langdetect does not know them"
    if any(survey.shares.values()):
        judged = f"of up to {SAMPLE_PAIRS:,} pairs per split, by langdetect"
    if rows:
        lines.append(f"(lengths between spaces, of treebanks in words of the trees; languages {judged})")
    odd = {split: _odd_lines(split, own) for split, own in survey.splits.items()}
    sound = [split for split, own in odd.items() if not own and survey.splits[split].fault is None]
    lines += [line for own in odd.values() for line in own]
    lines += [f"{', '.join(sound)}: no odd lines."] if sound else []
    if len(set(survey.languages.values())) == 1 and "train" in survey.splits:
        lines.append(
            f"Both sides are in '{survey.languages['source']}', as of paraphrases or simplifications: if they are not, "
            "correct the codes `source` and `target`."
        )
    lines += survey.unsegmented + _overlap_lines(survey) + _language_lines(survey)
    return lines + list(_round_trip_lines(survey))


def _rows(survey: DatasetSurvey, split: str) -> Iterable[list[str]]:
    split_survey = survey.splits[split]
    for side, side_survey in split_survey.sides.items():
        lengths = side_survey.lengths
        share = survey.shares.get(split, {}).get(side)
        yield [
            split,
            survey.languages[side],
            f"{split_survey.pairs:,}" + ("+" if split_survey.is_cut else ""),
            f"{lengths.sum():,} {side_survey.unit}",
            *(f"{percentile(lengths, part):,}" for part in (0.5, 0.99)),
            f"{lengths.max(initial=0):,}",
            "not checked" if share is None else f"{100 * share.share:.1f} %",
        ]


def _odd_lines(split: str, survey: SplitSurvey) -> list[str]:
    lines = []
    if survey.is_cut:
        lines.append(f"{split}: only the first {survey.pairs + survey.bad.total():,} pairs were read.")
    lines += [f"{split}: {sentence}" for sentence in survey.left_out]
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


def _overlap_lines(survey: DatasetSurvey) -> list[str]:
    shared = {split: own for split, own in survey.overlaps.items() if own.sources}
    others = [split for split in survey.overlaps if split not in shared]
    lines = [
        f"{split}: {own.pairs:,} of {_number(own.compared)} and {own.sources:,} of its sources are also in train."
        for split, own in shared.items()
    ]
    lines += [
        f"{split}: {own.pairs:,} of {_number(own.compared)} are also in dev, so the checkpoint is chosen by sentences "
        "that it is scored on: use others."
        for split, own in survey.shared_with_dev.items()
    ]
    return lines + ([f"{', '.join(others)}: no pair or source is also in train."] if others else [])


def _round_trip_lines(survey: DatasetSurvey) -> Iterable[str]:
    """Say what references score against themselves after they are words and text again, with examples if it is low."""
    scores = {split: own for split, own in survey.round_trips.items() if isinstance(own, RoundTrip)}
    if scores:
        figures = ", ".join(f"{split} {own.bleu:.1f} BLEU" for split, own in scores.items())
        yield f"References taken apart into words and joined again score against themselves: {figures}."
    for split, own in survey.round_trips.items():
        if isinstance(own, str):
            yield f"{split}: the references could not be taken apart into words: {own}"
        elif own.bleu < LEAST_BLEU:
            yield f"{split}: these {own.bleu:.1f} BLEU are about the most that a system can reach. For example,"
            yield from (f"  {before} becomes {after}" for before, after in own.examples)
            yield "  Other `words` may lose less: the repository's config/README.md lists them."


def _language_lines(survey: DatasetSurvey) -> list[str]:
    """Say how many training pairs the filter langdetect would drop, with some of them, and how to add it."""
    others = survey.others.get("train", [])
    if not others or survey.drops_languages:
        return []
    own = survey.splits["train"]
    about = f", about {own.pairs * len(others) // len(own.sample):,} of all" if len(own.sample) < own.pairs else ""
    pairs = (" ||| ".join(textwrap.shorten(text, SHOWN_CHARACTERS) for text in pair) for pair in others[:SHOWN_PAIRS])
    return [
        f"train: the filter langdetect would drop {len(others):,} of {len(own.sample):,} pairs{about}, such as",
        *(f"  {pair}" for pair in pairs),
        "  It is often wrong about short sentences. To use it, add the line `  - langdetect` to `filters`.",
    ]


def _number(pairs: int) -> str:
    return f"{pairs:,} pair{'' if pairs == 1 else 's'}"


def location_lines(locations: Mapping[str, Mapping[str, list[FileLocation]]], dataset: DatasetSettings) -> list[str]:
    """Say how many files of a data set are on this machine and, of each other file, where it would come from."""
    places = [
        (corpus, role, own) for corpus, roles in locations.items() for role, files in roles.items() for own in files
    ]
    here = sum(own.input is not None for *_, own in places)
    generated = [corpus for corpus, roles in locations.items() if not roles]
    counts = [f"{here} of {len(places)} on this machine"] if places else []
    counts += [f"{', '.join(generated)}: generated"] if generated else []
    return ["; ".join(counts)] + [
        f"  {corpus}: {dataset.corpora[corpus].format}: {role}: {own.place}"
        for corpus, role, own in places
        if own.input is None
    ]


def system_lines(
    planned: Sequence[str], missing: Mapping[str, list[str]], *, total: int, target: str, width: int = 118
) -> list[str]:
    """List the systems that can be planned, and what the data set lacks for others, by families.

    A family is a pattern as `systems` of config.yaml may have it, and its number of systems. `target` is a result.
    """
    lines = [f"{len(planned)} of {total} can be planned; ask for {target}" + (":" if planned else "")]
    lines += _wrapped(", ".join(families(planned)), width)
    by_number = sorted(missing.items(), key=lambda item: -len(item[1]))
    reasons = [(f"{reason}: not {', '.join(families(systems))}", len(systems)) for reason, systems in by_number]
    few = "; ".join(reason for reason, number in reasons if number <= FEW_SYSTEMS)
    for reason in (*(reason for reason, number in reasons if number > FEW_SYSTEMS), few):
        lines += _wrapped(reason, width)
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
