"""Scores and training speeds of the configured systems, as one table and one JSON."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any

from nmtcore.errors import UserError
from nmtcore.evaluation.lines import DEV, GREEDY_DEV, tests_of
from nmtcore.evaluation.scores import output_files
from nmtcore.files import explain_content, read_json, read_lines, write_json
from nmtcore.layout import Layout
from nmtcore.reporting.empty_translations import mostly_empty
from nmtcore.reporting.induction_table import induction_entries, induction_table
from nmtcore.reporting.pages import write_page
from nmtcore.reporting.results_listing import UAS_COMPARES
from nmtcore.reporting.table import (
    Page,
    Paragraph,
    SeedMean,
    item_blocks,
    make_table,
    note,
    number_columns,
    text_columns,
)
from nmtcore.training.log import TRANSLATION_LOSS, read_history

_NOTES = f"""
Scale {{scale}}, seeds {{seeds}}; mean over seeds, and standard deviation if there are several. UAS: heads by the argmax
of each word's scores, and by the maximum spanning tree, {UAS_COMPARES},
punctuation included. Dev BLEU: with the beam of the tests, and by greedy search, as in validation (where the data set's
`evaluation` has `greedy_dev: true`). Loss: translation loss per target token, with label smoothing and without the
losses of components, in the first and last line of the training log; empty without training pairs. (The transform
parsing_task puts linearised parses under the same loss.) Tokens/s: target tokens without padding, median over the log's
lines. Time: training time.
"""


def write_system_table(
    *,
    bleu: Sequence[Path],
    uas: Sequence[Path],
    induced: Sequence[Path] = (),
    histories: Sequence[Path],
    external: Mapping[str, str] | None = None,
    layout: Layout,
    json: Path,
    table: Path,
) -> str:
    """Tabulate systems, one row per system and test split, as JSON and Markdown; return the Markdown.

    A second table has the accuracy of induced trees.

    Args:
        bleu: `{dataset}/{system}.bleu` of every system.
        uas: `{dataset}/{system}.uas` of the systems that parse.
        induced: `{dataset}/{system}.gold.uas` of the systems whose trees are induced.
        histories: `{dataset}/{system}/seed{seed}/training.jsonl` of every run that is trained here.
        external: the origin of the translations of each system that is not; its training is empty.
        layout: names the data set and system of each history.
        json: output, a list of the rows of the first table and of the `induction_entries`.
        table: output as Markdown.
    """
    heads = dict(map(_accuracies, uas))
    training: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for path in histories:
        training.setdefault(_dataset_and_system(layout.names(path, "history")), []).append(training_facts(path))
    results, entries, rows = [], [], []
    for path in bleu:
        with explain_content(path):
            results.append(result := read_json(path))
            names = _dataset_and_system(result)
            own = [
                _system_entry(result, split, heads.get(names), training.get(names))
                for split in tests_of(result["splits"])
            ]
            entries += own
            rows += map(_system_row, own)
    trees = induction_entries(induced)
    write_json(json, [*entries, *trees])
    scores = ("BLEU", "chrF", "UAS", "UAS (tree)", "dev BLEU (beam)", "dev BLEU (greedy)")
    columns = [
        *text_columns("data set", "system", "test"),
        *number_columns(*scores, content="mean", digits=1),
        *number_columns("loss, first", "loss, last", digits=2),
        *number_columns("updates", "tokens/s"),
        *number_columns("time", content="duration"),
    ]
    seeds = dict.fromkeys(seed for result in results for seed in result["seeds"])
    notes = note(_NOTES.format(scale=results[0]["scale"], seeds=", ".join(map(str, seeds))))
    systems = make_table(columns, rows)
    origins = _external_notes(external or {}, results)
    empty = item_blocks(sentence for result in results for sentence in _empty_translations(result, layout))
    return write_page(Page(title="Systems", blocks=(*empty, systems, notes, *origins, *induction_table(trees))), table)


def _empty_translations(result: Mapping[str, Any], layout: Layout) -> Iterator[str]:
    """Yield a sentence for each seed of a summary whose translations of a test are mostly empty.

    The translations are no inputs of the table: those that are not there any more are left out.
    """
    names = {key: result[key] for key in ("scale", "dataset", "system")}
    for seed in result["seeds"]:
        folder = Path(layout.path("hypotheses", **names, seed=seed))
        for split in tests_of(result["splits"]):
            if (path := output_files(folder, split).translations).exists():
                name = f"{result['dataset']}/{result['system']}, seed {seed}, {split}"
                yield from mostly_empty(name, read_lines(path))


def _external_notes(external: Mapping[str, str], results: Sequence[Mapping[str, Any]]) -> list[Paragraph]:
    """Say of each external system where its translations come from, and which seeds they count as."""
    notes = []
    for system, origin in external.items():
        seeds = sorted({seed for result in results if result["system"] == system for seed in result["seeds"]})
        shown = f"seed{'' if len(seeds) == 1 else 's'} {', '.join(map(str, seeds))}"
        notes.append(note(f"{system} ({shown}) was not trained here; its translations: {origin}"))
    return notes


TRAINING_FACTS = ("first_loss", "last_loss", "updates", "tokens_per_second", "seconds")
"""The keys of `training_facts`, in their order."""


def training_facts(history: Path) -> dict[str, Any]:
    """Summarise a training log: a value for each of `TRAINING_FACTS`.

    The losses are translation losses; None if the log has none, because there were no training pairs or because an
    earlier version of this package wrote it. Raises UserError if the log is broken or records no update.
    """
    steps, seconds = [], 0.0
    for entry in read_history(history):
        seconds = entry.get("seconds", seconds)
        steps += [entry] if "loss" in entry else []
    if not steps:
        raise UserError(f"{history} records no update: delete it and train again.")
    with explain_content(history):
        return {
            "first_loss": steps[0].get(TRANSLATION_LOSS),
            "last_loss": steps[-1].get(TRANSLATION_LOSS),
            "updates": steps[-1]["update"],
            "tokens_per_second": median(step["tokens_per_second"] for step in steps),
            "seconds": seconds,
        }


def _accuracies(path: Path) -> tuple[tuple[str, str], dict[str, dict[str, Any]]]:
    """Read the accuracy of a system's heads: its data set and name, and the UAS of each split by decoding."""
    with explain_content(path):
        result = read_json(path)
        uas = {
            split: {decoding: scores[decoding]["uas"] for decoding in ("argmax", "spanning_tree") if decoding in scores}
            for split, scores in result["splits"].items()
        }
        return _dataset_and_system(result), uas


