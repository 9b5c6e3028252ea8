"""The treebanks of a table, and the parses of them by its runs."""

from pathlib import Path

from nmtcore.config.planned_tables import PlannedCell, PlannedTable
from nmtcore.errors import UserError
from nmtcore.evaluation.scores import OutputFiles, output_files
from nmtcore.layout import Layout
from nmtcore.parquet import row_count


class TableTreebanks:
    """The treebanks and parses that `nmtcore.planning.treebanks.treebank_facts` names in a table's plan."""

    def __init__(self, table: PlannedTable, layout: Layout) -> None:
        self._table, self._layout = table, layout

    def reason(self, cell: PlannedCell) -> str:
        """Say why a cell has no trees to measure; empty if it has some."""
        if cell.reason:
            return cell.reason
        if cell.dataset is None or cell.split not in self._table.more["treebanks"].get(cell.dataset, {}):
            return f"{cell.split or 'this'} is no treebank with gold trees of the source side"
        if cell.runs is not None and cell.split not in self._table.more["parsed"].get(cell.runs, ()):
            return f"{cell.system} does not parse"
        return ""

    def is_induced(self, runs: str) -> bool:
        """Return whether the trees of some runs are induced, so that there are parses by the untrained model."""
        return runs in self._table.more["induced"]

    def files(self, dataset: str, split: str) -> tuple[Path, Path]:
        """Return the pairs of a treebank and its gold trees."""
        paths = self._table.more["treebanks"][dataset][split]
        return Path(paths["pairs"]), Path(paths["trees"])

    def folders(self, runs: str) -> dict[int, Path]:
        """Return the folder of the parses of gold treebanks, by seed."""
        own = self._table.runs[runs]
        names = {"scale": self._table.scale, "dataset": own.dataset, "system": own.system}
        return {seed: Path(self._layout.path("gold_parses", **names, seed=seed)) for seed in own.seeds}

    def parses(self, runs: str, split: str) -> dict[int, OutputFiles]:
        """Return the parses of a treebank, by seed."""
        return {seed: output_files(folder, split) for seed, folder in self.folders(runs).items()}

    def sentences(self, dataset: str, split: str) -> int | None:
        """Return the number of sentences that all runs parse of a treebank; None if there are no runs.

        Raises `UserError` if the numbers differ.
        """
        first: tuple[int, Path] | None = None
        for key, splits in self._table.more["parsed"].items():
            if self._table.runs[key].dataset != dataset or split not in splits:
                continue
            for own in self.parses(key, split).values():
                count = row_count(own.parses)
                first = first or (count, own.parses)
                if count != first[0]:
                    raise UserError(
                        f"{first[1]} has {first[0]} sentences and {own.parses} {count}, so that they cannot be "
                        "compared: delete the folder of the older one and run the workflow again."
                    )
        return None if first is None else first[0]
