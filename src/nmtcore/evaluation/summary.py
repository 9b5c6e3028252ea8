"""Summary files: the scores of a system on every split, over its seeds."""

from collections.abc import Sequence
from pathlib import Path

from nmtcore.errors import UserError, shortened
from nmtcore.evaluation.lines import summary_lines
from nmtcore.evaluation.seeds import summarise_seeds
from nmtcore.files import explain_content, read_json, write_json


def write_summary(scores: Sequence[Path], *, seeds: Sequence[int], score: str, output: Path) -> list[str]:
    """Summarise one of the `SCORES` ("bleu", "uas") of the `scores.json` of each seed's run, and write it to `output`.

    The file names the data set, system, scale and seeds; `splits` has the mean, standard deviation and values of each
    split's metrics, the main test split first. Returns the means as lines, one per test split.
    """
    runs = [read_json(path) for path in scores]
    for path, run, seed in zip(scores, runs, seeds, strict=True):
        with explain_content(path):
            if run["seed"] != seed:
                own = shortened(str(run["seed"]))
                raise UserError(f"{path} holds the scores of seed {own}, not {seed}: delete it and score again.")
            if score not in run:
                raise UserError(f"{path} has no {score}: the system {run['system']} is not scored on it.")
            summarise_seeds([run[score]])
    with explain_content(scores[0]):
        names = {key: runs[0][key] for key in ("dataset", "system", "scale")}
    splits = summarise_seeds([run[score] for run in runs])
    summary = {**names, "seeds": list(seeds), "metric": score, "splits": splits}
    write_json(output, summary)
    return summary_lines(summary, output)
