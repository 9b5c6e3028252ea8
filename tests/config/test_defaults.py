"""Settings at their default are not recorded: a new setting runs no job again until its value is changed."""

from dataclasses import dataclass, field, make_dataclass, replace

import pytest

from nmtcore.config.annotators import ANNOTATORS, EasyCcgSettings, ExistingSettings
from nmtcore.config.changes import Tracked
from nmtcore.config.corpora import CorpusSettings, PartSettings
from nmtcore.config.defaults import with_defaults
from nmtcore.config.depends import (
    filtering_settings,
    gold_scoring_settings,
    inference_settings,
    reading_settings,
    scoring_settings,
    training_settings,
)
from nmtcore.config.filters import LengthSettings
from nmtcore.config.project import Project
from nmtcore.config.recorded import differences, flatten_settings
from nmtcore.config.runs import run_to_json
from nmtcore.config.segmentation import WordsSettings
from nmtcore.config.stages import FilteringSettings, ReadingSettings
from nmtcore.config.training import TreebankSettings
from nmtcore.config.typed import plain
from nmtcore.training.checkpoints import describe_training, fingerprint


@dataclass(frozen=True, kw_only=True)
class Inner:
    rate: float = 0.5
    limit: int | None = 3


@dataclass(frozen=True, kw_only=True)
class Outer:
    size: int
    beam: int = 4
    inner: Inner = field(default_factory=lambda: Inner(rate=0.1))
    optional: Inner | None = None
    sides: dict[str, Inner] = field(default_factory=dict)
    betas: tuple[float, ...] = (0.9, 0.98)


def grown(settings):
    """The same settings with a class that has one additional setting, at its default."""
    cls = make_dataclass(
        "Grown", [("novel", int, field(default=0))], bases=(type(settings),), frozen=True, kw_only=True
    )
    return cls(**{name: getattr(settings, name) for name in plain(settings)})


def record(settings):
    return flatten_settings(with_defaults(settings, plain(settings)))


def test_only_settings_that_differ_from_their_default_are_recorded():
    assert record(Outer(size=1)) == {"size": 1}
    assert record(Outer(size=1, beam=4, betas=(0.9, 0.98), inner=Inner(rate=0.1, limit=3))) == {"size": 1}
    assert record(Outer(size=1, beam=5, betas=(0.9,))) == {"size": 1, "beam": 5, "betas": [0.9]}


def test_nested_settings_are_compared_with_the_default_of_their_field():
    """The default rate is 0.1 in the field, but 0.5 in the class."""
    assert record(Outer(size=1, inner=Inner())) == {"size": 1, "inner.rate": 0.5}
    assert record(Outer(size=1, inner=Inner(rate=0.1, limit=None))) == {"size": 1, "inner.limit": None}


def test_settings_at_their_defaults_differ_from_none():
    assert record(Outer(size=1, optional=Inner())) == {"size": 1, "optional": {}}
    assert record(Outer(size=1, optional=Inner(rate=0.1))) == {"size": 1, "optional.rate": 0.1}
    assert record(Outer(size=1, sides={"a": Inner()})) == {"size": 1, "sides.a": {}}


@pytest.mark.parametrize(
    "settings",
    [
        Outer(size=1),
        Outer(size=1, optional=Inner()),
        Outer(size=1, sides={"a": Inner(), "b": Inner(rate=0.7)}),
        Outer(size=1, beam=9, inner=Inner()),
    ],
)
def test_a_new_setting_is_recorded_once_its_value_is_changed(settings):
    assert record(grown(settings)) == record(settings)
    assert record(replace(grown(settings), novel=1)) != record(settings)
    if settings.optional:
        assert record(replace(settings, optional=grown(settings.optional))) == record(settings)
    sides = {side: grown(inner) for side, inner in settings.sides.items()}
    assert record(replace(settings, sides=sides)) == record(settings)


def with_part(run, part, change):
    """The run with one part of its settings changed, given by its path."""
    if not part:
        return change(run)
    name, _, rest = part.partition(".")
    if isinstance(run, dict):
        return run | {name: with_part(run[name], rest, change)}
    return replace(run, **{name: with_part(getattr(run, name), rest, change)})


