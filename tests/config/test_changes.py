"""The settings that jobs depend on, and the messages about their changes."""

import logging
import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from snakemake.persistence import ParamsChange

from nmtcore.config.changes import Tracked, explain_reasons, explained_reason
from nmtcore.config.defaults import Defaulted
from nmtcore.config.depends import (
    gold_scoring_settings,
    gold_settings,
    inference_settings,
    scoring_settings,
    training_settings,
)
from nmtcore.config.project import Project
from nmtcore.config.recorded import differences, flatten_settings
from nmtcore.config.training import ValidationSettings

PROJECT = Project.load(Path(__file__).parents[2] / "config")
RUN = PROJECT.run("demo_en2de", "depparse_l1", "demo", 1)


def with_training(run, **changes):
    return replace(run, training=replace(run.training, **changes))


def with_validation(run, **changes):
    return with_training(run, validation=replace(run.training.validation, **changes))


def with_decoding(run, **changes):
    return replace(run, decoding=replace(run.decoding, **changes))


def with_evaluation(run, **changes):
    return replace(run, evaluation=replace(run.evaluation, **changes))


def weighted(weight):
    return {"depparse": replace(RUN.components["depparse"], weight=weight)}


def changed(settings, before, after):
    return differences(flatten_settings(settings(before)), flatten_settings(settings(after)))


@pytest.mark.parametrize(
    ("after", "training", "inference", "scoring"),
    [
        (with_decoding(RUN, beam=7), False, True, False),
        (with_decoding(RUN, alpha=0.9), False, True, False),
        (with_decoding(RUN, batch_sentences=7), False, False, False),
        (with_decoding(RUN, max_length_extra=7), True, True, False),
        (with_evaluation(RUN, lowercase=True), True, False, True),
        (with_evaluation(RUN, tokenize="none"), True, False, True),
        (with_evaluation(RUN, text="tokens"), True, True, True),
        (with_evaluation(RUN, roots="many"), False, False, True),
        (with_evaluation(RUN, greedy_dev=True), False, True, True),
        (with_evaluation(RUN, metrics=("ribes",)), False, False, True),
        (replace(RUN, tests=("test", "dev", "other")), False, True, True),
        (replace(RUN, gold=("gold_x",), gold_annotator="existing"), False, False, False),
        (replace(RUN, trees=None, trees_by="existing"), False, False, False),
        (
            replace(RUN, annotators={"existing": {"tool": "existing", "shards": 9, "max_words": 250}}),
            False,
            False,
            False,
        ),
        (replace(RUN, sentences=replace(RUN.sentences, train=7)), True, False, False),
        (replace(RUN, sentences=replace(RUN.sentences, dev=7)), True, True, False),
        (replace(RUN, sentences=replace(RUN.sentences, test=7)), False, True, False),
        (replace(RUN, components=weighted(0.7)), True, False, False),
        (replace(RUN, model=replace(RUN.model, dropout=0.4)), True, False, False),
        (with_training(RUN, clip_norm=2.0), True, False, False),
        (with_training(RUN, log_every=77), False, False, False),
        (with_training(RUN, compile=True), False, False, False),
        (with_training(RUN, batch=replace(RUN.training.batch, device_size=7)), False, False, False),
        (with_validation(RUN, beam=3), True, False, False),
    ],
)
def test_settings_that_training_inference_and_scoring_depend_on(after, training, inference, scoring):
    assert RUN.training.validation.metric == "bleu"
    assert bool(changed(training_settings, RUN, after)) == training
    assert bool(changed(inference_settings, RUN, after)) == inference
    assert bool(changed(scoring_settings, RUN, after)) == scoring


def test_training_depends_on_the_search_and_scoring_of_validation():
    with_beam, with_perplexity = with_validation(RUN, beam=4), with_validation(RUN, metric="perplexity")
    assert changed(training_settings, with_beam, with_decoding(with_beam, alpha=0.9)) == ["decoding.alpha: 0.6 -> 0.9"]
    for other in (with_decoding(with_perplexity, max_length_extra=7), with_evaluation(with_perplexity, lowercase=True)):
        assert changed(training_settings, with_perplexity, other) == []


