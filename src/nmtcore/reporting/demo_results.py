"""What the demo shows at its end: a table, a sentence on what was seen, and commands to type next."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

from nmtcore.evaluation.compare import Difference, compare_systems
from nmtcore.evaluation.counts import SentenceCounts, empty_count, read_counts
from nmtcore.evaluation.metrics import score_of
from nmtcore.files import write_text
from nmtcore.layout import Layout, file_name
from nmtcore.reporting.listings import systems_text

_COMMANDS = """\
To go on, type for example (translate a sentence; draw its tree and the
attention; train a control of the head that parses):

source .venv/bin/activate
MODEL={folder}/{scale}/{dataset}/{parser}/seed{seed}/model
echo "The teacher says that the child sleeps." | nmtcore translate $MODEL
echo "The teacher says that the child sleeps." | nmtcore show $MODEL > page.html
snakemake --cores 2 {folder}/{scale}/{dataset}/{parser_control}.bleu
"""


def write_demo(output: Path, *, counts: Sequence[Path], comparison: Mapping[str, Any], layout: Layout) -> None:
    """Write what `demo_text` says of the counts, with the arguments `comparison` of planning."""
    write_text(output, demo_text(counts, layout=layout, **comparison))


def demo_text(
    counts: Sequence[Path],
    *,
    layout: Layout,
    split: str,
    compared_with: Mapping[str, str | None],
    measured: Mapping[str, Any],
    **parsers: str,
) -> str:
    """Score the demo's systems on a test, each beside what it is compared with, and say so for the terminal.

    Args:
        counts: the folder of counts of every system and seed.
        layout: names the system and the seed of each folder.
        split: the test.
        compared_with: the system that each is compared with, or None.
        measured: what was gained with more seeds, said if there is only one.
        parsers: `parser` and `parser_control`, the systems in the commands.
    """
    read: dict[str, dict[int, SentenceCounts]] = {name: {} for name in compared_with}
    for folder in counts:
        names = layout.names(folder, "counts")
        path = folder / file_name("split_counts", split=split)
        read[names["system"]][int(names["seed"])] = read_counts(path, "bleu", score_of("bleu"))
    systems = {name: list(by_seed.values()) for name, by_seed in read.items()}
    differences = compare_systems(systems, compared_with)
    seeds, sentences = list(next(iter(read.values()))), len(next(iter(systems.values()))[0])
    notes = [
        f"{name}, seed {seed}: {empty:,} of {sentences:,} translations are empty."
        for name, by_seed in read.items()
        for seed, counts in by_seed.items()
        if (empty := empty_count(counts))
    ]
    pairs = {(name, compared_with[name]): difference for name, difference in differences.items()}
    evidence = meaning(pairs, sentences=sentences, seeds=len(seeds))
    notes.append(f"After a difference, ± is half of its 95 % interval. {evidence}")
    notes += [measured_sentences(**measured)] * (len(seeds) == 1)
    table = systems_text({"bleu": systems}, {"bleu": differences}, compared_with=compared_with)
    commands = _COMMANDS.format(folder=layout.results, **names | {"seed": seeds[0]}, **parsers)
    return "\n".join([table, *(f"{fill(note, 80)}\n" for note in notes), commands])


def meaning(differences: Mapping[tuple[str, str], Difference], *, sentences: int, seeds: int) -> str:
    """Say in a sentence how systems differ from what they are compared with, and what limits the evidence."""
    clauses = []
    for (system, other), difference in differences.items():
        low, high = difference.interval
        differs = f"scores {abs(difference.delta):.1f} points of BLEU {'more' if difference.delta > 0 else 'less'} than"
        clauses.append(f"{system} {'does not clearly differ from' if low <= 0 <= high else differs} {other}")
    noise = f"with {seeds} seeds" if seeds > 1 else "with one seed, which leaves out the noise of training"
    return f"On {sentences:,} sentences and {noise}, {', '.join(clauses[:-1])}, and {clauses[-1]}."


def measured_sentences(seeds: Sequence[int], gains: Mapping[str, Sequence[float]], note: str) -> str:
    """Say how much gains vary between seeds: the smallest and the largest of each system."""
    (system, first), *others = ((name, f"{min(values):.1f} to {max(values):.1f}") for name, values in gains.items())
    more = "".join(f", and of {name} {extent}" for name, extent in others)
    said = f"with the seeds {min(seeds)} to {max(seeds)}, gains of {system} were {first} points{more}"
    return f"That noise is large: {said}. {note}"
