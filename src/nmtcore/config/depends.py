"""What jobs depend on beside their input files: a change of anything else runs nothing again."""

from typing import Any

from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.filters import filter_name
from nmtcore.config.runs import RunSettings, run_to_json
from nmtcore.config.typed import plain

_NOT_IN_TRAINING = ("scale", "annotators", "decoding", "evaluation", "tests", "gold", "sentences.test")
"""A name, how raw text would be parsed (what was parsed is among the input files), and what happens afterwards."""

_NOT_IN_RESULTS = ("training.batch.device_size", "training.log_every")
"""What only saves memory, and what is noted."""


def training_settings(run: RunSettings) -> dict[str, Any]:
    """Give the settings that decide how training goes, as plain values; checkpoints belong to them, too."""
    values = run_to_json(run)
    for path in (*_NOT_IN_TRAINING, *_NOT_IN_RESULTS):
        *parents, last = path.split(".")
        place = values
        for parent in parents:
            place = place[parent]
        del place[last]
    if not run.treebanks:
        del values["gold_annotator"]
    return values | _validation(run)


def _validation(run: RunSettings) -> dict[str, Any]:
    """Give what validation translates and scores by; nothing where perplexity is enough."""
    validation, values = run.training.validation, run_to_json(run)
    if validation.metric == "perplexity":
        return {}
    search = ["max_length_ratio", "max_length_extra", "max_length"]
    if validation.beam > 1:  # a greedy search does not compare translations of different lengths
        search += ["length_penalty", "alpha"]
    return {
        "decoding": {key: values["decoding"][key] for key in search},
        "evaluation": {key: value for key, value in values["evaluation"].items() if key != "roots"},
    }


def inference_settings(run: RunSettings) -> dict[str, Any]:
    """Give the settings that decide how a trained model translates and parses the tests, and how it is scored."""
    values = run_to_json(run)
    decoding = {key: value for key, value in values["decoding"].items() if key != "batch_sentences"}
    evaluation = {key: value for key, value in values["evaluation"].items() if run.parses or key != "roots"}
    sentences = {"dev": run.sentences.dev, "test": run.sentences.test}
    return {"decoding": decoding, "evaluation": evaluation, "tests": values["tests"], "sentences": sentences}


def gold_settings(run: RunSettings) -> dict[str, Any]:
    """Give the settings that decide how a trained model parses treebanks, and how it is scored."""
    return {
        "gold": list(run.gold),
        "evaluation": {"roots": run.evaluation.roots},
        "sentences": {"test": run.sentences.test},
    }


def dataset_settings(view: DatasetSettings, *keys: str) -> dict[str, Any]:
    """Give the settings of a data set's `view` of one split with `keys`, but for licences and citations."""
    values = {
        key: value for key, value in plain(view).items() if key in {"source", "target", "corpora", "splits", *keys}
    }
    for corpus in values["corpora"].values():
        del corpus["licence"], corpus["citation"]
    if "filters" in values:
        values["filters"] = [{"name": filter_name(settings), **plain(settings)} for settings in view.filters]
    return values