@pytest.mark.parametrize(
    ("system", "tags"),
    [
        ("tag_attention", "ccg_tags"),
        ("tag_attention_random", "random_tags"),
        ("tag_attention_without_loss", None),
        ("multitask", "ccg_tags"),
        ("interleaved", "ccg_tags"),
        ("source_dg_a", None),
        ("tag_attention_source_dg_a", "ccg_tags"),
    ],
)
def test_systems_that_predict_tags_are_translated_with_tags(system, tags):
    """Translations that were made before tags could be predicted are made again."""
    baseline, run = (PROJECT.run("demo_de2en", name, "smoke", 1) for name in ("transformer_base", system))
    assert run.predicted_tags == tags
    expected = [] if tags is None else [f'predicted_tags: nothing -> "{tags}"']
    assert changed(inference_settings, baseline, run) == expected


def test_only_systems_that_parse_depend_on_roots():
    plain = PROJECT.run("demo_en2de", "transformer_base", "demo", 1)
    assert changed(scoring_settings, plain, with_evaluation(plain, roots="many")) == []


def test_parsing_and_scoring_treebanks_depends_on_no_other_settings():
    run = PROJECT.run("multi30k_en2de", "depparse_l1", "small", 1)
    assert run.gold
    for other in (with_decoding(run, beam=7), with_evaluation(run, lowercase=True)):
        assert changed(gold_settings, run, other) == changed(gold_scoring_settings, run, other) == []
    many = with_evaluation(run, roots="many")
    assert changed(gold_settings, run, many) == []
    assert changed(gold_scoring_settings, run, many) == ['evaluation.roots: "one" -> "many"']


def test_what_trees_are_compared_with_decides_how_treebanks_are_parsed_and_scored():
    supervised = PROJECT.run("multi30k_en2de", "depparse_l1", "small", 1)
    induced = replace(supervised, trees="induced")
    assert changed(gold_settings, supervised, induced) == ['trees: nothing -> "induced"']
    assert 'trees: nothing -> "induced"' in changed(gold_scoring_settings, supervised, induced)
    assert changed(gold_scoring_settings, induced, with_evaluation(induced, roots="many")) == []
    assert changed(training_settings, supervised, induced) == changed(inference_settings, supervised, induced) == []


def test_settings_are_recorded_by_path():
    values = {
        "training": {"schedule": {"peak": 1}, "betas": [0.9, 0.98]},
        "components": {"depparse": {"weight": 0.5, "head": None}, "pascal": {"heads": 1}},
        "filters": [{"name": "length", "most": 5, "least": None}, {"name": "ratio", "most": 9}],
        "two": [{"name": "same", "x": 1}, {"name": "same", "x": 2}],
        "splits": {"train": [{"corpus": "a", "last": 100}]},
        "empty": [],
        "none": None,
    }
    assert flatten_settings(values) == {
        "training.schedule.peak": 1,
        "training.betas": [0.9, 0.98],
        "components": "depparse, pascal",
        "components.depparse.weight": 0.5,
        "components.pascal.heads": 1,
        "filters": "length, ratio",
        "filters.length.most": 5,
        "filters.ratio.most": 9,
        "two[0].name": "same",
        "two[0].x": 1,
        "two[1].name": "same",
        "two[1].x": 2,
        "splits.train[0].corpus": "a",
        "splits.train[0].last": 100,
        "empty": [],
    }


def test_the_order_of_components_is_a_setting():
    values = {"components": {"pascal": {"heads": 1}, "label_head": {"layer": 1}}}
    swapped = {"components": dict(reversed(values["components"].items()))}
    assert values == swapped
    assert differences(flatten_settings(values), flatten_settings(swapped)) == [
        'components: "pascal, label_head" -> "label_head, pascal"'
    ]
    assert repr(Tracked(None, values)) != repr(Tracked(None, swapped))


def test_long_values_are_shortened():
    (line,) = differences({"a": "x" * 1000}, {"a": "y"})
    assert len(line) < 150


def test_a_tracked_value_is_compared_by_its_settings_and_pickled_without_them():
    run = Tracked({"all": object}, {"a": {"b": 1}})
    assert repr(run) == repr(Tracked({}, {"a": {"b": 1}}))
    assert repr(run) != repr(Tracked({}, {"a": {"b": 2}}))
    assert pickle.loads(pickle.dumps(run)) == ({"all": object},)


def reason(old, new, files=("results/x",)):
    """The reason that Snakemake prints when parameters have changed."""
    change = ParamsChange(only_old=set(map(repr, old)), only_new=set(map(repr, new)), files=set(files))
    return f"Params have changed since last execution: {change}"


