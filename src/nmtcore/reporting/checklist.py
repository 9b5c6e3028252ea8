"""Answers to the reproducibility checklist of ACL conferences (Dodge et al. 2019), from the tables of all runs."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from nmtcore.evaluation.summary import DEV
from nmtcore.layout import Layout
from nmtcore.reporting.manifest import FINISHED, merged_data, read_manifest
from nmtcore.reporting.results_listing import UAS_NOTE
from nmtcore.reporting.run_index import labelled
from nmtcore.reporting.terminal_table import spread_text

if TYPE_CHECKING:
    import pandas as pd

UNKNOWN = "not recorded"
"""The answer where no file says anything."""

UNREAD = "not read when the run was scored: no result had asked for it"
"""The answer for a split whose pairs no manifest counts."""

_SIZES = {"lines": "lines", "read": "read", "filtered": "left after the filters", "selected": "left after selection"}
"""What the counts of a split's pairs are."""

_INTRODUCTION = """\
# Reproducibility checklist

Answers from {runs} ({systems}, {datasets}), {finished} of them finished. Questions: Dodge et al. 2019, Show Your Work,
as ACL conferences ask them, in our words. What only the authors can say is marked **You**.
"""


class _Evidence(NamedTuple):
    """What is known of the runs."""

    runs: "pd.DataFrame"
    """A row per run, as in `runs.parquet`."""
    scores: "pd.DataFrame"
    """The scores of whole splits, as in `scores.parquet`, with their `label`."""
    data: Mapping[str, Mapping[str, Any]]
    """What the manifests say about each data set."""

    def by_system(self) -> Iterator[tuple[str, "_Evidence"]]:
        """Yield the name of each system on a data set, and what is known of its runs."""
        keys = ["scale", "dataset", "system"]
        scores = dict(list(self.scores.groupby(keys)))
        for names, runs in self.runs.groupby(keys):
            scale, dataset, system = names
            own = scores.get(names, self.scores.iloc[:0])
            yield f"{system} on {dataset} (scale {scale})", _Evidence(runs, own, self.data)


Answer = Callable[[_Evidence], list[str]]


class _Question(NamedTuple):
    text: str
    answer: Answer


def checklist(layout: Layout) -> str:
    """Answer the questions as Markdown, from `runs.parquet`, `scores.parquet` and the manifests of a results folder."""
    import pandas as pd

    runs, scores = (pd.read_parquet(layout.path(name)) for name in ("all_runs", "all_scores"))
    described: dict[str, list[Mapping[str, Any]]] = {}
    for manifest in filter(None, map(read_manifest, layout.existing("manifest"))):
        described.setdefault(manifest["dataset"], []).append(manifest["data"])
    data = {dataset: merged_data(own) for dataset, own in sorted(described.items())}
    evidence = _Evidence(runs, labelled(scores), data)
    parts = [
        _INTRODUCTION.format(
            runs=_count(len(runs), "run"),
            systems=_count(runs.system.nunique(), "system"),
            datasets=_count(runs.dataset.nunique(), "data set"),
            finished=(runs.state == FINISHED).sum(),
        )
    ]
    for heading, questions in _SECTIONS.items():
        parts.append(f"## {heading}\n")
        for question in questions:
            answers = question.answer(evidence) or [UNKNOWN]
            parts.append(f"**{question.text}**\n\n" + "".join(f"- {answer}\n" for answer in answers))
    return "\n".join(parts)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _of_each(value: Callable[[_Evidence], str | None]) -> Answer:
    """Make an answer with a line for each system; one without a value says so."""
    return lambda evidence: [f"{name}: {value(own) or UNKNOWN}" for name, own in evidence.by_system()]


def _you(text: str) -> Answer:
    return lambda _: [f"**You:** {text}"]


def _code(evidence: _Evidence) -> list[str]:
    known = evidence.runs.dropna(subset="version").fillna({"commit": UNKNOWN, "lock_sha256": UNKNOWN})
    versions = (
        f"nmtcore {run.version}, commit {run.commit}, requirements.lock with SHA-256 {run.lock_sha256}"
        for run in known.itertuples()
    )
    lines = [f"trained with {line}" for line in dict.fromkeys([*versions, *evidence.runs.packages.dropna()])]
    without = len(evidence.runs) - len(known)
    return [*lines, *[f"the code that trained {_count(without, 'run')} was not recorded"] * bool(without)]


def _devices(evidence: _Evidence) -> list[str]:
    known = evidence.runs.dropna(subset="device")
    described = dict.fromkeys(
        f"{run.gpus:.0f} x {run.device}" if run.gpus else f"{run.device}, {_count(int(run.threads), 'thread')}"
        for run in known.itertuples()
    )
    without = len(evidence.runs) - len(known)
    return [*described, *[f"the device of {_count(without, 'run')} was not recorded"] * bool(without)]


