"""The tags with the highest gate norm of their sentence, as one table and one JSON."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from nmtcore.evaluation.gates import count_gates
from nmtcore.files import write_json
from nmtcore.layout import Layout
from nmtcore.reporting.pages import write_page
from nmtcore.reporting.table import Page, TableCell, make_table, note, number_columns, percentage, text_columns

_NOTES = """
Scale {scale}, seeds {seeds}, mean over seeds. Gate norm: L2 norm of the gate with which a subword of the reference is
predicted. Highest: sentences whose highest norm is at a subword of a word with this tag, and their percentage of the
tagged sentences, next to the tag's percentage of all words, and of all subwords. `</s>` has no tag: its row has the
mean norm, and the percentage of sentences in which it has the lowest. "no tags": the data set names no tags for the
target side, so that only means can be given.
"""


def write_gate_table(gates: Sequence[Path], *, layout: Layout, json: Path, table: Path) -> str:
    """Tabulate gate norms by tag, as JSON and Markdown; return the Markdown.

    Args:
        gates: `{dataset}/{system}/seed{seed}/gates/{split}.parquet` of every run, at one scale.
        layout: names the data set, system and seed of each path.
        json: output, a list with one entry per data set, system and split.
        table: output as Markdown.
    """
    runs: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for path in gates:
        names = layout.names(path, "gates")
        key = tuple(names[name] for name in ("dataset", "system", "scale", "split"))
        runs.setdefault(key, []).append({"seed": int(names["seed"]), **count_gates(path)})
    entries = [gates_summary(*names, counts_by_seed) for names, counts_by_seed in runs.items()]
    write_json(json, entries)
    columns = [
        *text_columns("data set", "system", "test", "tag"),
        *number_columns("highest"),
        *number_columns("highest, %", "words, %", "subwords, %", digits=2),
        *number_columns("mean norm", digits=3),
        *number_columns("lowest, %", digits=2),
    ]
    seeds = ", ".join(map(str, entries[0]["seeds"]))
    rows = [row for entry in entries for row in _rows(entry)]
    notes = _NOTES.format(scale=entries[0]["scale"], seeds=seeds)
    return write_page(Page(title="Gates by tag", blocks=(make_table(columns, rows), note(notes))), table)


def gates_summary(
    dataset: str, system: str, scale: str, split: str, runs: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Average the counts of a system over its seeds; what does not depend on the model is the same for all of them.

    `runs` has for each seed its number, `seed`, and the result of `count_gates`. Tags are sorted by `highest`.
    """
    tags = {
        tag: {key: fmean(run["tags"][tag][key] for run in runs) for key in ("highest", "words", "pieces", "norm")}
        for tag in runs[0]["tags"]
    }
    return {
        "dataset": dataset,
        "system": system,
        "scale": scale,
        "seeds": [run["seed"] for run in runs],
        "split": split,
        "sentences": runs[0]["sentences"],
        "tagged": runs[0]["tagged"],
        "tags": dict(sorted(tags.items(), key=lambda item: -item[1]["highest"])),
        **{key: None if runs[0][key] is None else fmean(run[key] for run in runs) for key in ("norm", "end_norm")},
        "end_lowest": fmean(run["end_lowest"] for run in runs),
    }


def _rows(entry: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Yield a row per tag, that with the highest norm most often first, and a row for `</s>`."""
    names = [entry[key] for key in ("dataset", "system", "split")]
    words, pieces = (sum(tag[key] for tag in entry["tags"].values()) for key in ("words", "pieces"))
    for name, tag in entry["tags"].items():
        yield [
            *names,
            name,
            TableCell(tag["highest"], digits=0 if f"{tag['highest']:.1f}".endswith(".0") else 1),
            percentage(tag["highest"], entry["tagged"]),
            percentage(tag["words"], words),
            percentage(tag["pieces"], pieces),
            tag["norm"],
            None,
        ]
    if not entry["tags"]:
        yield [*names, "no tags", None, None, None, None, entry["norm"], None]
    lowest = percentage(entry["end_lowest"], entry["sentences"])
    yield [*names, "`</s>`", None, None, None, None, entry["end_norm"], lowest]
