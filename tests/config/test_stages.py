"""What jobs depend on: a changed setting runs the jobs again whose results it changes, and no others."""

from dataclasses import field, replace
from pathlib import Path

import pytest

from nmtcore.config.corpora import LengthSettings, WordsSettings
from nmtcore.config.datasets import ANNOTATORS, EasyCcgSettings
from nmtcore.config.project import Project
from nmtcore.config.runs import INFERENCE, differences, inference_settings, run_to_json, training_settings
from nmtcore.config.stages import FilteringSettings, ReadingSettings, ScoringSettings, filtering_values
from nmtcore.config.systems import SystemSettings
from nmtcore.config.typed import Count, build, changed, settings_class
from nmtcore.errors import UserError

PROJECT = Project.load(Path(__file__).parents[2] / "config")
RUN = PROJECT.run("demo_en2de", "depparse_l1", "demo", 1)


def edited(settings, key, value):
    """The settings with another value of a key, such as `training.batch.size`."""
    name, _, inner = key.partition(".")
    return replace(settings, **{name: edited(getattr(settings, name), inner, value) if inner else value})


def translation_settings(run):
    return {
        split: {name: inference_settings(run, split=split)[name] for name in INFERENCE} for split in ("test", "dev")
    }


def gold_settings(run):
    return {name: inference_settings(run, split="gold_x")[name] for name in ("sentences", "trees")}


def scoring_settings(run):
    return changed(ScoringSettings.of_tests(run))


def gold_scoring_settings(run):
    return changed(ScoringSettings.of_gold(run))


def between(settings, before, after):
    return differences(settings(before), settings(after))


@pytest.mark.parametrize(
    ("key", "value", "affected"),
    [
        ("decoding.beam", 7, "inference"),
        ("decoding.alpha", 0.9, "inference"),
        ("decoding.batch_sentences", 7, ""),
        ("decoding.min_length", 0, "training, inference"),
        ("decoding.max_length_extra", 7, "training, inference"),
        ("evaluation.lowercase", True, "training, scoring"),
        ("evaluation.tokenize", "none", "training, scoring"),
        ("evaluation.text", "tokens", "training, inference, scoring"),
        ("evaluation.roots", "many", "scoring"),
        ("evaluation.greedy_dev", True, "inference, scoring"),
        ("evaluation.metrics", ("ribes",), "scoring"),
        ("tests", ("test", "dev", "other"), "scoring"),
        ("gold", ("gold_x",), ""),
        ("trees", None, ""),
        ("trees_by", "existing", ""),
        ("annotators", {"existing": {"tool": "existing", "shards": 9, "max_words": 250}}, ""),
        ("sentences.train", 7, "training"),
        ("sentences.dev", 7, "training, inference"),
        ("sentences.test", 7, "inference"),
        ("components", {"depparse": replace(RUN.components["depparse"], weight=0.7)}, "training"),
        ("model.dropout", 0.4, "training"),
        ("training.clip_norm", 2.0, "training"),
        ("training.log_every", 77, ""),
        ("training.compile", True, ""),
        ("training.batch.device_size", 7, ""),
        ("training.validation.beam", 3, "training"),
    ],
)
def test_settings_that_training_inference_and_scoring_depend_on(key, value, affected):
    run = replace(RUN, gold_annotator="existing")
    settings = {"training": training_settings, "inference": translation_settings, "scoring": scoring_settings}
    changed_stages = [stage for stage, of in settings.items() if between(of, run, edited(run, key, value))]
    assert run.training.validation.metric == "bleu"
    assert ", ".join(changed_stages) == affected


def test_training_depends_on_the_search_and_scoring_of_validation():
    beam = edited(RUN, "training.validation.beam", 4)
    perplexity = edited(RUN, "training.validation.metric", "perplexity")
    assert between(training_settings, beam, edited(beam, "decoding.alpha", 0.9)) == ["decoding.alpha: nothing -> 0.9"]
    for key, value in (("decoding.max_length_extra", 7), ("evaluation.lowercase", True)):
        assert between(training_settings, perplexity, edited(perplexity, key, value)) == []


@pytest.mark.parametrize(
    ("system", "tags"),
    [
        ("tag_attention_random", "random_tags"),
        ("tag_attention_without_loss", None),
        ("multitask", "ccg_tags"),
        ("interleaved", "ccg_tags"),
        ("tag_attention_source_dg_a", "ccg_tags"),
    ],
)
def test_systems_that_predict_tags_are_translated_with_tags(system, tags):
    """Translations that were made before tags could be predicted are made again."""
    baseline, run = (PROJECT.run("demo_de2en", name, "smoke", 1) for name in ("transformer_base", system))
    assert run.predicted_tags == tags
    expected = [] if tags is None else [f'{split}.tags: nothing -> "{tags}"' for split in ("test", "dev")]
    assert between(translation_settings, baseline, run) == expected


def test_only_systems_that_parse_depend_on_roots():
    plain = PROJECT.run("demo_en2de", "transformer_base", "demo", 1)
    assert between(scoring_settings, plain, edited(plain, "evaluation.roots", "many")) == []


