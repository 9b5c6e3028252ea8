"""The tags with the highest gate norm of their sentence, as one table and one JSON."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from nmtcore.evaluation.gates import count_gates
from nmtcore.files import write_json, write_text
from nmtcore.layout import Layout
from nmtcore.reporting.markdown import markdown_table, percent

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
    entries = [_entry(*names, counts_by_seed) for names, counts_by_seed in runs.items()]
    write_json(json, entries)
    header = [
        "data set", "system", "test", "tag", "highest", "highest, %", "words, %", "subwords, %", "mean norm",
        "lowest, %",
    ]  # fmt: skip
    seeds = ", ".join(map(str, entries[0]["seeds"]))
    text = markdown_table(header, [row for entry in entries for row in _rows(entry)], text=4) + _NOTES.format(
        scale=entries[0]["scale"], seeds=seeds
    )
    write_text(table, text)
    return text


def _entry(dataset: str, system: str, scale: str, split: str, runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Average the counts of a system over its seeds; what does not depend on the model is the same for all of them."""
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
            f"{tag['highest']:,.1f}".removesuffix(".0"),
            percent(tag["highest"], entry["tagged"]),
            percent(tag["words"], words),
            percent(tag["pieces"], pieces),
            f"{tag['norm']:.3f}",
            None,
        ]
    if not entry["tags"]:
        yield [*names, "no tags", None, None, None, None, _norm(entry["norm"]), None]
    lowest = percent(entry["end_lowest"], entry["sentences"])
    yield [*names, "`</s>`", None, None, None, None, _norm(entry["end_norm"]), lowest]


def _norm(value: float | None) -> str | None:
    return None if value is None else f"{value:.3f}"