OLD, NEW = (Tracked(None, training_settings(replace(RUN, components=weighted(weight))))
            for weight in (0.5, 0.7))  # fmt: skip


def test_a_reason_names_only_the_changed_setting():
    before = reason([OLD], [NEW])
    assert len(before) > 1000
    expected = "Params have changed since last execution:\n        components.depparse.weight: 0.5 -> 0.7"
    assert explained_reason(before) == expected


def test_other_reasons_stay_unchanged():
    other = f"Missing output files: a; {reason([OLD, 1], [NEW, 2])}; Software environment definition has changed"
    assert explained_reason(other).splitlines() == [
        "Missing output files: a; Params have changed since last execution:",
        "        components.depparse.weight: 0.5 -> 0.7",
        "        1 -> 2",
        "        Software environment definition has changed",
    ]
    assert explained_reason(reason([1], [2])).endswith("execution:\n        1 -> 2")
    assert explained_reason("Missing output files: a") == "Missing output files: a"


def test_records_of_older_versions_are_shortened():
    assert len(explained_reason(reason([{"run": "x" * 5000}], [NEW]))) < 300


def test_values_may_contain_the_separators_of_lists():
    strange = [Tracked(None, {"a": f"{n} now: settings: ; before: {{"}) for n in (1, 2)]
    assert explained_reason(reason(strange[:1], strange[1:])).count("\n") == 1
    assert '"1 now: settings: ; before: {" -> "2 now' in explained_reason(reason(strange[:1], strange[1:]))


def test_another_parameter_may_contain_our_mark():
    assert explained_reason(reason(["settings: a"], ["settings: b"])).endswith("'settings: a' -> 'settings: b'")


def test_snakemakes_logger_explains_reasons(caplog):
    logger = logging.getLogger("test_snakemakes_logger_explains_reasons")
    explain_reasons(logger)
    logger.error("a job", extra={"reason": reason([OLD], [NEW])})
    assert caplog.records[0].reason.endswith("\n        components.depparse.weight: 0.5 -> 0.7")


def changes_shown(before, after):
    """The lines about changed settings if another process recorded `before`."""
    old, new = (Tracked(None, inference_settings(run)) for run in (before, after))
    Tracked.defaults.pop(old.record)
    return explained_reason(reason([old], [new])).splitlines()[1:]


def test_a_changed_setting_is_shown_with_its_default():
    assert RUN.decoding.beam == 4
    assert changes_shown(RUN, with_decoding(RUN, beam=7)) == ["        decoding.beam: 4 -> 7"]
    assert changes_shown(with_decoding(RUN, beam=7), RUN) == ["        decoding.beam: 7 -> 4"]
    assert changes_shown(RUN, with_decoding(RUN, max_length_ratio=None)) == [
        "        decoding.max_length_ratio: 2.0 -> nothing"
    ]
    default, greedy = with_decoding(RUN, max_length=None), with_decoding(RUN, max_length=None, beam=1)
    # Before, all decoding settings were at their defaults.
    assert changes_shown(default, greedy) == ["        decoding.beam: 4 -> 1"]


def test_a_changed_setting_in_a_section_at_its_defaults_is_shown_with_its_default():
    default = with_training(RUN, validation=ValidationSettings())
    old, new = (training_settings(run) for run in (default, with_validation(default, every=77)))
    assert not any(path.startswith("training.validation") for path in old)
    assert differences(dict(old), new) == ["training.validation.every: 1000 -> 77"]


def test_defaults_of_missing_settings_are_not_shown():
    """A filter with all settings at their defaults is added or removed."""
    length = {"name": "length", "most": Defaulted(250, 250), "least": Defaulted(1, 1)}
    after, before = (
        flatten_settings({"filters": entries}) for entries in ([{"name": "empty"}, length], [{"name": "empty"}])
    )
    assert differences(dict(before), after)[0] == 'filters: "empty" -> "empty, length"'
    assert "filters.length.most: nothing -> 250" in differences(dict(before), after)


def test_different_records_of_the_same_settings_are_explained():
    values = {"decoding": {"beam": Defaulted(4, 4), "alpha": Defaulted(0.9, 0.6)}}
    old, new = Tracked(None, {"decoding": {"beam": 4, "alpha": 0.9}}), Tracked(None, values)
    assert repr(old) != repr(new)
    assert explained_reason(reason([old], [new])).endswith("\n        the same settings, recorded in another way")
