"""The settings that jobs depend on, in addition to their input files; no other change runs a job again.

Settings at their default do not count; `Defaulted` marks them.
"""

from dataclasses import replace
from typing import Any

from nmtcore.config.defaults import with_defaults
from nmtcore.config.filters import FILTERS
from nmtcore.config.formats import corpus_options
from nmtcore.config.own_code import own_checksums
from nmtcore.config.recorded import SettingsRecord, flatten_settings
from nmtcore.config.runs import RunSettings, run_to_json
from nmtcore.config.stages import FilteringSettings, ReadingSettings
from nmtcore.config.training import TrainingSettings
from nmtcore.config.typed import plain

_NOT_IN_TRAINING = ("scale", "annotators", "decoding", "evaluation", "tests", "trees", "trees_by", "gold")
"""The scale's name, the parsers of raw text (trees of the corpus are input files), and all that follows training."""

_NOT_IN_VALIDATION = ("roots", "greedy_dev", "metrics")
"""The settings of evaluation that only concern the tests' trees, or what is translated or scored after training."""


def training_settings(run: RunSettings) -> SettingsRecord:
    """Return the settings that training depends on, by path; checkpoints with other settings are not used."""
    values = _values(_without_irrelevant_settings(run))
    left_out = (*_NOT_IN_TRAINING, *(() if run.treebanks else ("gold_annotator",)))
    return flatten_settings(
        {key: value for key, value in values.items() if key not in left_out} | _validation(run, values)
    )


def _without_irrelevant_settings(run: RunSettings) -> RunSettings:
    """Reset settings that concern tests, only save memory or time, or set how often training logs a line."""
    batch = replace(run.training.batch, device_size=None)
    same_results = {name: getattr(TrainingSettings, name) for name in ("log_every", "compile")}
    training = replace(run.training, batch=batch, **same_results)
    return replace(run, training=training, sentences=replace(run.sentences, test=None))


def _values(run: RunSettings) -> dict[str, Any]:
    return with_defaults(run, run_to_json(run))


def _validation(run: RunSettings, values: dict[str, Any]) -> dict[str, Any]:
    """Pick the settings with which validation translates and scores; none if it only computes perplexity."""
    validation = run.training.validation
    if validation.metric == "perplexity":
        return {}
    search = ["max_length_ratio", "max_length_extra", "max_length"]
    if validation.beam > 1:  # greedy search does not compare hypotheses of different lengths
        search += ["length_penalty", "alpha"]
    return {
        "decoding": {key: values["decoding"][key] for key in search},
        "evaluation": {key: value for key, value in values["evaluation"].items() if key not in _NOT_IN_VALIDATION},
    }


def inference_settings(run: RunSettings) -> dict[str, Any]:
    """Return the settings that translating and parsing the tests depends on."""
    values = _values(run)
    decoding = {key: value for key, value in values["decoding"].items() if key != "batch_sentences"}
    evaluation = {key: values["evaluation"][key] for key in ("text", "greedy_dev")}
    sentences = {"dev": run.sentences.dev, "test": run.sentences.test}
    tags = {} if run.predicted_tags is None else {"predicted_tags": run.predicted_tags}
    return {"decoding": decoding, "evaluation": evaluation, "tests": values["tests"], "sentences": sentences, **tags}


def import_settings(run: RunSettings) -> dict[str, Any]:
    """Return the settings that the import of an external run's translations depends on."""
    sentences = {"dev": run.sentences.dev, "test": run.sentences.test}
    evaluation = {"text": _values(run)["evaluation"]["text"]}
    return {"external": run.external, "evaluation": evaluation, "sentences": sentences}


def scoring_settings(run: RunSettings) -> dict[str, Any]:
    """Return the settings that scoring translations and parses of the tests depends on."""
    values = _values(run)
    evaluation = {key: value for key, value in values["evaluation"].items() if run.parsed_tests or key != "roots"}
    code = own_checksums("metrics", run.evaluation.metrics)
    return {"evaluation": evaluation, "tests": values["tests"], **({"own_metrics": code} if code else {})}


def comet_settings(run: RunSettings) -> dict[str, Any]:
    """Return the settings that scoring translations by COMET depends on, beside its model."""
    values = _values(run)
    return {"evaluation": {"text": values["evaluation"]["text"]}, "tests": values["tests"]}


def gold_settings(run: RunSettings) -> dict[str, Any]:
    """Return the settings that parsing treebanks depends on."""
    return {"gold": list(run.gold), "sentences": {"test": run.sentences.test}, **_induced(run)}


def head_settings(run: RunSettings) -> dict[str, Any]:
    """Return the settings that parsing a treebank with all attention heads depends on."""
    return {"sentences": {"test": run.sentences.test}}


def gate_settings(run: RunSettings) -> dict[str, Any]:
    """Return the settings that measuring gates depends on."""
    return {"sentences": {"dev": run.sentences.dev, "test": run.sentences.test}}


def attention_settings(run: RunSettings) -> dict[str, Any]:
    """Return the settings that measuring attention depends on."""
    settings = inference_settings(run)
    return {name: settings[name] for name in ("decoding", "sentences")}


def contrast_settings(run: RunSettings) -> dict[str, Any]:
    """Return the settings that scoring contrastive pairs depends on."""
    return {"sentences": {"test": run.sentences.test}}


def gold_scoring_settings(run: RunSettings) -> dict[str, Any]:
    """Return the settings that scoring parses of treebanks depends on; induced trees have one root in any case."""
    if induced := _induced(run):
        return {"gold": list(run.gold), **induced}
    return {"gold": list(run.gold), "evaluation": {"roots": _values(run)["evaluation"]["roots"]}}


def _induced(run: RunSettings) -> dict[str, Any]:
    """Say that the trees of a run are induced; an empty mapping if they are not."""
    return {"trees": "induced"} if run.tree_comparison == "induced" else {}


def reading_settings(reading: ReadingSettings) -> dict[str, Any]:
    """Return the settings that reading a split depends on."""
    values = with_defaults(reading, plain(reading))
    for name, corpus in reading.corpora.items():
        options = corpus_options(corpus.format, corpus.options, corpus.files, where=f"corpora.{name}")
        values["corpora"][name]["options"] = with_defaults(options, plain(options))
    return values


def filtering_settings(filtering: FilteringSettings) -> dict[str, Any]:
    """Return the settings that filtering a split depends on."""
    filters = [FILTERS.entry_of(settings) for settings in filtering.filters]
    return with_defaults(filtering, plain(filtering) | {"filters": filters})
