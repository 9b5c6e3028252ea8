"""All runs and all scores of a results folder, as two long tables: `runs.parquet` and `scores.parquet`."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from nmtcore.errors import UserError
from nmtcore.evaluation.attachment import scores_by_measure
from nmtcore.evaluation.counts import SentenceCounts, read_counts
from nmtcore.evaluation.induction import BASELINES, MEASURES
from nmtcore.evaluation.metrics import label_of, metric_labels, score_of
from nmtcore.files import explain_content, read_json
from nmtcore.layout import Layout, file_name
from nmtcore.parquet import write_rows
from nmtcore.reporting.manifest import NAMES, RUN_KEYS, RUNS_SCHEMA, run_row

if TYPE_CHECKING:
    import pandas as pd

SCORES_SCHEMA = pa.schema(
    NAMES
    | dict.fromkeys(("split", "measure"), pa.string())
    | {"value": pa.float64(), "sentences": pa.int64(), "length_ratio": pa.float64(), "empty_translations": pa.int64()}
    | {"signature": pa.string()}
)
"""The columns of `scores.parquet`; docs/running.md says what they are."""


def index_runs(layout: Layout) -> list[str]:
    """Write `runs.parquet` and `scores.parquet` of what is in the results folder, sorted by names.

    Returns a sentence for each run with a broken file, which is left out.
    """
    left_out: list[str] = []
    runs, scores = run_index(layout, warn=left_out.append)
    write_rows(layout.path("all_runs"), RUNS_SCHEMA, runs)
    write_rows(layout.path("all_scores"), SCORES_SCHEMA, scores)
    return left_out


def run_index(
    layout: Layout, *, scale: str | None = None, warn: Callable[[str], None]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows of all runs, and of their scores, or of the runs at a scale, sorted by names.

    `warn` gets a sentence for each run with a broken file, which is left out.
    """
    runs: list[dict[str, Any]] = []
    scores: list[dict[str, Any]] = []
    for names in (run for run in started_runs(layout) if scale in (None, run["scale"])):
        try:
            row_and_scores = run_row(layout, names), list(score_rows(layout, names))
        except UserError as error:
            warn(f"{names['system']} on {names['dataset']}, seed {names['seed']}, is left out: {error}")
            continue
        runs.append(row_and_scores[0])
        scores += row_and_scores[1]
    return runs, scores


def started_runs(layout: Layout) -> list[dict[str, Any]]:
    """List the names of all runs in a results folder, finished or not, sorted."""
    types = ("attempts", "history", "checkpoints", "hypotheses", "scores")
    paths = [layout.parse(path) for file_type in types for path in layout.existing(file_type)]
    runs = {(path["scale"], path["dataset"], path["system"], int(path["seed"])) for path in paths if path}
    return [dict(zip(RUN_KEYS, run, strict=True)) for run in sorted(runs)]


def read_scores(layout: Layout) -> "pd.DataFrame":
    """Read all scores in a results folder from the runs' files, a row per score."""
    return score_frame(row for names in started_runs(layout) for row in score_rows(layout, names))


def score_frame(rows: Iterable[Mapping[str, Any]]) -> "pd.DataFrame":
    """Make the table of all scores from its rows."""
    return pa.Table.from_pylist(list(rows), schema=SCORES_SCHEMA).to_pandas()


def labelled(scores: "pd.DataFrame") -> "pd.DataFrame":
    """Add their `label` in tables to scores; those that are only details of others are left out."""
    scores = scores.assign(label=scores.measure.map(label_of))
    return scores[scores.label != ""]


def score_rows(layout: Layout, names: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the scores of a run."""
    for file_type in ("scores", "metric_scores", "gold_scores"):
        for path in layout.existing(file_type, **names):
            with explain_content(path):
                for row in _rows_of(read_json(path)):
                    yield {**names, **row}


def _rows_of(scores: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the scores of a file, without the run's names; none for parses without words."""
    for key in metric_labels(scores):
        for split, split_scores in scores.get(key, {}).items():
            for measure in ("bleu", "chrf") if key == "bleu" else (key,):
                yield {
                    **{"split": split, "measure": measure, "value": float(split_scores[measure])},
                    "sentences": split_scores["sentences"],
                    "length_ratio": split_scores.get("length_ratio") if measure == "bleu" else None,
                    "empty_translations": split_scores.get("empty_translations") if measure == "bleu" else None,
                    "signature": split_scores[f"{measure}_signature"],
                }
    for split, methods in [*scores.get("uas", {}).items(), *scores.get("gold.uas", {}).items()]:
        if methods.keys().isdisjoint(BASELINES):
            scored = scores_by_measure(methods)
            values = {name: parse_scores["uas"] for name, parse_scores in scored.items()}
            sentences = next(iter(scored.values()))["sentences"]
        else:
            values = {
                measure if name == "spanning_tree" else f"{name}_{measure}": parse_scores[measure]
                for name, parse_scores in methods.items()
                for measure in MEASURES
            }
            sentences = methods["spanning_tree"]["sentences"]
        for measure, value in values.items():
            if value is not None:
                yield {"split": split, "measure": measure, "value": value, "sentences": sentences}


def read_system_counts(layout: Layout, scores: "pd.DataFrame") -> dict[str, list[SentenceCounts]]:
    """Read the counts of each system's seeds, given their scores on one test by one measure."""
    counts: dict[str, list[SentenceCounts]] = {}
    for run in scores.itertuples():
        path = Path(layout.path("counts", **{key: getattr(run, key) for key in RUN_KEYS}))
        seed_counts = read_counts(path / file_name("split_counts", split=run.split), run.measure, score_of(run.measure))
        counts.setdefault(run.system, []).append(seed_counts)
    return counts
