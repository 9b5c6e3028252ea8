"""Accuracy on contrastive pairs, by phenomenon and by distance; the pages of all plain tables.

Follows LingEval97 (Sennrich 2017): the log-probabilities of whole sentences are compared, and the right translation
must be strictly more probable, so ties count as wrong.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from nmtcore.errors import UserError
from nmtcore.inference.schemas import ContrastScore, read_contrast_scores
from nmtcore.layout import Layout
from nmtcore.reporting.data_table import annotation_page, data_page, parser_page
from nmtcore.tables.blocks import (
    Block,
    Column,
    Heading,
    Interval,
    Page,
    SeedMean,
    make_table,
    note,
    number_columns,
    text_columns,
)
from nmtcore.tables.pages import write_page

if TYPE_CHECKING:
    import pandas as pd

ALL = "all"
"""The group of all contrastive pairs."""

LONGEST_DISTANCE = 15
"""Longer distances are counted together, as in LingEval97."""

CONFIDENCE = 0.95

_NOTES = """
Scale {scale}, seeds {seeds}; percentages, mean over seeds, and standard deviation if there are several. Accuracy: of
the pairs whose right translation is more probable under the model than the wrong one, by the log-probabilities of the
whole sentences, without dividing by their lengths (Sennrich 2017). Ties, equally probable translations, count as wrong.
Unknown: pairs with subwords that the vocabulary lacks, scored as `<unk>`. 95 % interval: Wilson's score interval of the
mean over seeds; it says how far the mean depends on the choice of pairs, as if all were independent, though several can
have the same source, and leaves training noise out. Distance: words from one of two related words to the other (1: they
are neighbours), or by which a word has moved, as the pairs say. Data sets without pairs are left out, and systems that
give no probability of a text: those that generate tags among its words, or were not trained here.
"""


def contrast_page(files: Sequence[Path], *, layout: Layout) -> Page:
    """Tabulate the scores of runs at one scale: `{dataset}/{system}/seed{seed}/contrast/{split}.parquet`.

    Raises `UserError` if the seeds of a system have other pairs.
    """
    import pandas as pd

    frames: list[pd.DataFrame] = []
    first: dict[tuple[str, ...], tuple[Path, pd.DataFrame]] = {}
    for path in files:
        names = layout.names(path, "contrast_scores")
        scores = pd.DataFrame(read_contrast_scores(path), columns=ContrastScore._fields).assign(**names)
        other = first.setdefault(tuple(names[key] for key in ("dataset", "split", "system")), (path, scores))
        if not scores[["phenomenon", "distance"]].equals(other[1][["phenomenon", "distance"]]):
            raise UserError(f"{path} has other pairs than {other[0]}: delete the older file.")
        frames.append(scores)
    scores = pd.concat(frames)
    scores = scores.assign(
        accuracy=scores.right > scores.wrong, ties=scores.right == scores.wrong, unknown=scores.unknown > 0
    )
    notes = note(_NOTES.format(scale=names["scale"], seeds=", ".join(map(str, scores.seed.unique()))))
    tests = scores.groupby(["dataset", "split"])
    return Page(
        title="Contrastive pairs",
        blocks=(notes, *(block for test, test_scores in tests for block in _test_blocks(*test, test_scores))),
    )


def _test_blocks(dataset: str, test: str, scores: "pd.DataFrame") -> Iterator[Block]:
    """Yield the tables of a test: accuracies by phenomenon, then all numbers by phenomenon and by distance."""
    import pandas as pd

    keys, title = {"data set": dataset, "test": test}, f"{dataset}, {test}"
    phenomena = _rows(pd.concat([scores.assign(group=ALL), scores.assign(group=scores.phenomenon)]))
    accuracies: dict[str, dict[str, SeedMean]] = {}
    for system, name, _, accuracy, *_ in phenomena:
        accuracies.setdefault(system, {})[name] = accuracy
    names = list(dict.fromkeys(row[1] for row in phenomena))
    columns = [*text_columns("system"), *number_columns(*names, content="mean", digits=1)]
    yield Heading(title)
    yield make_table(
        columns, [[system, *map(by_phenomenon.get, names)] for system, by_phenomenon in accuracies.items()], keys=keys
    )
    apart = scores.dropna(subset="distance").sort_values("distance", kind="stable")
    distances = [str(int(d)) if d <= LONGEST_DISTANCE else f">{LONGEST_DISTANCE}" for d in apart.distance]
    parts = {"phenomenon": ("code", phenomena), "distance": ("text", _rows(apart.assign(group=distances)))}
    for name, (content, rows) in parts.items():
        if rows:
            columns = [
                *(*text_columns("system"), Column(name=name, content=content)),
                *number_columns("pairs"),
                *number_columns("accuracy, %", content="mean", digits=1),
                *number_columns("95 % interval", content="interval", digits=1),
                *number_columns("ties", "unknown", content="mean"),
            ]
            yield Heading(f"{title}: by {name}")
            yield make_table(columns, rows, keys=keys)


def _rows(scores: "pd.DataFrame") -> list[list[Any]]:
    """Count pairs by system and `group`: both, pairs, accuracy, its interval, ties and unknown, as means over seeds."""
    rows = []
    for _, system_scores in scores.groupby("system", sort=False):
        for (system, group), pairs in system_scores.groupby(["system", "group"], sort=False):
            seeds = pairs.groupby("seed", sort=False)[["accuracy", "ties", "unknown"]]
            counts, number = seeds.sum(), len(pairs) // seeds.ngroups
            low, high = wilson_interval(counts.accuracy.mean(), number)
            accuracy = SeedMean.over((100 * counts.accuracy / number).tolist())
            means = counts[["ties", "unknown"]].mean().tolist()
            rows.append([system, group, number, accuracy, Interval(100 * low, 100 * high), *means])
    return rows


def wilson_interval(successes: float, trials: int) -> tuple[float, float]:
    """Return the score interval of a proportion (Wilson 1927, "Probable Inference, the Law of Succession, and
    Statistical Inference"), which keeps its coverage near 0 and 1 and for few trials (Brown, Cai and DasGupta 2001).

    With n trials, p = successes / n and the normal quantile z, its bounds are
    (p + z^2 / 2n -+ z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n). Successes may be a mean of several counts.
    """
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    share, weight = successes / trials, z * z / trials
    centre = (share + weight / 2) / (1 + weight)
    margin = z * math.sqrt(share * (1 - share) / trials + weight / (4 * trials)) / (1 + weight)
    low, high = centre - margin, centre + margin
    # At the ends of the scale one bound is exact, but for rounding errors.
    return 0.0 if successes == 0 else low, 1.0 if successes == trials else high


Files = Mapping[str, Sequence[Path]]
"""The input files of a table, by what they are."""

PAGES: dict[str, Callable[[Files, Any, Layout], Page]] = {
    "data": lambda files, published, layout: data_page(
        files["reports"], features=files["features"], published=published, layout=layout
    ),
    "annotation": lambda files, published, layout: annotation_page(
        files["reports"], labels=files["labels"], published=published, layout=layout
    ),
    "parsers": lambda files, _, layout: parser_page(files["comparisons"], layout=layout),
    "contrast": lambda files, _, layout: contrast_page(files["scores"], layout=layout),
}
"""The pages by the names of the tables; each takes the files of its rule, and what its rule plans for it."""


def write_plain_table(name: str, files: Files, planned: Any, *, layout: Layout, table: Path) -> str:
    """Write a table in all formats; return the Markdown."""
    return write_page(PAGES[name](files, planned, layout), table)