def test_parsing_and_scoring_treebanks_depends_on_no_other_settings():
    run = PROJECT.run("multi30k_en2de", "depparse_l1", "small", 1)
    assert run.gold
    for other in (edited(run, "decoding.beam", 7), edited(run, "evaluation.lowercase", True)):
        assert between(gold_settings, run, other) == between(gold_scoring_settings, run, other) == []
    many = edited(run, "evaluation.roots", "many")
    assert between(gold_settings, run, many) == []
    assert between(gold_scoring_settings, run, many) == ['evaluation.roots: nothing -> "many"']


def test_what_trees_are_compared_with_decides_how_treebanks_are_parsed_and_scored():
    supervised = PROJECT.run("multi30k_en2de", "depparse_l1", "small", 1)
    induced = replace(supervised, trees="induced")
    assert between(gold_settings, supervised, induced) == ['trees: nothing -> "induced"']
    assert 'trees: "supervised" -> "induced"' in between(gold_scoring_settings, supervised, induced)
    assert between(gold_scoring_settings, induced, edited(induced, "evaluation.roots", "many")) == []
    assert between(training_settings, supervised, induced) == between(translation_settings, supervised, induced) == []


@settings_class
class Inner:
    rate: float = 0.5
    limit: Count | None = 3


@settings_class
class Outer:
    size: Count
    beam: Count = 4
    inner: Inner = field(default_factory=lambda: Inner(rate=0.1))
    optional: Inner | None = None
    sides: dict[str, Inner] = field(default_factory=dict)
    betas: tuple[float, ...] = (0.9, 0.98)


@pytest.mark.parametrize(
    ("settings", "values"),
    [
        (Outer(size=1, beam=4, betas=(0.9, 0.98), inner=Inner(rate=0.1)), {"size": 1}),
        (Outer(size=1, inner=Inner(rate=0.1, limit=None)), {"size": 1, "inner": {"rate": 0.1, "limit": None}}),
        (Outer(size=1, optional=Inner()), {"size": 1, "optional": {}}),
        (Outer(size=1, sides={"a": Inner(limit=1)}, betas=()), {"size": 1, "sides": {"a": {"limit": 1}}, "betas": []}),
    ],
)
def test_only_settings_that_differ_from_their_default_count(settings, values):
    assert changed(settings) == values
    without_inner = {key: value for key, value in values.items() if key != "inner"}
    assert build(Outer, without_inner, where="again") == replace(settings, inner=Outer(size=1).inner)


def test_what_jobs_get_is_what_was_planned():
    data = PROJECT.dataset("multi30k_en2de")
    for settings in (ReadingSettings.of(data, "train"), ScoringSettings.of_tests(RUN)):
        assert build(type(settings), changed(settings), where="again") == settings
    filtering = FilteringSettings(languages={"source": "en", "target": "de"}, filters=(LengthSettings(most=80),))
    assert filtering_values(filtering)["filters"] == [{"name": "length", "most": 80}]
    assert build(FilteringSettings, filtering_values(filtering), where="again") == filtering
    entry = ANNOTATORS.entry_of(EasyCcgSettings(max_words=9), values=changed)
    assert entry == {"tool": "easyccg", "max_words": 9}


def test_settings_of_the_machine_are_in_config_yaml_and_count_nowhere():
    other = Project.load(Path(__file__).parents[2] / "config", machine={"log_every": 7, "device_size": None})
    run = other.run("demo_en2de", "depparse_l1", "demo", 1)
    assert (run.training.log_every, run.training.batch.device_size) == (7, None)
    assert (RUN.training.log_every, RUN.training.batch.device_size) == (10, 8192)
    assert run_to_json(run) != run_to_json(RUN)
    for settings in (training_settings, translation_settings, scoring_settings):
        assert settings(run) == settings(RUN)
    with pytest.raises(UserError, match="the key 'log_every' is set in config"):
        build(SystemSettings, {"training": {"log_every": 7}}, where="mine")


def test_the_order_of_components_is_a_setting():
    values = {"components": {"pascal": {"heads": 1}, "label_head": {"layer": 1}}}
    swapped = {"components": dict(reversed(values["components"].items()))}
    assert differences(values, swapped) == ["components: pascal, label_head -> label_head, pascal"]
    assert repr(values) != repr(swapped), "what Snakemake compares"


def test_differences_name_settings_and_shorten_their_values():
    old = {"training": {"schedule": {"peak": 1}, "keep": "best"}, "tests": ["test"]}
    new = {"training": {"schedule": {"peak": 2}}, "tests": ["test", "x" * 500]}
    first, second, third = differences(old, new)
    assert (first, second) == ("training.schedule.peak: 1 -> 2", 'training.keep: "best" -> nothing')
    assert third.startswith('tests: ["test"] -> ["test", "xxx')
    assert len(third) < 150
    assert differences(old, old) == []


def test_words_of_a_data_set_count():
    data = PROJECT.dataset("multi30k_en2de")
    other = replace(data, words=dict.fromkeys(data.words, WordsSettings(kind="spaces")))
    lines = differences(*(changed(ReadingSettings.of(one, "train")) for one in (data, other)))
    assert lines == ['words.source.kind: nothing -> "spaces"', 'words.target.kind: nothing -> "spaces"']
