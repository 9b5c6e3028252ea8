"""What the demo shows at its end: a table, a sentence on what was seen, and commands to type next."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from textwrap import fill
from typing import Any

from nmtcore.evaluation.compare import compare_systems
from nmtcore.evaluation.counts import SentenceCounts, length_ratio, read_counts
from nmtcore.evaluation.metrics import score_of
from nmtcore.files import read_json, write_json, write_text
from nmtcore.layout import Layout, file_name
from nmtcore.parquet import read_rows
from nmtcore.reporting.empty_translations import empty_counts
from nmtcore.reporting.pages import write_page
from nmtcore.reporting.table import (
    Estimate,
    Page,
    Paragraph,
    SeedMean,
    estimate_column,
    item_blocks,
    make_table,
    number_columns,
    text_columns,
)
from nmtcore.reporting.terminal_table import spread_text, terminal_table

_COMMANDS = """\
Next, type for example (translate a sentence; see its tree and the attention;
count how often each system finds the right translation more probable than a
wrong one):

source .venv/bin/activate
MODEL={folder}/{scale}/{dataset}/{system}/seed{seed}/model
echo "He says that she sleeps." | nmtcore translate $MODEL
echo "He says that she sleeps." | nmtcore show $MODEL > page.html
snakemake --cores 2 {folder}/tables/contrast.md --config scale={scale}
"""


def demo_results(
    *, bleu: Sequence[Path], uas: Sequence[Path], counts: Sequence[Path], trees: Path, layout: Layout
) -> dict[str, Any]:
    """Compare the demo's systems with the first of them on the main test, as plain values.

    Args:
        bleu: the summary of each system's BLEU, the baseline first.
        uas: the summaries of the heads' accuracy, of the systems that have one.
        counts: the folder of counts of every system and seed.
        trees: heads of the test's source sentences.
        layout: names the system of each folder.
    """
    summaries, heads = ({own["system"]: own for own in map(read_json, paths)} for paths in (bleu, uas))
    first = next(iter(summaries.values()))
    split = next(iter(first["splits"]))
    read: dict[str, list[SentenceCounts]] = {}
    for folder in counts:
        own = read_counts(folder / file_name("split_counts", split=split), "bleu", score_of("bleu"))
        read.setdefault(layout.names(folder, "counts")["system"], []).append(own)
    compared = compare_systems(read, baseline=first["system"])
    systems = []
    for name, own in compared.items():
        head = next(iter(heads[name]["splits"].values()))["argmax"]["uas"]["values"] if name in heads else None
        ratio = fmean(length_ratio(seed) for seed in read[name])
        difference = own.difference and asdict(own.difference)
        systems.append(
            {"system": name, "bleu": own.scores, "length_ratio": ratio, "difference": difference, "uas": head}
        )
    return {
        **{key: first[key] for key in ("dataset", "scale", "seeds")},
        "split": split,
        "sentences": len(read[first["system"]][0]),
        "signature": read[first["system"]][0].signature,
        "empty": [item for name, own in read.items() for item in empty_counts(own, first["seeds"], name, split)],
        "neighbour": neighbour_share(trees),
        "systems": systems,
    }


def write_demo(results: Mapping[str, Any], *, folder: str, json: Path, table: Path, text: Path) -> None:
    """Write the results as JSON, as a page in all formats and as text; `folder` is that of all results."""
    write_json(json, results)
    numbers = [
        *number_columns("BLEU", content="mean", digits=1),
        *number_columns("length", digits=2),
        estimate_column(),
        *number_columns("accuracy of the head, %", content="mean", digits=1),
    ]
    rows = []
    for own in results["systems"]:
        compared, uas = own["difference"], own["uas"]
        difference = compared and Estimate(compared["delta"], *compared["interval"])
        head = None if uas is None else SeedMean.over(uas)
        rows.append([own["system"], SeedMean.over(own["bleu"]), own["length_ratio"], difference, head])
    blocks = (*item_blocks(results["empty"]), make_table([*text_columns("system"), *numbers], rows))
    write_page(Page(title="The demo", blocks=(*blocks, Paragraph(meaning(results)))), table)
    write_text(text, demo_text(results, folder=folder))


def demo_text(results: Mapping[str, Any], *, folder: str) -> str:
    """Make the text for the terminal."""
    rows = []
    for own in results["systems"]:
        compared = own["difference"]
        difference = None
        if compared is not None:
            low, high = compared["interval"]
            difference = f"{compared['delta']:+.1f} ({low:+.1f} to {high:+.1f})"
        head = None if own["uas"] is None else f"{spread_text(own['uas'])} %"
        rows.append([own["system"], spread_text(own["bleu"]), f"{own['length_ratio']:.2f}", difference, head])
    header = ["system", "BLEU", "length", "difference (95 %)", "accuracy of the head"]
    system = next((own["system"] for own in results["systems"] if own["uas"]), results["systems"][0]["system"])
    names = {key: results[key] for key in ("scale", "dataset")}
    commands = _COMMANDS.format(folder=folder, system=system, seed=results["seeds"][0], **names)
    notes = [*results["empty"], meaning(results)]
    return "\n".join([terminal_table(header, rows), *(f"{fill(note, 80)}\n" for note in notes), commands])


def meaning(results: Mapping[str, Any]) -> str:
    """Say in a sentence what was seen: whether the first system that parses differs, and what its head finds."""
    baseline, own = results["systems"][0]["system"], results["systems"][1]
    delta, (low, high) = own["difference"]["delta"], own["difference"]["interval"]
    seeds = len(results["seeds"])
    tested = f"{results['sentences']:,} sentences and {seeds} seed{'s' * (seeds > 1)}"
    scored = f"{own['system']} scores {abs(delta):.1f} points of BLEU {'more' if delta > 0 else 'less'} than {baseline}"
    proven = seeds > 1 and not low <= 0 <= high
    scored += f", more than chance explains ({tested})" if proven else f", which {tested} do not prove"
    uas, neighbour = fmean(own["uas"]), results["neighbour"]
    more = "more" if uas > neighbour["share"] else "no more"
    return (
        f"{scored}; its head finds the governor of {uas:.1f} % of the words, {more} than the "
        f"{neighbour['share']:.1f} % that always pointing to the {neighbour['word']} word would find."
    )


def neighbour_share(trees: Path) -> dict[str, Any]:
    """Return which `word`, the next or the previous one, is the head of more words, and their `share` in percent."""
    heads = [row["head"] for row in read_rows(trees, columns=["head"])]
    offsets = [head - number for own in heads for number, head in enumerate(own or (), start=1) if head]
    words = max(1, sum(len(own or ()) for own in heads))
    shares = {word: 100 * offsets.count(offset) / words for word, offset in (("next", 1), ("previous", -1))}
    word = max(shares, key=lambda name: shares[name])
    return {"word": word, "share": shares[word]}