def _cost(evidence: _Evidence) -> str | None:
    runs = evidence.runs
    seconds, speed, joules = runs.training_seconds.mean(), runs.tokens_per_second.mean(), runs.gpu_joules.mean()
    if not seconds > 0 or not speed > 0:
        return None
    energy = f"{joules / 3.6e6:.3g} kWh of the GPUs" if joules >= 0 else "energy not recorded"
    return f"{_duration(seconds)} per run on average, {speed:,.0f} target tokens per second, {energy}"


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.1f} minutes" if seconds < 3600 else f"{seconds / 3600:.1f} hours"


def _parameters(evidence: _Evidence) -> str | None:
    return ", ".join(f"{number:,.0f}" for number in evidence.runs.parameters.dropna().unique()) or None


def _validation(evidence: _Evidence) -> str | None:
    best = {"BLEU": evidence.runs.best_bleu, "perplexity": evidence.runs.best_perplexity}
    shown = [f"{label} {spread_text(own.dropna().tolist())}" for label, own in best.items() if own.notna().any()]
    dev = evidence.scores[(evidence.scores.split == DEV) & (evidence.scores.measure == "bleu")].value.tolist()
    lines = [f"at the best update {', '.join(shown)}"] if shown else []
    return "; ".join([*lines, *([f"with the beam of the tests BLEU {spread_text(dev)}"] if dev else [])]) or None


def _scores(evidence: _Evidence) -> str | None:
    shown = []
    for split, own in evidence.scores.groupby("split", sort=False):
        values = own.groupby("label", sort=False).value.agg(list)
        shown.append(f"{split} {', '.join(f'{label} {spread_text(seeds)}' for label, seeds in values.items())}")
    single = evidence.scores.seed.nunique() == 1
    return "; ".join([*shown, *["spread unknown with one seed"] * single]) or None


def _mean_and_spread(evidence: _Evidence) -> list[str]:
    return [*_of_each(_scores)(evidence), *[UAS_NOTE] * ("UAS" in set(evidence.scores.label))]


def _signature_lines(evidence: _Evidence) -> list[str]:
    pairs = evidence.scores.dropna(subset="signature")[["label", "signature"]].drop_duplicates()
    return [f"{pair.label}: `{pair.signature}`" for pair in pairs.itertuples()]


def _run_counts(evidence: _Evidence) -> str:
    runs = evidence.runs
    others = runs[runs.state != FINISHED].state.value_counts()
    seeds = ", ".join(map(str, runs.seed))
    return f"{_count(len(runs), 'run')} (seeds {seeds})" + "".join(f", {n} {state}" for state, n in others.items())


def _data_lines(value: Callable[[Mapping[str, Any]], list[str]]) -> Answer:
    """Make an answer from the data of each data set."""
    return lambda evidence: [f"{name}: {line}" for name, data in evidence.data.items() for line in value(data)]


def _splits(data: Mapping[str, Any]) -> list[str]:
    shown = []
    for split, sizes in data["splits"].items():
        known = [f"{sizes[stage]:,} {meaning}" for stage, meaning in _SIZES.items() if sizes.get(stage) is not None]
        shown.append(f"{split}: {', '.join(known) or UNREAD}")
    return shown


def _links(data: Mapping[str, Any]) -> list[str]:
    lines = []
    for entry in [*data["corpora"], *(model for model in data["models"] if model["models"])]:
        name = entry.get("corpus") or f"parser {entry['annotator']} ({entry['tool']})"
        files = [f"{file['url'] or file['name']} (SHA-256 {file['sha256'] or UNKNOWN})" for file in entry["files"]]
        lines.append(f"{name}, licence: {entry['licence'] or UNKNOWN}" + "".join(f"; {file}" for file in files))
    return lines


_SECTIONS = {
    "Each result": [
        _Question(
            "Is the model described?",
            _you("describe it; `model/run.json` of each run has all settings, `config/systems` a sentence per system."),
        ),
        _Question("Which code, and which versions of other packages?", _code),
        _Question("On which hardware?", _devices),
        _Question("How long did training take, and how much energy?", _of_each(_cost)),
        _Question("How many parameters does each model have?", _of_each(_parameters)),
        _Question("Which validation scores belong to the test scores?", _of_each(_validation)),
        _Question("Which measures, and how were they computed?", _signature_lines),
    ],
    "Several experiments": [
        _Question("How many runs were trained and evaluated?", _of_each(_run_counts)),
        _Question(
            "Between which bounds were settings searched, how were they chosen, and by which criterion?",
            _you("these runs are not a search; say how you came to their settings."),
        ),
        _Question(
            "Which settings do the reported models have?",
            lambda _: ["`model/run.json` in the folder of each run"],
        ),
        _Question("What are mean and spread of the results (over seeds)?", _mean_and_spread),
    ],
    "Each data set": [
        _Question("Which languages?", _data_lines(lambda data: [f"{data['source']} to {data['target']}"])),
        _Question("How large are its splits, and how much did reading, filters and selection leave?",
                  _data_lines(_splits)),
        _Question(
            "How were the data prepared?",
            lambda _: ["filters, words and segmentation are in `config/datasets`; `results/tables/data.md` counts what "
                       "each filter dropped"],
        ),
        _Question("Where can the data be obtained, and under which licence?", _data_lines(_links)),
        _Question("How were new data collected?", _you("say so if there are any.")),
    ],
}  # fmt: skip