def records(run):
    """The records that training, checkpoints, inference and scoring of a run depend on."""
    settings = (training_settings, inference_settings, scoring_settings, gold_scoring_settings)
    return [
        *(repr(Tracked(None, settings_of(run))) for settings_of in settings),
        fingerprint(describe_training(run, data={})),
    ]


@pytest.fixture(scope="module")
def project(root):
    return Project.load(root / "config")


PARTS = [
    "",
    "model",
    "training",
    "training.schedule",
    "training.batch",
    "training.validation",
    "treebank",
    "decoding",
    "evaluation",
    "segmentation",
    "words.source",
]


@pytest.fixture(scope="module")
def run(project):
    return replace(project.run("demo_en2de", "depparse_gold", "demo", 1), treebank=TreebankSettings())


@pytest.mark.parametrize("part", PARTS)
def test_a_new_setting_runs_no_job_again(run, part):
    assert records(with_part(run, part, grown)) == records(run)


@pytest.mark.parametrize("part", PARTS)
def test_a_new_setting_runs_jobs_again_once_its_value_is_changed(run, part):
    more, less = (
        with_part(run, part, lambda settings, value=value: replace(grown(settings), novel=value)) for value in (1, 2)
    )
    assert records(more) != records(run)
    assert records(more) != records(less)


def test_a_new_setting_of_a_component_runs_no_job_again(run):
    """It is still recorded under the registered name of its class."""
    (name,) = run.components

    def of(settings):
        written = run_to_json(run)
        written["components"][name] |= plain(settings)
        return flatten_settings(with_defaults(replace(run, components={name: settings}), written))

    before, settings = flatten_settings(with_defaults(run, run_to_json(run))), grown(run.components[name])
    assert before[f"components.{name}.kind"] == name
    assert of(settings) == before
    assert of(replace(settings, novel=1)) == before | {f"components.{name}.novel": 1}


def test_a_default_may_differ_by_class():
    def of(settings):
        return flatten_settings(with_defaults(settings, ANNOTATORS.entry_of(settings)))

    assert of(EasyCcgSettings(max_words=70)) == {"tool": "easyccg"}
    assert of(ExistingSettings(max_words=70)) == {"tool": "existing", "max_words": 70}


def reading(corpus, **values):
    parts = (PartSettings(corpus="c"),)
    words = {"source": WordsSettings(), "target": WordsSettings()}
    settings = ReadingSettings(
        languages={"source": "en", "target": "de"}, treebank=False, parts=parts, corpora={"c": corpus}, words=words,
        **values,
    )  # fmt: skip
    return flatten_settings(reading_settings(settings))


def test_format_options_at_their_defaults_are_not_recorded():
    bare, explicit, swapped = (
        reading(CorpusSettings(format="demo", options={"split": "train", **more}))
        for more in ({}, {"swap": False, "seed": 1}, {"swap": True})
    )
    assert bare == explicit
    assert differences(bare, swapped) == ["corpora.c.options.swap: false -> true"]


def test_filter_settings_at_their_defaults_are_not_recorded():
    def of(*filters):
        return flatten_settings(filtering_settings(FilteringSettings(languages={}, filters=filters)))

    assert of(LengthSettings()) == of(LengthSettings(least=1, most=250))
    assert differences(of(LengthSettings()), of(LengthSettings(most=80))) == ["filters.length.most: 250 -> 80"]
    assert of() != of(LengthSettings())


def test_no_job_depends_on_licences_citations_and_approximate_sizes(project):
    dataset = project.dataset("multi30k_en2de")
    corpora = {
        name: replace(
            corpus,
            licence="another",
            citation="another",
            files={role: tuple(replace(f, megabytes=1e6) for f in files) for role, files in corpus.files.items()},
        )
        for name, corpus in dataset.corpora.items()
    }
    other = replace(dataset, corpora=corpora, licence="another", citation="another", description="another")
    assert other != dataset
    for split in dataset.splits:
        assert ReadingSettings.of(other, split) == ReadingSettings.of(dataset, split)
        assert FilteringSettings.of(other, split) == FilteringSettings.of(dataset, split)
