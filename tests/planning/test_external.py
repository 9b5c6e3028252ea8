"""External systems in planning: their runs, files, seeds and targets, and what is refused before any job runs."""

import re

import pytest
from planning.conftest import parsed
from workflow.calling import little

from nmtcore.config.assembly import MissingAnnotation
from nmtcore.errors import UserError
from nmtcore.planning.configured import configured_runs
from nmtcore.planning.evaluation import (
    missing_seed_notes,
    parse_folders,
    pattern_of,
    seed_scores,
    summary_seeds,
    trained_pattern,
    translation_file,
)
from nmtcore.planning.inference import measured_features
from nmtcore.planning.targets import unknown_target
from nmtcore.tables.plan import planned_table, table_notes
from nmtcore.tables.sheets import run_items


@pytest.fixture
def make(make_project, tmp_path):
    """Make a project with the external system `llm`, whose files have six lines each."""

    def make(translations, settings=None, *, entry=None, datasets=None, **others):
        external = {"provenance": "An engine", "translations": translations}
        (tmp_path / "config").mkdir(exist_ok=True)
        for files in (files for splits in translations.values() for files in splits.values()):
            for name in [files] if isinstance(files, str) else files:
                (tmp_path / "config" / name).write_text("eins\n" * 6)
        own = {"systems/mine": {"llm": {"external": external} | (entry or {})}, **others}
        datasets = {"parsed": parsed()} if datasets is None else datasets
        return make_project({"systems": ["llm"]} | (settings or {}), own, **datasets)

    return make


def test_a_run_has_the_files_of_its_seed_and_only_splits_with_files(make, tmp_path):
    project = make({"parsed": {"dev": ["d1", "d2"], "test": ["t1", "t2"]}})
    run = project.run("parsed", "llm", "smoke", 2)
    assert run.external == {"test": "config/t2", "dev": "config/d2"}
    assert list(run.tests) == list(run.external) == ["test", "dev"], "the main test comes first"
    assert (run.scores, run.gold, run.parsed_tests) == (("bleu",), (), ())
    assert translation_file(run=run, split="dev") == run.external["dev"]
    with pytest.raises(UserError, match=r"parsed/llm: unknown external translations 'more'"):
        translation_file(run=run, split="more")
    alone = make({"parsed": {"test": "t1"}}).run("parsed", "llm", "paper", 1)
    assert (alone.tests, alone.external) == (("test",), {"test": "config/t1"})


@pytest.mark.parametrize(
    ("translations", "seed", "sentence"),
    [
        ({"parsed": {"test": ["a", "b"]}}, 3, r"2 files for test, so there is no seed 3: .* seeds from 1 to 2\.$"),
        ({"parsed": {"dev": "a"}}, 1, "has no translations of test, the main test"),
        ({"demo_en2de": {"test": "a"}}, 1, r"add `translations: \{parsed: \{test: FILE\}\}` to its `external`"),
    ],
)
def test_missing_translations_are_named(make, translations, seed, sentence):
    with pytest.raises(MissingAnnotation, match=sentence) as caught:
        make(translations).run("parsed", "llm", "smoke", seed)
    assert "mine.yaml: llm on parsed at scale smoke: has " in str(caught.value)
    assert caught.value.missing.startswith("no external translations ")


TEST = {"parsed": {"test": "a"}}


@pytest.mark.parametrize(
    ("translations", "entry", "sentence"),
    [
        ({"parsed": {"test": ["a", "b"], "dev": "c"}}, {}, "has 2 files for test, but 1 file for dev: name one"),
        (
            {"parsed": {"test": "a", "tset": "b"}},
            {},
            "unknown test split 'tset'. Did you mean test",
        ),
        ({"prased": {"test": "a"}}, {}, "unknown data set 'prased'. Did you mean parsed"),
        (TEST, {"base": "recurrent"}, "external: the system is not trained here, so it has no base: delete one"),
        (TEST, {"extends": "nmt"}, "extends: llm is external, and such a system neither extends another"),
        (TEST, {"external": {"translations": {}}}, "external: the key 'provenance' is missing"),
    ],
)
def test_mistakes_in_an_entry_are_explained(make, translations, entry, sentence):
    with pytest.raises(UserError, match=sentence):
        make(translations, entry=entry).run("parsed", "llm", "smoke", 1)


def test_other_systems_neither_extend_nor_start_from_an_external_one(make):
    children = {"child": {"extends": "llm", "base": "recurrent"}, "tuned": {"start_from": "llm"}}
    project = make(TEST, **{"systems/more": children})
    with pytest.raises(UserError, match="child: extends: llm is external"):
        project.run("parsed", "child", "smoke", 1)
    with pytest.raises(UserError, match="start_from: llm is external, so it has no model"):
        project.run("parsed", "tuned", "smoke", 1)


