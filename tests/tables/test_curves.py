"""Curves in the logs of runs: what is read, which scores are drawn, and logs that are refused."""

import json

import pandas as pd
import pytest
from tables.planned import planned, stored_frame

from nmtcore.errors import UserError
from nmtcore.files import write_lines
from nmtcore.tables.curves import POINTS, drawn_rows, system_curves


def write_history(layout, dataset, system, seed, validations):
    """Write a log with a training line before each validation."""
    path = layout.path("history", scale="quick", dataset=dataset, system=system, seed=seed)
    lines = [
        {"update": update, "seconds": 1} | own
        for update, scores in validations
        for own in ({"loss": 3.0}, {"validation": scores, "best": True})
    ]
    write_lines(path, list(map(json.dumps, lines)))
    return path


def bleu(*scores):
    return [((i + 1) * 1000, {"perplexity": 9.0, "bleu": score}) for i, score in enumerate(scores)]


def table_of(*histories):
    """Plan a table of curves of some runs, given by data set, system and log."""
    cells = [{"row": system, "column": "", "system": system, "dataset": dataset, "runs": f"{dataset}/{system}",
              "source": {"files": {"history": {"1": str(path)}}}}
             for dataset, system, path in histories]  # fmt: skip
    return planned("curves", cells)


def values(rows):
    names = ["dataset", "system", "seed", "metric"]
    return {names: own[["update", "value"]].to_numpy().tolist() for names, own in rows.groupby(names)}


def test_validations_have_bleu_or_the_perplexity_of_all_systems(layout):
    logs = {("d", "base"): bleu(10, 12), ("d", "other"): bleu(9, None, 15), ("e", "base"): bleu(10, 12),
            ("e", "nmt"): [(500, {"perplexity": 8.5})]}  # fmt: skip
    histories = [(*names, write_history(layout, *names, 1, log)) for names, log in logs.items()]
    frame = stored_frame(table_of(*histories))
    assert values(drawn_rows(pd.DataFrame(frame.rows))) == {
        ("d", "base", 1, "bleu"): [[1000, 10], [2000, 12]],
        ("d", "other", 1, "bleu"): [[1000, 9], [3000, 15]],
        ("e", "base", 1, "bleu"): [[1000, 10], [2000, 12]],
        ("e", "base", 1, "perplexity"): [[1000, 9], [2000, 9]],
        ("e", "nmt", 1, "perplexity"): [[500, 8.5]],
    }


def test_broken_logs_are_refused(layout):
    path = write_history(layout, "d", "base", 1, [])
    table = table_of(("d", "base", path))
    with pytest.raises(UserError, match=r"training.jsonl records no validation, so there is no curve to draw"):
        stored_frame(table)
    for line, sentence in (("{", "line 1: this is not JSON"), ("3", "line 1: this is no line of a training log")):
        write_lines(path, [line])
        with pytest.raises(UserError, match=sentence):
            stored_frame(table)


def test_the_curves_of_a_run_are_of_all_that_its_log_has(tmp_path):
    """The loss is thinned to means, so that seeds keep the same updates; validations are not."""
    losses = [{"update": 10 * k, "loss/translation": float(k)} for k in range(1, 4 * POINTS + 1)]
    validation = {"perplexity": 5.0, "bleu": 3.0, "accuracy/tag_attention": 0.25}
    for name, lines in (("1", losses), ("2", losses[: 2 * POINTS])):
        write_lines(tmp_path / name, list(map(json.dumps, [*lines, {"update": 9, "validation": validation}])))
    curves = values(system_curves("d", "s", {seed: tmp_path / str(seed) for seed in (1, 2)}))
    first, second = (curves["d", "s", seed, "loss"] for seed in (1, 2))
    assert (len(first), len(second)) == (POINTS, POINTS / 2)
    assert first[1] == [80, 6.5]
    assert second == first[: POINTS // 2]
    assert [curves["d", "s", 1, metric] for metric in ("bleu", "accuracy")] == [[[9, 3]], [[9, 25]]]
