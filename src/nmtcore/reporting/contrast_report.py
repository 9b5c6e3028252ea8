"""The accuracy of one model on contrastive pairs: by phenomenon, by distance, and by both."""

from collections.abc import Mapping, Sequence
from typing import Any

from nmtcore.evaluation.contrasts import PairCounts, count_by_distance, count_by_phenomenon
from nmtcore.inference.schemas import ContrastScore
from nmtcore.reporting.markdown import page_markdown
from nmtcore.reporting.table import (
    Block,
    Column,
    Heading,
    Interval,
    Page,
    Table,
    make_table,
    note,
    number_columns,
    text_columns,
)

CONTRAST_NOTES = """
Accuracy: percentage of pairs whose right translation is more probable under the model than the wrong one, by the
log-probabilities of the whole sentences, without dividing by their lengths (Sennrich 2017). Ties, equally probable
translations, count as wrong. 95 % interval: Wilson's score interval, without training noise, and as if all pairs were
independent, though several can have the same source. Distance: words from one of two related words to the other (1:
they are neighbours), or by which a word has moved, as the pairs say.
"""
"""What the columns of tables of contrastive pairs mean."""


def contrast_report(scores: Sequence[ContrastScore], *, model: Mapping[str, Any]) -> str:
    """Tabulate scores of at least one pair as Markdown; `model` has the names of the model's run."""
    counts, phenomena, distances = PairCounts.of(scores), count_by_phenomenon(scores), count_by_distance(scores)
    by_both = {
        (name, distance): own
        for name in phenomena
        for distance, own in count_by_distance(score for score in scores if score.phenomenon == name).items()
    }
    rows = {(name,): own for name, own in phenomena.items()} | ({("all",): counts} if len(phenomena) > 1 else {})
    names = ", ".join(f"{key} {value}" for key, value in model.items())
    blocks: list[Block] = [_table([_PHENOMENON], rows), note(f"Model: {names}.{CONTRAST_NOTES.rstrip()}")]
    if counts.unknown:
        of_all = f"{counts.unknown:,} of {counts.pairs:,} pairs"
        blocks.append(note(f"{of_all} have subwords that the vocabulary lacks, scored as `<unk>`."))
    if distances:
        by_distance = {(distance,): own for distance, own in distances.items()}
        blocks += [Heading("By distance"), _table(text_columns("distance"), by_distance)]
    if len({name for name, _ in by_both}) > 1:
        columns = [_PHENOMENON, *text_columns("distance")]
        blocks += [Heading("By phenomenon and distance"), _table(columns, by_both)]
    return page_markdown(Page(title="Contrastive pairs", blocks=tuple(blocks)))


_PHENOMENON = Column(name="phenomenon", content="code")


def _table(columns: Sequence[Column], counts: Mapping[tuple[str, ...], PairCounts]) -> Table:
    numbers = [
        *number_columns("pairs", "right"),
        *number_columns("accuracy, %", digits=1),
        *number_columns("95 % interval", content="interval", digits=1),
        *number_columns("ties"),
    ]
    rows = [
        [*names, own.pairs, own.right, own.accuracy, Interval(*own.interval), own.ties] for names, own in counts.items()
    ]
    return make_table([*columns, *numbers], rows)
