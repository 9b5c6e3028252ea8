"""What pages say on top about runs whose translations are mostly empty."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from nmtcore.evaluation.counts import empty_count
from nmtcore.evaluation.outputs import SplitOutputs
from nmtcore.evaluation.scores import output_files
from nmtcore.files import read_lines
from nmtcore.tables.cells import PlannedTable
from nmtcore.tables.scores import stored_counts


def mostly_empty(name: str, lines: Sequence[str]) -> Iterator[str]:
    """Yield a sentence if more than half of some translations are empty; `name` says whose they are."""
    yield from _mostly_empty(name, sum(not line.strip() for line in lines), len(lines))


def _mostly_empty(name: str, empty: int, lines: int) -> Iterator[str]:
    if 2 * empty > lines:
        yield f"{name}: {empty:,} of {lines:,} translations are empty."


def empty_outputs(outputs: SplitOutputs, dataset: str, split: str) -> Iterator[str]:
    """Yield a sentence for each seed of the systems on a data set's split whose translations are mostly empty."""
    for system, seeds in outputs.translations.items():
        for seed, lines in seeds.items():
            yield from mostly_empty(f"{dataset}/{system}, seed {seed}, {split}", lines)


def empty_folders(folders: Mapping[str, Path], name: str) -> Iterator[str]:
    """Yield a sentence for each of the splits that a run has translated whose translations are mostly empty.

    `folders` are those of the run's translations by split, and `name` names the run.
    """
    for split, folder in folders.items():
        path = output_files(folder).translations
        if path.exists():
            yield from mostly_empty(f"{name}, {split}", read_lines(path))


def empty_translations(table: PlannedTable) -> Iterator[str]:
    """Yield a sentence for each seed of a table's runs whose translations of a split of its cells are mostly empty."""
    tests = {(cell.runs, cell.test): cell.source for cell in table.cells if cell.source.get("column") == "bleu"}
    for (runs, split), source in tests.items():
        for seed, own in zip(table.runs[runs].seeds, stored_counts(source), strict=True):
            yield from _mostly_empty(f"{runs}, seed {seed}, {split}", empty_count(own), len(own))
