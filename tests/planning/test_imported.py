"""Imported systems in planning: their settings, which no scale cuts, systems that start from them, and refusals."""

import re

import pytest
from planning.conftest import parsed
from publishing import write_settings

from nmtcore.config.assembly import MissingAnnotation
from nmtcore.config.corpora import SPECIALS
from nmtcore.config.typed import changed
from nmtcore.errors import UserError
from nmtcore.planning.evaluation import pattern_of, trained_pattern, translating_pattern
from nmtcore.planning.manifests import manifest_sources
from nmtcore.planning.training import path_of_run, published_model, start_model

SYSTEMS = {
    "opus": {"imported": {"model": "opus-mt-en-de", "source": "en", "target": "de", "licence": "CC-BY-4.0"}},
    "tuned": {"start_from": "opus"},
    "tuned_again": {"start_from": "tuned"},
    "pascal_tuned": {"extends": "tuned", "components": {"pascal": {"heads": 2}}, "model": {"dropout": 0.3}},
}


@pytest.fixture
def make(make_project, tmp_path):
    """Make a project with a published model and systems that use it, or others in their place."""
    write_settings(tmp_path / "published/opus-mt-en-de", 60_000)

    def make(**systems):
        settings = {"systems": ["opus"], "models": ["published"]}
        return make_project(settings, {"systems/mine": SYSTEMS | systems}, parsed=parsed(), other=parsed(target="cs"))

    return make


def test_no_scale_cuts_an_imported_model_or_its_segmentation(make):
    project = make()
    runs = [project.run("parsed", "opus", scale, 1) for scale in ("paper", "smoke", "small")]
    for run in runs:
        assert run.imported == "opus-mt-en-de"
        assert not run.is_trained
        assert run.segmentation.name == "sentencepiece_joint_60000_opus-mt-en-de"
        assert changed(run.model) == {
            **{"norm": "post", "positions": "halves", "activation": "swish", "output_bias": True},
        }
        assert (run.decoding.beam, run.decoding.alpha, run.decoding.max_length) == (6, 1.0, 510)
    assert project.seeds("parsed", "opus") == (1,)
    files = [row for row in manifest_sources(project, run=runs[0])["files"] if row["kind"] == "model"]
    assert [row["path"] for row in files] == published_model(project, run=runs[0])
    assert {(row["name"], row["licence"]) for row in files} == {("opus-mt-en-de", "CC-BY-4.0")}


def test_a_system_that_starts_from_it_has_its_base_and_components_with_any_seed(make):
    project = make()
    opus = project.run("parsed", "opus", "smoke", 1)
    run = project.run("parsed", "pascal_tuned", "smoke", 2)
    assert list(run.components) == ["pascal"]
    assert (run.model.width, run.model.dropout, run.segmentation) == (512, 0.3, opus.segmentation)
    assert run.is_trained
    again, tuned = (project.run("parsed", name, "smoke", 2) for name in ("tuned_again", "tuned"))
    assert (again.model, again.segmentation, again.decoding) == (tuned.model, opus.segmentation, opus.decoding)
    assert start_model(project, run=again) == [path_of_run(project, "model", tuned)]
    assert start_model(project, run=run) == [path_of_run(project, "model", opus)]
    for one in (run, again):
        assert "opus-mt-en-de" in {row["name"] for row in manifest_sources(project, run=one)["files"]}
    patterns = (trained_pattern(project), translating_pattern(project), pattern_of(project.systems.imported))
    for name, expected in (("opus", [False, True, True]), ("tuned", [True, True, False])):
        assert [bool(re.fullmatch(f"(?:{pattern})/seed1", f"{name}/seed1")) for pattern in patterns] == expected


def test_a_language_code_is_in_the_model_of_its_system_and_of_those_that_start_from_it(make):
    coded = {"imported": {**SYSTEMS["opus"]["imported"], "code": ">>fra<<"}}
    project = make(coded=coded, coded_tuned={"start_from": "coded"})
    opus, *runs = (project.run("parsed", name, "smoke", 1) for name in ("opus", "coded", "coded_tuned"))
    assert opus.model.language_code is None
    for run in runs:
        assert (run.model.language_code, run.segmentation) == (len(SPECIALS) + 7, opus.segmentation)


REFUSED = {
    "an unknown code": (
        {"opus": {"imported": {**SYSTEMS["opus"]["imported"], "code": "fra"}}},
        *("parsed", "opus", 1, "vocab.json: unknown language code 'fra'. Did you mean >>fra<<"),
    ),
    "another code": (
        {"tuned": {"start_from": "opus", "model": {"language_code": 5}}},
        "parsed",
        "tuned",
        1,
        "language_c",
    ),
    "languages": ({}, "other", "opus", 1, "the model opus-mt-en-de is for en to de, but the data set for en to cs"),
    "seed": ({}, "parsed", "opus", 2, "an imported model is always the same, so there is no seed 2: choose seed 1"),
    "keys": (
        {"opus": SYSTEMS["opus"] | {"model": {"width": 8}}},
        *("parsed", "opus", 1, "the system is not trained here, so it has no model: delete one or the other"),
    ),
    "extended": ({"more": {"extends": "opus"}}, "parsed", "more", 1, "opus is imported, and such a system neither"),
    "another size": ({"tuned": {"start_from": "opus", "model": {"width": 64}}}, "parsed", "tuned", 1, "width"),
    "another base": ({"tuned": {"start_from": "opus", "base": "recurrent"}}, "parsed", "tuned", 1, "has the base"),
    "absent": (
        {"opus": {"imported": {"model": "gone", "source": "en", "target": "de"}}},
        *("parsed", "opus", 1, "no model gone at published/gone, manual/models/gone.*: put it at one of these places"),
    ),
    "a path": (
        {"opus": {"imported": {"model": "../gone", "source": "en", "target": "de"}}},
        *("parsed", "opus", 1, "a model is a plain name"),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused_with_a_sentence(make, case):
    systems, dataset, system, seed, sentence = REFUSED[case]
    with pytest.raises(UserError, match=sentence) as refused:
        make(**systems).run(dataset, system, "smoke", seed)
    assert isinstance(refused.value, MissingAnnotation) == (case in ("languages", "seed", "absent"))
