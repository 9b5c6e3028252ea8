"""Answers to the reproducibility checklist of ACL conferences (Dodge et al. 2019), from the manifests of runs."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from nmtcore.evaluation.lines import DEV
from nmtcore.reporting.manifest import COMPLETE
from nmtcore.reporting.manifest_files import merged_data
from nmtcore.reporting.results_listing import UAS_NOTE, spread_over

Manifest = Mapping[str, Any]

UNKNOWN = "not recorded"
"""The answer where no manifest says anything."""

UNREAD = "not read when the manifests were written: no result had asked for it"
"""The answer for a split whose pairs no manifest counts."""

_SIZES = {"lines": "lines", "read": "read", "filtered": "left after the filters", "selected": "left after selection"}
"""What the counts of a split's pairs are."""

_INTRODUCTION = """\
# Reproducibility checklist

Answers from the manifests of {runs} ({systems}, {datasets}), {complete} of them complete. Questions: Dodge et al. 2019,
Show Your Work, as ACL conferences ask them, in our words. What only the authors can say is marked **You**.
"""


class _Question(NamedTuple):
    text: str
    answer: Callable[[Sequence[Manifest]], list[str]]


def checklist(manifests: Sequence[Manifest]) -> str:
    """Answer the questions as Markdown. Runs that are not complete count among the runs, but have no scores."""
    complete = [manifest for manifest in manifests if manifest["status"] == COMPLETE]
    parts = [
        _INTRODUCTION.format(
            runs=_count(len(manifests), "run"),
            systems=_count(len(_values(manifests, "system")), "system"),
            datasets=_count(len(_values(manifests, "dataset")), "data set"),
            complete=len(complete),
        )
    ]
    for heading, questions in _SECTIONS.items():
        parts.append(f"## {heading}\n")
        for question in questions:
            answers = question.answer(manifests) or [UNKNOWN]
            parts.append(f"**{question.text}**\n\n" + "".join(f"- {answer}\n" for answer in answers))
    return "\n".join(parts)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _values(manifests: Sequence[Manifest], key: str) -> list[Any]:
    return list(dict.fromkeys(manifest[key] for manifest in manifests))


def _by_system(manifests: Sequence[Manifest]) -> dict[tuple[str, str, str], list[Manifest]]:
    """Group runs by scale, data set and system."""
    groups: dict[tuple[str, str, str], list[Manifest]] = {}
    for manifest in manifests:
        groups.setdefault(tuple(manifest[key] for key in ("scale", "dataset", "system")), []).append(manifest)
    return groups


def _name(group: tuple[str, str, str]) -> str:
    scale, dataset, system = group
    return f"{system} on {dataset} (scale {scale})"


def _of_each(value: Callable[[Sequence[Manifest]], str | None]) -> Callable[[Sequence[Manifest]], list[str]]:
    """Make an answer with a line for each system; one without a value says so."""

    def answer(manifests: Sequence[Manifest]) -> list[str]:
        return [f"{_name(group)}: {value(runs) or UNKNOWN}" for group, runs in _by_system(manifests).items()]

    return answer


def _you(text: str) -> Callable[[Sequence[Manifest]], list[str]]:
    return lambda _: [f"**You:** {text}"]


def _present(runs: Sequence[Manifest], *keys: str) -> list[Any]:
    """Return the values at a path of keys of those runs that have one."""
    values: list[Any] = list(runs)
    for key in keys:
        values = [value[key] for value in values if isinstance(value, Mapping) and value.get(key) is not None]
    return values


def _code(manifests: Sequence[Manifest]) -> list[str]:
    versions = dict.fromkeys(
        f"nmtcore {code['version']}, commit {code['commit'] or UNKNOWN}, requirements.lock with SHA-256 "
        f"{code['lock_sha256'] or UNKNOWN}"
        for code in _present(manifests, "code", "training")
    )
    packages = dict.fromkeys(
        ", ".join(f"{name} {version}" for name, version in installed.items() if version)
        for installed in _present(manifests, "packages")
    )
    without = len(manifests) - len(_present(manifests, "code", "training"))
    missing = [f"the code that trained {_count(without, 'run')} was not recorded"] if without else []
    return [*(f"trained with {line}" for line in [*versions, *packages]), *missing]


