"""The scores of a results folder as text for the terminal: one row per system, compared with a baseline."""

from pathlib import Path
from typing import TYPE_CHECKING

from nmtcore.errors import UserError
from nmtcore.layout import Layout
from nmtcore.reporting.run_index import baseline_differences, labelled, read_scores
from nmtcore.reporting.terminal_table import difference_text, fill_terminal, fitting_table, spread_text, terminal_table

if TYPE_CHECKING:
    import pandas as pd

UAS_COMPARES = "compared with the parser's trees (for a diagonalparse system: with the previous word)"
"""What heads are compared with in scores named UAS, on splits that are no treebanks; for notes below tables."""
UAS_NOTE = f"UAS: of the most probable heads, {UAS_COMPARES} or, on a split gold_..., with a treebank's."
"""What a score named UAS is."""

_TEST = ["scale", "dataset", "split"]
_NOTES = (
    "Means over seeds, ± the standard deviation. length: of the translations, divided by that of the references. "
    "difference: from {baseline}, ± half of its 95 % interval; with one seed this leaves training noise out."
)
_ALL_NOTES = f"Means over seeds, ± the standard deviation. {UAS_NOTE} directed: accuracy of induced trees."


def results_listing(folder: Path, *, baseline: str = "transformer_base", every: bool = False) -> str:
    """Tabulate the scores of all runs in a results folder: BLEU, length and chrF of the first test of each data set.

    Systems are compared with the `baseline` where it has been run. `every` shows all splits and scores instead. Raises
    `UserError` if the folder has no scores, or is not a results folder.
    """
    layout = Layout(results=str(folder))
    scores = read_scores(layout) if folder.is_dir() else None
    if scores is None or scores.empty:
        raise UserError(f"There are no scores in {folder}: name a results folder in which a run has been scored.")
    scores = labelled(scores)
    if every:
        return _all_scores(scores)
    bleu = scores[scores.measure == "bleu"]
    first = bleu.groupby(_TEST[:2], sort=False).split.first().reset_index()
    blocks = []
    for test, own in scores[scores.measure.isin(("bleu", "chrf"))].merge(first).groupby(_TEST, sort=False):
        names = dict(zip(_TEST, test, strict=True))
        blocks.append(f"{names['scale']}, {names['dataset']}, {names['split']}\n{_table(layout, own, baseline)}")
    note = fill_terminal(_NOTES.format(baseline=baseline))
    return "\n".join([*blocks, f"{note}More splits and scores: --all.\n"])


def _table(layout: Layout, scores: "pd.DataFrame", baseline: str) -> str:
    """Tabulate the systems of one test, the baseline first."""
    rows = []
    by_measure = scores.groupby("measure")
    differences = {measure: baseline_differences(layout, own, baseline=baseline) for measure, own in by_measure}
    systems = dict(list(scores.groupby("system")))
    for system in sorted(systems, key=lambda name: (name != baseline, name)):
        own = systems[system]
        values = {measure: part.value.tolist() for measure, part in own.groupby("measure")}
        ratios = own[own.measure == "bleu"].length_ratio
        rows.append(
            [
                system,
                str(own.seed.nunique()),
                spread_text(values["bleu"]),
                f"{ratios.mean():.2f}",
                difference_text(differences["bleu"].get(system)),
                spread_text(values["chrf"]),
                difference_text(differences["chrf"].get(system)),
            ]
        )
    header = ["system", "seeds", "BLEU", "length", "difference", "chrF", "difference"]
    return fitting_table(header, rows, dispensable=(1, 6, 5))


def _all_scores(scores: "pd.DataFrame") -> str:
    """Tabulate all scores: a row per scale, data set, system and split, a column per score."""
    keys = ["scale", "dataset", "system", "split"]
    labels = list(dict.fromkeys(scores.label))
    rows = []
    for names, own in scores.groupby(keys, sort=False):
        values = own.groupby("label").value.agg(list)
        seeds = ", ".join(map(str, sorted(set(own.seed))))
        rows.append([*names, seeds, *(spread_text(values[label]) if label in values else None for label in labels)])
    shown = [i for i, key in enumerate(keys) if scores[key].nunique() > 1 or key in ("system", "split")]
    common = [scores[key].iloc[0] for i, key in enumerate(keys) if i not in shown]
    table = terminal_table(
        [*("data set" if keys[i] == "dataset" else keys[i] for i in shown), "seeds", *labels],
        [[*(row[i] for i in shown), *row[len(keys) :]] for row in rows],
        text=len(shown) + 1,
    )
    return f"{', '.join(common)}\n" * bool(common) + f"{table}\n{fill_terminal(_ALL_NOTES)}"
