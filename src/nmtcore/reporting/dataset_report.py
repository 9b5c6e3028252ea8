"""What `nmtcore new dataset` and `nmtcore check` say about a data set, as lines for the terminal."""

from collections.abc import Iterable, Mapping, Sequence

from nmtcore.config.datasets import DatasetSettings
from nmtcore.corpus.sources import FileLocation
from nmtcore.corpus.survey import (
    ODD,
    SAMPLE_PAIRS,
    SAMPLE_SEED,
    SHOWN_ROWS,
    DatasetSurvey,
    SplitSurvey,
    percentile,
)
from nmtcore.reporting.terminal_table import terminal_table

SHOWN_SYSTEMS = 4
"""Systems that a line names; it only counts the others."""


def survey_lines(survey: DatasetSurvey) -> list[str]:
    """Describe the text of a data set: a table of lengths and languages, odd lines, overlaps."""
    header = ["split", "side", "pairs", "length", "median", "99 %", "longest", "other language"]
    rows = [row for split in survey.splits for row in _rows(survey, split)]
    lines = terminal_table(header, rows, text=2).splitlines() if rows else []
    judged = "not checked: langdetect does not know them"
    if any(survey.shares.values()):
        judged = (
            f"of up to {SAMPLE_PAIRS:,} pairs per split, drawn with seed {SAMPLE_SEED}, by langdetect, which misjudges "
            "1 to 3 % of short sentences"
        )
    if rows:
        lines.append(f"(lengths between white space, of treebanks in words of the trees; languages {judged})")
    for split, split_survey in survey.splits.items():
        lines += _odd_lines(split, split_survey)
    if len(set(survey.languages.values())) == 1:
        lines.append(
            f"Both sides are in '{survey.languages['source']}', as of paraphrases or simplifications: if they are not, "
            "correct the codes `source` and `target`."
        )
    return lines + survey.unsegmented + _overlap_lines(survey)


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
    if bad := survey.bad.total():
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in survey.bad.most_common())
        lines.append(f"{split}: {_number(bad)} cannot be read ({reasons}):")
        lines += [f"  {sentence}" for sentence in survey.first_bad]
    for name, places in survey.odd.items():
        if places:
            more = ", ..." if len(places) > SHOWN_ROWS else ""
            lines.append(f"{split}: {_number(len(places))} {ODD[name]} ({', '.join(places[:SHOWN_ROWS])}{more})")
    if survey.separators:
        lines.append(f"{split}: {survey.separators:,} texts have separators of lines inside, which become spaces.")
    if not lines and survey.fault is None:
        lines.append(f"{split}: no odd lines.")
    return lines


def _overlap_lines(survey: DatasetSurvey) -> list[str]:
    lines = []
    for split, overlap in survey.overlaps.items():
        lines.append(
            f"{split}: {overlap.pairs:,} of {_number(overlap.compared)} and {overlap.sources:,} of its sources are also"
            " in train."
        )
    return lines


def _number(pairs: int) -> str:
    return f"{pairs:,} pair{'' if pairs == 1 else 's'}"


def location_lines(locations: Mapping[str, Mapping[str, list[FileLocation]]], dataset: DatasetSettings) -> list[str]:
    """Say for each file of a data set where it is."""
    lines = []
    for corpus, roles in locations.items():
        if not roles:
            lines.append(f"  {corpus}: generated")
        for role, places in roles.items():
            lines += [f"  {corpus}: {dataset.corpora[corpus].format}: {role}: {place.place}" for place in places]
    return lines


def system_lines(planned: Sequence[str], missing: Mapping[str, list[str]], *, total: int, scale: str) -> list[str]:
    """Say how many of a `total` of systems can be planned, and what the data set lacks for others."""
    lines = [f"{len(planned)} of {total} systems can be planned at the scale {scale}."]
    for reason, systems in sorted(missing.items(), key=lambda item: -len(item[1])):
        others = f" and {len(systems) - SHOWN_SYSTEMS} more" if len(systems) > SHOWN_SYSTEMS else ""
        lines.append(f"  {reason}: not {', '.join(systems[:SHOWN_SYSTEMS])}{others}")
    return lines
