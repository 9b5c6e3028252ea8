"""Answers to the reproducibility checklist of ACL conferences (Dodge et al. 2019), from the tables of all runs."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from nmtcore.evaluation.summary import DEV
from nmtcore.layout import Layout
from nmtcore.reporting.manifest import CODE, FINISHED, all_data
from nmtcore.reporting.run_index import labelled
from nmtcore.reporting.terminal_table import spread_text
from nmtcore.tables.scores import UAS_NOTES

if TYPE_CHECKING:
    import pandas as pd

UNKNOWN = "not recorded"
"""The answer where no file says anything."""

_SIZES = {"lines": "lines", "read": "read", "filtered": "left after the filters", "selected": "left after selection"}
"""What the counts of a split's pairs are."""

_INTRODUCTION = """\
# Reproducibility checklist

Answers from {runs} ({systems}, {datasets}), {finished} of them finished. Questions: Dodge et al. 2019, Show Your Work,
as ACL conferences ask them, in our words. What only the authors can say is marked **You**.
"""


def checklist(layout: Layout, datasets: Mapping[str, Mapping[str, Any]]) -> str:
    """Answer the questions as Markdown, from `runs.parquet`, `scores.parquet` and the data (`all_data`)."""
    import pandas as pd

    runs, scores = (pd.read_parquet(layout.path(name)) for name in ("all_runs", "all_scores"))
    introduction = _INTRODUCTION.format(
        runs=_count(len(runs), "run"),
        systems=_count(runs.system.nunique(), "system"),
        datasets=_count(runs.dataset.nunique(), "data set"),
        finished=(runs.state == FINISHED).sum(),
    )
    parts = [introduction]
    data = {name: own for name, own in all_data(layout, datasets).items() if name in set(runs.dataset)}
    for heading, questions in _answers(_named(runs), _named(labelled(scores)), data).items():
        parts.append(f"## {heading}\n")
        for question, lines in questions.items():
            parts.append(f"**{question}**\n\n" + "".join(f"- {line}\n" for line in lines or [UNKNOWN]))
    return "\n".join(parts)


def _answers(
    runs: "pd.DataFrame", scores: "pd.DataFrame", data: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, list[str]]]:
    """Answer the questions of each section."""
    scored = dict(list(scores.groupby("named")))

    def of_each(value: Callable[[Any], str | None]) -> list[str]:
        return [f"{name}: {value(own) or UNKNOWN}" for name, own in runs.groupby("named", sort=False)]

    def of_scores(value: Callable[[Any, Any], str | None]) -> list[str]:
        return of_each(lambda own: value(own, scored.get(own.named.iloc[0], scores.iloc[:0])))

    def of_data(lines: Callable[[Any], list[str]]) -> list[str]:
        return [f"{name}: {line}" for name, own in data.items() for line in lines(own)]

    signatures = scores.dropna(subset="signature")[["label", "signature"]].drop_duplicates()
    return {
        "Each result": {
            "Is the model described?": [
                "**You:** describe it; `model/run.json` of each run has all settings, `config/systems` a sentence per "
                "system."
            ],
            "Which code, and which versions of other packages?": _code(runs),
            "On which hardware?": _devices(runs),
            "How long did training take, and how much energy?": of_each(_cost),
            "How many parameters does each model have?": of_each(
                lambda own: ", ".join(f"{number:,.0f}" for number in own.parameters.dropna().unique())
            ),
            "Which validation scores belong to the test scores?": of_scores(_validation),
            "Which measures, and how were they computed?": [
                f"{pair.label}: `{pair.signature}`" for pair in signatures.itertuples()
            ],
        },
        "Several experiments": {
            "How many runs were trained and evaluated?": of_each(_run_counts),
            "Between which bounds were settings searched, how were they chosen, and by which criterion?": [
                "**You:** these runs are not a search; say how you came to their settings."
            ],
            "Which settings do the reported models have?": ["`model/run.json` in the folder of each run"],
            "What are mean and spread of the results (over seeds)?": [
                *of_scores(_scores),
                *[" ".join(UAS_NOTES.split())] * ("UAS" in set(scores.label)),
            ],
        },
        "Each data set": {
            "Which languages?": of_data(lambda own: [f"{own['source']} to {own['target']}"]),
            "How large are its splits, and how much did reading, filters and selection leave?": of_data(
                lambda own: [
                    f"{split}: {', '.join(f'{sizes[key]:,} {said}' for key, said in _SIZES.items() if key in sizes)}"
                    for split, sizes in own["splits"].items()
                ]
            ),
            "How were the data prepared?": [
                "filters, words and segmentation are in `config/datasets`; `results/tables/data.md` counts what each "
                "filter dropped"
            ],
            "Where can the data be obtained, and under which licence?": of_data(_links),
            "How were new data collected?": ["**You:** say so if there are any."],
        },
    }


