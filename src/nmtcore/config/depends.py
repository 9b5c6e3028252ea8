"""What jobs depend on beside their input files: a change of anything else runs nothing again."""

from typing import Any

from nmtcore.config.filters import FILTERS
from nmtcore.config.runs import RunSettings, run_to_json
from nmtcore.config.stages import FilteringSettings, ReadingSettings
from nmtcore.config.typed import plain

_NOT_IN_TRAINING = ("scale", "annotators", "decoding", "evaluation", "tests", "gold", "sentences.test")
"""A name, how raw text would be parsed (trees of the corpus are input files), and what happens after training."""

_WITHOUT_EFFECT = ("training.batch.device_size", "training.log_every")
"""Settings that only save memory, or say how often there is a line in the log."""


def training_settings(run: RunSettings) -> dict[str, Any]:
    """Give the settings that decide how training goes, as plain values; checkpoints of other settings are not used."""
    values = run_to_json(run)
    for path in (*_NOT_IN_TRAINING, *_WITHOUT_EFFECT):
        *parents, last = path.split(".")
        place = values
        for parent in parents:
            place = place[parent]
        del place[last]
    if not run.treebanks:
        del values["gold_annotator"]
    return values | _validation(run)


def _validation(run: RunSettings) -> dict[str, Any]:
    """Give the settings by which validation translates and scores; none where it computes perplexity alone."""
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
    """Give the settings that decide how a trained model translates and parses the tests."""
    values = run_to_json(run)
    decoding = {key: value for key, value in values["decoding"].items() if key != "batch_sentences"}
    evaluation = {"text": run.evaluation.text}
    sentences = {"dev": run.sentences.dev, "test": run.sentences.test}
    return {"decoding": decoding, "evaluation": evaluation, "tests": values["tests"], "sentences": sentences}


def scoring_settings(run: RunSettings) -> dict[str, Any]:
    """Give the settings that decide how translations and parses of the tests are scored."""
    values = run_to_json(run)
    evaluation = {key: value for key, value in values["evaluation"].items() if run.parses or key != "roots"}
    return {"evaluation": evaluation, "tests": values["tests"]}


def gold_settings(run: RunSettings) -> dict[str, Any]:
    """Give the settings that decide how a trained model parses treebanks."""
    return {"gold": list(run.gold), "sentences": {"test": run.sentences.test}}


def gold_scoring_settings(run: RunSettings) -> dict[str, Any]:
    """Give the settings that decide how parses of treebanks are scored."""
    return {"gold": list(run.gold), "evaluation": {"roots": run.evaluation.roots}}


def reading_settings(reading: ReadingSettings) -> dict[str, Any]:
    """Give the settings that decide how a split is read."""
    return plain(reading)


def filtering_settings(filtering: FilteringSettings) -> dict[str, Any]:
    """Give the settings that decide which pairs of a split are kept."""
    filters = [FILTERS.entry_of(settings) for settings in filtering.filters]
    return plain(filtering) | {"filters": filters}