def _devices(manifests: Sequence[Manifest]) -> list[str]:
    described = dict.fromkeys(
        f"{device['gpus']} x {device['name']}"
        if device["gpus"]
        else f"{device['name']}, {_count(device['threads'], 'thread')}"
        for device in _present(manifests, "device")
    )
    without = len(manifests) - len(_present(manifests, "device"))
    return [*described, *([f"the device of {_count(without, 'run')} was not recorded"] if without else [])]


def _cost(runs: Sequence[Manifest]) -> str | None:
    seconds = _present(runs, "training", "seconds")
    speeds = _present(runs, "training", "tokens_per_second")
    if not seconds or not speeds:
        return None
    parts = [f"{_duration(fmean(seconds))} per run on average, {fmean(speeds):,.0f} target tokens per second"]
    joules = _present(runs, "energy_joules", "gpu")
    parts += [f"{fmean(joules) / 3.6e6:.3g} kWh of the GPUs"] if joules else []
    return ", ".join(parts if len(parts) > 1 else [*parts, "energy not recorded"])


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.1f} minutes" if seconds < 3600 else f"{seconds / 3600:.1f} hours"


def _parameters(runs: Sequence[Manifest]) -> str | None:
    return ", ".join(f"{number:,}" for number in dict.fromkeys(_present(runs, "parameters"))) or None


def _validation(runs: Sequence[Manifest]) -> str | None:
    best = _present(runs, "training", "best_validation")
    values = {label: _present(best, name) for name, label in (("bleu", "BLEU"), ("perplexity", "perplexity"))}
    shown = [f"{label} {spread_over(own)}" for label, own in values.items() if own]
    dev = _present(runs, "scores", DEV, "BLEU")
    lines = [f"at the best update {', '.join(shown)}"] if shown else []
    return "; ".join([*lines, *([f"with the beam of the tests BLEU {spread_over(dev)}"] if dev else [])]) or None


def _scores(runs: Sequence[Manifest]) -> str | None:
    splits = dict.fromkeys(split for scores in _present(runs, "scores") for split in scores)
    shown = []
    for split in splits:
        labels = dict.fromkeys(label for values in _present(runs, "scores", split) for label in values)
        values = [f"{label} {spread_over(_present(runs, 'scores', split, label))}" for label in labels]
        shown.append(f"{split} {', '.join(values)}")
    scored = sum(map(bool, _present(runs, "scores")))
    return "; ".join([*shown, *["spread unknown with one seed"] * (scored == 1)]) or None


def _mean_and_spread(manifests: Sequence[Manifest]) -> list[str]:
    labels = {label for scores in _present(manifests, "scores") for own in scores.values() for label in own}
    return [*_of_each(_scores)(manifests), *[UAS_NOTE] * ("UAS" in labels)]


def _signature_lines(manifests: Sequence[Manifest]) -> list[str]:
    pairs = [pair for signatures in _present(manifests, "signatures") for pair in signatures.items()]
    return [f"{label}: `{signature}`" for label, signature in dict.fromkeys(pairs)]


def _run_counts(runs: Sequence[Manifest]) -> str:
    seeds = ", ".join(str(run["seed"]) for run in runs)
    others = Counter(run["status"] for run in runs if run["status"] != COMPLETE)
    return f"{_count(len(runs), 'run')} (seeds {seeds})" + "".join(f", {n} {status}" for status, n in others.items())


def _data_lines(value: Callable[[Mapping[str, Any]], list[str]]) -> Callable[[Sequence[Manifest]], list[str]]:
    """Make an answer from the data of each data set."""

    def answer(manifests: Sequence[Manifest]) -> list[str]:
        datasets: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for run in manifests:
            if run.get("data") is not None:
                datasets[run["dataset"]].append(run["data"])
        merged = {name: merged_data(data) for name, data in datasets.items()}
        return [f"{name}: {line}" for name, data in merged.items() for line in value(data)]

    return answer


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