def _named(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Add the name of each system as trained on a data set."""
    return rows.assign(named=rows.system + " on " + rows.dataset + " (scale " + rows.scale + ")")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _code(runs: "pd.DataFrame") -> list[str]:
    known = runs.dropna(subset="version").fillna(dict.fromkeys(CODE, UNKNOWN))
    versions = (
        f"nmtcore {run.version}, commit {run.commit}, SHA-256 of the sources {run.sources_sha256}, "
        f"of requirements.lock {run.lock_sha256}"
        for run in known.itertuples()
    )
    lines = [f"trained with {line}" for line in dict.fromkeys([*versions, *runs.packages.dropna()])]
    without = len(runs) - len(known)
    return [*lines, *[f"the code that trained {_count(without, 'run')} was not recorded"] * bool(without)]


def _devices(runs: "pd.DataFrame") -> list[str]:
    known = runs.dropna(subset="device")
    described = dict.fromkeys(
        f"{run.gpus:.0f} x {run.device}" if run.gpus else f"{run.device}, {_count(int(run.threads), 'thread')}"
        for run in known.itertuples()
    )
    without = len(runs) - len(known)
    return [*described, *[f"the device of {_count(without, 'run')} was not recorded"] * bool(without)]


def _cost(runs: "pd.DataFrame") -> str | None:
    seconds, speed, joules = runs.training_seconds.mean(), runs.tokens_per_second.mean(), runs.gpu_joules.mean()
    if not seconds > 0 or not speed > 0:
        return None
    energy = f"{joules / 3.6e6:.3g} kWh of the GPUs" if joules >= 0 else "energy not recorded"
    if joules >= 0 and runs.jobs_on_gpu.max() > 1:
        energy += f", which up to {runs.jobs_on_gpu.max():.0f} jobs shared"
    duration = f"{seconds / 60:.1f} minutes" if seconds < 3600 else f"{seconds / 3600:.1f} hours"
    return f"{duration} per run on average, {speed:,.0f} target tokens per second, {energy}"


def _validation(runs: "pd.DataFrame", scores: "pd.DataFrame") -> str:
    best = {"BLEU": runs.best_bleu.dropna().tolist(), "perplexity": runs.best_perplexity.dropna().tolist()}
    shown = ", ".join(f"{label} {spread_text(values)}" for label, values in best.items() if values)
    dev = scores[(scores.split == DEV) & (scores.measure == "bleu")].value.tolist()
    lines = [f"at the best update {shown}"] * bool(shown)
    return "; ".join([*lines, *[f"with the beam of the tests BLEU {spread_text(dev)}" for _ in dev[:1]]])


def _scores(runs: "pd.DataFrame", scores: "pd.DataFrame") -> str:
    shown = []
    for split, own in scores.groupby("split", sort=False):
        values = own.groupby("label", sort=False).value.agg(list)
        shown.append(f"{split} {', '.join(f'{label} {spread_text(seeds)}' for label, seeds in values.items())}")
    return "; ".join([*shown, *["spread unknown with one seed"] * (scores.seed.nunique() == 1)])


def _run_counts(runs: "pd.DataFrame") -> str:
    others = runs[runs.state != FINISHED].state.value_counts()
    seeds = ", ".join(map(str, runs.seed))
    return f"{_count(len(runs), 'run')} (seeds {seeds})" + "".join(f", {n} {state}" for state, n in others.items())


def _links(data: Mapping[str, Any]) -> list[str]:
    """Say of each corpus, model or translation where its files are, and under which licence."""
    lines: dict[str, list[str]] = {}
    for row in data["files"]:
        name = f"parser {row['name']}" if row["kind"] == "model" else row["name"]
        own = lines.setdefault(f"{name}, licence: {row['licence'] or UNKNOWN}", [])
        if row["file"]:
            own.append(f"; {row['url'] or row['file']} (SHA-256 {row['sha256'] or UNKNOWN})")
    return [name + "".join(files) for name, files in lines.items()]