def _dataset_and_system(result: Mapping[str, Any]) -> tuple[str, str]:
    return result["dataset"], result["system"]


def _system_entry(
    result: Mapping[str, Any], split: str, heads: Mapping[str, Any] | None, runs: Sequence[Mapping[str, Any]] | None
) -> dict[str, Any]:
    scores = result["splits"][split]
    return {
        **{key: result[key] for key in ("dataset", "system", "scale", "seeds")},
        "split": split,
        "bleu": scores["bleu"],
        "chrf": scores["chrf"],
        "uas": heads[split] if heads else {},
        **{
            key: result["splits"][name]["bleu"] if name in result["splits"] else None
            for key, name in (("dev_bleu", DEV), ("greedy_dev_bleu", GREEDY_DEV))
        },
        "bleu_signature": scores["bleu_signature"],
        **{key: _mean_over_seeds(run[key] for run in runs) if runs else None for key in TRAINING_FACTS},
    }


def _system_row(entry: Mapping[str, Any]) -> list[Any]:
    uas = entry["uas"]
    scores = [entry["bleu"], entry["chrf"], uas.get("argmax"), uas.get("spanning_tree")]
    return [
        *(entry[key] for key in ("dataset", "system", "split")),
        *map(SeedMean.of, (*scores, entry["dev_bleu"], entry["greedy_dev_bleu"])),
        *(entry[key] for key in TRAINING_FACTS),
    ]


def _mean_over_seeds(values: Iterable[float | None]) -> float | None:
    """Average over seeds; None if a seed has no value."""
    seeds = list(values)
    return None if None in seeds else mean(seeds)
