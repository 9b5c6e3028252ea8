"""Charts of frames of numbers: differences, training times, and scores and gains on parts of a test."""

import math
from collections.abc import Iterable
from statistics import fmean
from typing import TYPE_CHECKING, Any

from nmtcore.reporting import charts
from nmtcore.reporting.charts import OURS, PUBLISHED
from nmtcore.tables.measures import measure_label
from nmtcore.tables.part_sheets import is_longest, length_scores, part_counts, part_gains, test_of
from nmtcore.tables.query import Frame, Row, compared_rows, comparison_of
from nmtcore.tables.sheets import names_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def _data(rows: Iterable[Row]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(list(rows))


def _drawn(row: Row, **names: Any) -> Row:
    """Return what charts draw of the row of a difference."""
    known = {key: row[key] for key in ("low", "high", "sentences", "share", "baseline", "system")}
    more = {"measure": measure_label(row["measure"]), "test": test_of(row), "difference": row["delta"]}
    return {**known, **more, "one_seed": not row["training_noise"], **names}


def difference_figure(frame: Frame) -> "Figure":
    """Draw the differences from baselines, each comparison once."""
    comparisons: dict[Any, list[Row]] = {}
    for row in compared_rows(frame):
        comparisons.setdefault(comparison_of(row), []).append(row)
    drawn = []
    for own in comparisons.values():
        test = names_of(own, "column").rpartition("/")[0].replace("/", " ")
        names = {"system": names_of(own, "row"), "baseline": names_of(own, "baseline"), "test": test}
        drawn.append(_drawn(own[0], **names))
    return charts.difference_chart(_data(drawn))


def time_figure(frame: Frame) -> "Figure":
    """Draw the published time and ours of each system and data set."""
    table = frame.table
    baseline = table.baselines[0] if table.baselines else table.rows[0].name
    return charts.time_chart(
        _data(
            {"dataset": row["dataset"], "baseline": baseline, "system": row["row"], "source": source, "time": time}
            for row in frame.rows
            if row["column"].rpartition("/")[2] == "relative_time" and row["baseline"] is None
            for source, time in ((PUBLISHED, row["published"]), (OURS, fmean(row["values"]) if row["values"] else None))
            if time is not None
        )
    )


def length_figure(frame: Frame) -> "Figure":
    """Draw the scores of each bin of lengths."""
    drawn = []
    for row in length_scores(frame):
        if row["values"] and not is_longest(row):
            score = fmean(row["values"])
            low, high = (score, score) if row["low"] is None else (max(row["low"], 0.0), row["high"])
            names = {"system": row["row"], "subset": row["item"], "score": score, "low": low, "high": high}
            drawn.append(_drawn(row, **names, one_seed=len(row["values"]) == 1))
    return charts.length_chart(_data(drawn))


def construction_figure(frame: Frame) -> "Figure":
    """Draw the numbers of sentences with each construction, and the gains on them."""
    counted = [
        {"source": source, "subset": row["row"].replace("_", "/"), "share": share, "sentences": count}
        for row in part_counts(frame)
        for source, count, share in (
            (PUBLISHED, row["published"], row["published_share"]),
            (test_of(row), row["sentences"], row["share"]),
        )
        if share is not None
    ]
    gained = []
    for row in part_gains(frame):
        if row["delta"] is not None:
            gain = _drawn(row, subset=row["row"].replace("_", "/"), source=row["system"])
            gained.append(gain)
            if row["published"] is not None:
                published = {"difference": row["published"], "low": math.nan, "high": math.nan}
                gained.append({**gain, **published, "source": f"{row['system']}, published"})
    return charts.construction_chart(_data(counted), _data(gained))