def test_a_date_needs_no_quotation_marks(make, tmp_path):
    project = make({"parsed": {"test": "a"}})
    path = tmp_path / "config/systems/mine.yaml"
    path.write_text(path.read_text() + "    date: 2026-11-20\n    url: https://example.org\n")
    project = type(project)(project.folders, {"scale": "smoke", "datasets": ["parsed"], "systems": ["llm"]})
    note = "An engine; 2026-11-20; https://example.org"
    assert project.system("llm").external.source_note == note


def test_a_summary_has_the_configured_seeds_with_translations(make):
    project = make({"parsed": {"test": ["a", "b"]}}, {"seeds": [3, 2, 1]})
    folder = "results/smoke/parsed/llm"
    scores = seed_scores(project, root="results/smoke", dataset="parsed", system="llm", score="bleu")
    assert scores == [f"{folder}/seed2/scores.json", f"{folder}/seed1/scores.json"]
    assert summary_seeds(project, dataset="parsed", system="llm") == [2, 1]
    assert summary_seeds(project, dataset="parsed", system="transformer_base") == [3, 2, 1]
    runs, sentences = configured_runs(project)
    assert [run.seed for run in runs] == [2, 1]
    notes = missing_seed_notes(project, dataset="parsed", system="llm")
    assert notes == sentences
    assert not missing_seed_notes(project, dataset="parsed", system="transformer_base")
    assert sentences == ["llm has no external translations of parsed for seed 3: its scores lack them."]
    project = make({"parsed": {"test": "a"}}, {"seeds": [4, 5]})
    with pytest.raises(MissingAnnotation, match="there is no seed 4"):
        configured_runs(project)


def test_tables_record_the_seeds_without_translations(make):
    table = {"kind": "scores", "rows": ["transformer_base", "llm"], "columns": ["parsed/test/bleu", "parsed/dev/bleu"]}
    values = {"seeds": {"llm": [1, 2, 3, 4]}, "tables": {"t": table}}
    project = make({"parsed": {"test": ["a", "b"]}}, {"seeds": [3, 2], "scale": "quick"}, **{"tables/mine": values})
    planned = planned_table(project, "mine_t")
    assert planned.cell("llm", "parsed/dev/bleu").reason == "llm has no translations of parsed, dev"
    runs = planned.runs
    assert (runs["parsed/llm"].missing, runs["parsed/transformer_base"].missing) == ((3, 4), ())
    assert set(runs["parsed/llm"].seeds) == {1, 2}
    sentence = "llm has no external translations of parsed for seeds 3, 4: its scores lack them."
    assert table_notes(project, table="mine_t") == [sentence]
    assert "llm on parsed: without seeds 3, 4 (no translations)." in list(run_items(planned))


def test_a_pattern_leaves_out_data_sets_without_translations(make):
    settings = {"systems": ["ll*"], "datasets": ["parsed", "little"]}
    project = make({"parsed": {"test": ["a", "b"]}}, settings, datasets={"parsed": parsed(), "little": little()})
    runs, sentences = configured_runs(project)
    assert {run.dataset for run in runs} == {"parsed"}
    assert sentences == ["little has no external translations of test: llm is left out."]


def test_files_that_need_a_model_are_no_targets(make):
    project = make({"parsed": {"test": "a"}})
    sentence = "llm is external, so it has no model, only translations and scores."
    for name in ("model", "training.jsonl"):
        target = f"results/smoke/parsed/llm/seed1/{name}"
        assert unknown_target(project, target, rules=[], makes=lambda path: False) == f"{target}: {sentence}"
    run = project.run("parsed", "llm", "smoke", 1)
    with pytest.raises(UserError, match=sentence):
        measured_features(project, run=run, split="test", measure="measure_attention")
    with pytest.raises(UserError, match="llm predicts no trees"):
        parse_folders(project, run=run)
    with pytest.raises(UserError, match=r"llm has no \.uas on parsed, only \.bleu"):
        seed_scores(project, root="results/smoke", dataset="parsed", system="llm", score="uas")


def test_no_system_is_both_trained_and_imported(make, make_project):
    project = make({"parsed": {"test": "a"}})
    trained, external = trained_pattern(project), pattern_of(project.systems.external)
    for name, is_external in (("llm", True), ("llm_two", False), ("my_llm", False), ("transformer_base", False)):
        path = f"{name}/seed1"
        matches = [bool(re.fullmatch(f"(?:{pattern})/seed1", path)) for pattern in (trained, external)]
        assert matches == [not is_external, is_external], name
    (project.folders[0] / "systems/mine.yaml").unlink()
    none = make_project(parsed=parsed())
    assert not re.search(pattern_of(none.systems.external), "llm")
    assert re.fullmatch(f"(?:{trained_pattern(none)})/seed1", "llm/seed1")
