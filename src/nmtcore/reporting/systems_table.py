"""How well systems do, and how fast they train: every configured run's scores in one table and one JSON."""

import json as json_format
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any

from nmtcore.errors import LineError, UserError
from nmtcore.evaluation.lines import spread, tests_of
from nmtcore.files import read_json, read_lines, write_json, write_text
from nmtcore.layout import Layout
from nmtcore.reporting.markdown import markdown_table
from nmtcore.training.history import TRANSLATION_LOSS
from nmtcore.training.progress import duration

_NOTES = """
{scale}, seeds {seeds}; the mean over seeds, and the standard deviation where there are several. UAS: by the argmax of
the supervised attention row, and by the maximum spanning tree, against the parser's trees (for a diagonalparse system:
against the previous word), punctuation included. Loss: the translation's alone, per target token and with the label
smoothing that it is trained with, without what components add; of the first and the last line of the training log,
empty where no pairs are trained on. (currey_heafield: over translations and linearised parses, which share one loss.)
Tokens/s: target tokens without padding, the median of the log's lines. Time: of training.
"""


def write_system_table(
    *, bleu: Sequence[Path], uas: Sequence[Path], histories: Sequence[Path], layout: Layout, json: Path, table: Path
) -> str:
    """Put systems side by side, a row a test split, as JSON and as Markdown; return the Markdown.

    Args:
        bleu: `{dataset}/{system}.bleu` of every system.
        uas: `{dataset}/{system}.uas` of those that parse.
        histories: `{dataset}/{system}/seed{seed}/training.jsonl` of every run.
        layout: where the files lie.
        json: where everything is written as JSON, a list.
        table: where it is written as Markdown.
    """
    heads = {_owner(result): result for result in map(read_json, uas)}
    trained: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for path in histories:
        trained.setdefault(_owner(layout.names(path, "history")), []).append(training_facts(path))
    results = [read_json(path) for path in bleu]
    entries = [
        _entry(result, split, heads.get(_owner(result)), trained[_owner(result)])
        for result in results
        for split in tests_of(result["splits"])
    ]
    write_json(json, entries)
    header = [
        "data set", "system", "test", "BLEU", "chrF", "UAS", "UAS (tree)", "dev BLEU", "loss, first", "loss, last",
        "updates", "tokens/s", "time",
    ]  # fmt: skip
    notes = _NOTES.format(scale=f"Scale {results[0]['scale']}", seeds=", ".join(map(str, results[0]["seeds"])))
    text = markdown_table(header, [_row(entry) for entry in entries], text=3) + notes
    write_text(table, text)
    return text


def training_facts(history: Path) -> dict[str, Any]:
    """Read what a training log says: {first_loss, last_loss, updates, tokens_per_second, seconds}.

    The losses are the translation's; None where the log has none: nothing was translated, or an earlier version of this
    package wrote it.
    """
    steps, seconds = [], 0.0
    for number, line in enumerate(read_lines(history), start=1):
        try:
            entry = json_format.loads(line)
        except json_format.JSONDecodeError as error:
            raise LineError(history, number, "this is no JSON: delete the file and train again.") from error
        seconds = entry.get("seconds", seconds)
        steps += [entry] if "loss" in entry else []
    if not steps:
        raise UserError(f"{history} tells of no update: delete it and train again.")
    return {
        "first_loss": steps[0].get(TRANSLATION_LOSS),
        "last_loss": steps[-1].get(TRANSLATION_LOSS),
        "updates": steps[-1]["update"],
        "tokens_per_second": median(step["tokens_per_second"] for step in steps),
        "seconds": seconds,
    }


def _owner(result: Mapping[str, Any]) -> tuple[str, str]:
    return result["dataset"], result["system"]


def _entry(
    result: Mapping[str, Any], split: str, heads: Mapping[str, Any] | None, runs: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    scores, dev = result["splits"][split], result["splits"].get("dev")
    ways = heads["splits"][split] if heads else {}
    return {
        **{key: result[key] for key in ("dataset", "system", "scale", "seeds")},
        "split": split,
        "bleu": scores["bleu"],
        "chrf": scores["chrf"],
        "uas": {way: ways[way]["uas"] for way in ("argmax", "spanning_tree") if way in ways},
        "dev_bleu": dev["bleu"] if dev else None,
        "bleu_signature": scores["bleu_signature"],
        **{key: _mean(run[key] for run in runs) for key in runs[0]},
    }


def _row(entry: Mapping[str, Any]) -> list[Any]:
    uas = entry["uas"]
    return [
        *(entry[key] for key in ("dataset", "system", "split")),
        *(
            None if value is None else spread(value)
            for value in (entry["bleu"], entry["chrf"], uas.get("argmax"), uas.get("spanning_tree"), entry["dev_bleu"])
        ),
        *(None if entry[key] is None else f"{entry[key]:.2f}" for key in ("first_loss", "last_loss")),
        round(entry["updates"]),
        round(entry["tokens_per_second"]),
        duration(entry["seconds"]),
    ]


def _mean(values: Iterable[float | None]) -> float | None:
    """Average over seeds; None where there is nothing to average."""
    found = list(values)
    return None if None in found else mean(found)
