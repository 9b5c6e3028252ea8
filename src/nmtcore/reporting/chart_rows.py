"""The rows of charts: of differences, training times, and scores and gains on parts of a test."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from nmtcore.evaluation.compare import Difference
from nmtcore.reporting.charts import OURS, PUBLISHED
from nmtcore.reporting.grid import ComparedCells
from nmtcore.reporting.results import Results, measure_label
from nmtcore.tables.cells import PlannedTable

if TYPE_CHECKING:
    import pandas as pd

Entry = Mapping[str, Any]
"""A system on a part of a test (`nmtcore.reporting.parts`)."""


def _difference(result: Difference) -> dict[str, Any]:
    low, high = result.interval
    return {"difference": result.delta, "low": low, "high": high, "one_seed": not result.with_training_noise}


def difference_rows(compared: Sequence[ComparedCells]) -> "pd.DataFrame":
    """List differences from baselines for `difference_chart`."""
    import pandas as pd

    rows = []
    for comparison, result, _ in compared:
        test, _, measure = comparison.names("column").rpartition("/")
        names = {"system": comparison.names("row"), "baseline": comparison.names("baseline")}
        rows.append({"test": test.replace("/", " "), "measure": measure_label(measure), **names, **_difference(result)})
    return pd.DataFrame(rows)


def time_rows(table: PlannedTable, results: Results) -> "pd.DataFrame":
    """List the published time and ours of each system and data set for `time_chart`."""
    import pandas as pd

    baseline = table.baselines[0] if table.baselines else table.rows[0].name
    rows = [
        {"dataset": cell.ours, "baseline": baseline, "system": cell.row, "source": source, "time": fmean(values)}
        for cell in table.cells
        if cell.metric == "relative_time"
        for source, values in ((PUBLISHED, [cell.published]), (OURS, results.values(cell)))
        if values and None not in values
    ]
    return pd.DataFrame(rows)


def _names(entry: Entry) -> dict[str, Any]:
    return {"test": entry["test"], "measure": measure_label(entry["measure"]), "sentences": entry["sentences"]}


def length_rows(entries: Sequence[Entry]) -> "pd.DataFrame":
    """List scores by length for `length_chart`."""
    import pandas as pd

    rows = []
    for own in entries:
        if own["scores"] is not None and not own["long"]:
            score = fmean(own["scores"])
            low, high = own["interval"] or (score, score)
            row = {"score": score, "low": max(low, 0.0), "high": high, "one_seed": len(own["scores"]) == 1}
            rows.append({**_names(own), "system": own["row"], "subset": own["subset"], **row})
    return pd.DataFrame(rows)


def construction_rows(counts: Sequence[Entry], gains: Sequence[Entry]) -> tuple["pd.DataFrame", "pd.DataFrame"]:
    """List the sentences with each construction, and the gains on them, for `construction_chart`."""
    import pandas as pd

    counted = [
        {"source": source, "subset": entry["row"].replace("_", "/"), "share": share, "sentences": count}
        for entry in counts
        for source, count, share in (
            (PUBLISHED, entry["published"], entry["published_share"]),
            (entry["test"], entry["sentences"], entry["share"]),
        )
        if share is not None
    ]
    gained = []
    for own in gains:
        if own["difference"] is not None:
            names = {"subset": own["row"].replace("_", "/"), "share": own["share"], "baseline": own["baseline"]}
            part = {**_names(own), **names}
            gain = _difference(own["difference"])
            gained.append({**part, "source": own["system"], **gain})
            if own["published"] is not None:
                published = {"difference": own["published"], "low": math.nan, "high": math.nan}
                gained.append({**part, "source": f"{own['system']}, published", **gain, **published})
    return pd.DataFrame(counted), pd.DataFrame(gained)
