"""The result that a user asks for: one system's scores on every split, over its seeds."""

from collections.abc import Sequence
from pathlib import Path

from nmtcore.errors import UserError
from nmtcore.evaluation.lines import summary_lines
from nmtcore.evaluation.seeds import summarise_seeds
from nmtcore.files import read_json, write_json


def write_summary(scores: Sequence[Path], *, seeds: Sequence[int], score: str, output: Path) -> list[str]:
    """Summarise the `scores.json` of each seed's run into `output`, for one kind of `score` ("bleu", "uas").

    The file names the data set, system, scale and seeds; `splits` holds each split's metrics with mean, standard
    deviation and values over the seeds, the main test first. Returns the means as lines, one per test split.
    """
    runs = [read_json(path) for path in scores]
    for path, run, seed in zip(scores, runs, seeds, strict=True):
        if run["seed"] != seed:
            raise UserError(f"{path} holds the scores of seed {run['seed']}, not {seed}: delete it and score again.")
        if score not in run:
            raise UserError(f"{path} has no {score}: {run['system']} does not give it.")
    named = {key: runs[0][key] for key in ("dataset", "system", "scale")}
    splits = summarise_seeds([run[score] for run in runs])
    summary = {**named, "seeds": list(seeds), "metric": score, "splits": splits}
    write_json(output, summary)
    return summary_lines(summary, output)
