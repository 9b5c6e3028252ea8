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
_UNKNOWN_NOTE = "{count:,} of {pairs:,} pairs have subwords that the vocabulary lacks, scored as `<unk>`."


class ContrastReport:
    """The counts of one model's scores."""

    def __init__(self, scores: Sequence[ContrastScore], *, model: Mapping[str, Any]) -> None:
        """Count scores of at least one pair; `model` has the names of the data set, system, scale and seed."""
        self._model = dict(model)
        self._all = PairCounts.of(scores)
        self._phenomena = count_by_phenomenon(scores)
        self._distances = count_by_distance(scores)
        self._both = {
            name: distances
            for name in self._phenomena
            if (distances := count_by_distance(score for score in scores if score.phenomenon == name))
        }

    @property
    def page(self) -> Page:
        """The tables."""
        names = ", ".join(f"{key} {value}" for key, value in self._model.items())
        rows = {(name,): counts for name, counts in self._phenomena.items()}
        rows |= {("all",): self._all} if len(rows) > 1 else {}
        blocks: list[Block] = [_table([_PHENOMENON], rows), note(f"Model: {names}.{CONTRAST_NOTES.rstrip()}")]
        if self._all.unknown:
            blocks.append(note(_UNKNOWN_NOTE.format(count=self._all.unknown, pairs=self._all.pairs)))
        if self._distances:
            by_distance = {(name,): counts for name, counts in self._distances.items()}
            blocks += [Heading("By distance"), _table(text_columns("distance"), by_distance)]
        if len(self._both) > 1:
            by_both = {(name, key): counts for name, group in self._both.items() for key, counts in group.items()}
            columns = [_PHENOMENON, *text_columns("distance")]
            blocks += [Heading("By phenomenon and distance"), _table(columns, by_both)]
        return Page(title="Contrastive pairs", blocks=tuple(blocks))

    @property
    def markdown(self) -> str:
        """The tables as Markdown."""
        return page_markdown(self.page)


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
