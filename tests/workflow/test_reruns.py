"""The jobs that run again after a change, and after a job that failed or was killed."""

import copy
import dataclasses
import json
import os
import re
import shutil
from typing import Any

import pytest
import yaml
from planning.conftest import parsed
from workflow.calling import BRIEF, Workplace, copy_workflow, little, make_workplace, write_little
from workflow.planner import PlannedJob, Rules, changed_rules

from nmtcore.config.project import Project
from nmtcore.config.stages import VERSIONS

PARSED = parsed(
    selection={"parsed": {"source": ["dependencies"]}},
    words={"source": "moses", "target": "spaces"},
)
"""A data set with a treebank, whose jobs are of nearly all rules."""
WEIGHTED = {
    "extends": "depparse_l1",
    "components": {"depparse": {"weight": 0.5}},
    # If validation used BLEU, training would depend on the settings of BLEU.
    "training": {"validation": {"metric": "perplexity"}},
}
RUN = "results/smoke/parsed/weighted"
MEASURED = ("attention/test.parquet",)
TARGETS = [
    *(f"{RUN}.{score}" for score in ("bleu", "uas", "gold.uas", "comet")),
    *(f"{RUN}/seed1/{name}" for name in MEASURED),
]
SCORED_BY_COMET = {"run_metric", "score_metric"}


@pytest.fixture(scope="module")
def plan(rules, root, tmp_path_factory):
    """Plan all targets in this process with a data set, a system and settings, some of them changed."""
    folder = tmp_path_factory.mktemp("planned")

    def plan(
        dataset: dict | None = None, system: dict | None = None, rules: Rules = rules, **settings: Any
    ) -> dict[str, PlannedJob]:
        files = {"datasets/parsed": changed(PARSED, dataset or {})}
        files["systems/mine"] = {"weighted": changed(WEIGHTED, system or {})}
        for name, values in files.items():
            path = folder / f"{name}.yaml"
            path.parent.mkdir(exist_ok=True)
            path.write_text(yaml.safe_dump(values, sort_keys=False), encoding="utf-8")
        project = Project([folder, root / "config"], {"scale": "smoke", "datasets": ["parsed"], **settings})
        return rules.plan(project, *TARGETS)

    return plan


@pytest.fixture(scope="module")
def before(plan):
    """The plan of the unchanged settings."""
    return plan()


def changed(values: dict, changes: dict) -> dict:
    """Return nested settings with some changed."""
    values = copy.deepcopy(values)
    for key, value in changes.items():
        section = isinstance(value, dict) and isinstance(values.get(key), dict)
        values[key] = changed(values[key], value) if section else value
    return values


EDITS = {
    "description": ({"description": "Other words"}, {}, set()),
    "filters": ({"filters": ["empty"]}, {}, {"filter_split"}),
    "words": ({"words": {"target": "given"}}, {}, {"read_split", "train_model"}),
    "checksum": ({"corpora": {"bank": {"files": {"source": {"sha256": "a" * 64}}}}}, {}, {"download", "read_split"}),
    "parser": ({"annotators": {"trees": {"model": "xx_others"}}}, {}, {"annotate_shard"}),
    "annotation": ({"syntax": {"source": {"tags": "gold"}}}, {}, {"extract_syntax"}),
    "selection": (
        {"selection": None}, {},
        {"extract_syntax", "extract_tokens", "label_vocabularies", "learn_segmentation"},
    ),
    "segmentation": (
        {"segmentation": {"size": 100}}, {},
        {"train_model", "translate_split", "parse_gold", "measure_attention"},
    ),
    "recipe": ({"recipe": "pham2018"}, {}, {"train_model", "translate_split", "measure_attention"}),
    "beam": ({}, {"decoding": {"beam": 7}}, {"translate_split", "measure_attention"}),
    "text": ({"evaluation": {"text": "detokenised"}}, {}, {"translate_split", "score_tests", "score_metric"}),
    "tokenize": ({"evaluation": {"tokenize": "none"}}, {}, {"score_tests"}),
    "weight": ({}, {"components": {"depparse": {"weight": 0.7}}}, {"train_model"}),
    "induced trees": ({}, {"trees": "induced"}, {"score_tests", "parse_gold", "score_gold"}),
}  # fmt: skip
"""Changes of the data set and of the system, and the rules whose own inputs or parameters they change."""


def first_rules(before, after):
    """Name the rules of jobs of both plans whose own inputs or parameters differ."""
    return {job.rule for name, job in after.items() if name in before and job != before[name]}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_changes_the_inputs_and_parameters_of_these_rules(before, plan, edit):
    dataset, system, expected = EDITS[edit]
    assert first_rules(before, plan(dataset, system)) == expected


def test_a_further_test_repeats_nothing_of_training(plan):
    """It is read, parsed and translated, what it shares with train is counted, and all tests are scored."""
    held_out = {"filters": ["empty", "held_out"]}
    before, after = plan(held_out), plan({**held_out, "splits": {"more": "test"}})
    of_more = {name for name, job in after.items() if any("more" in output for output in job.outputs)}
    again = {name for name, job in after.items() if name in before and job != before[name]}
    assert {after[name].rule for name in again} == {"score_tests", "run_metric", "score_metric"}
    own = {after[name].rule for name in of_more}
    assert own >= {"read_split", "annotate_shard", "count_in_train", "translate_split"}
    assert "count_in_train" not in {job.rule for job in before.values()}
    assert changed_rules(before, after).isdisjoint({"train_model", "learn_segmentation", "label_vocabularies"})


def test_settings_of_the_project_change_the_rules_that_use_them(before, plan):
    others = {"threads": 2, "models": ["mine"], "gpus": 2, "mirrors": ["m"], "machine": {"log_every": 7}}
    assert first_rules(before, plan(**others)) == set()
    more = plan(seeds=[1, 2])
    assert "summarise_seeds" in first_rules(before, more)
    assert all(more[name] == job for name, job in before.items() if "seed1" in name)


STAGES = {
    "download": {"download"},
    "corpus": {"read_split", "filter_split"},
    "annotation": {"annotate_shard", "gather_annotation", "label_vocabularies", "select_pairs"},
    "segmentation": {"learn_segmentation"},
    "features": {"extract_tokens", "extract_syntax"},
    "training": {"train_model"},
    "inference": {"translate_split", "parse_gold", "measure_attention"},
    "evaluation": {"score_tests", "score_gold", "score_metric", "summarise_seeds"},
}
"""The rules whose outputs a new version of a stage makes again."""


def test_each_rule_has_the_version_of_its_stage(root, tmp_path, plan, monkeypatch):
    """Rules read the versions when they are loaded."""
    for stage in VERSIONS:
        monkeypatch.setitem(VERSIONS, stage, f"version of {stage}")
    newer = Rules(root / "Snakefile", tmp_path)
    rules = {stage: set() for stage in STAGES}
    for job in plan(rules=newer).values():
        for stage in re.findall(r"version of (\w+)", job.parameters):
            rules[stage].add(job.rule)
    assert rules == STAGES


TARGET = "results/little/corpus/train.parquet"
RAW = "results/little/corpus/raw/train.parquet"
SCORE = "results/brief/little/weighted.bleu"
SCORING = {"score_tests", "summarise_seeds"}


def write_weighted(workplace, weight):
    components = {"diagonalparse": {"layer": 0, "weight": weight}}
    workplace.write("systems/weighted", {"weighted": {"extends": "transformer_base", "components": components}})


@pytest.fixture(scope="module")
def scored(root, tmp_path_factory):
    """A working directory in which the system `weighted` has been trained and scored."""
    directory = make_workplace(tmp_path_factory.mktemp("reruns"), root / "Snakefile")
    write_little(directory)
    directory.write("scales/brief", BRIEF)
    write_weighted(directory, 0.5)
    directory.run(SCORE)
    return directory


@pytest.mark.needs("Snakemake")
def test_edits_of_scripts_run_nothing_again_and_a_new_version_its_stage(scored, root, tmp_path):
    copied = Workplace(folder=scored.folder, snakefile=copy_workflow(root, tmp_path), mirror=scored.mirror)
    (tmp_path / "src").unlink()
    shutil.copytree(root / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    script = tmp_path / "workflow/scripts/filter_split.py"
    script.write_text(f"# Nothing of importance.\n{script.read_text()}")
    versions = tmp_path / "src/nmtcore/config/stages.py"
    versions.write_text(re.sub(r'("evaluation": )\d+', r"\g<1>1000", versions.read_text()))
    assert copied.plan(SCORE).rules == SCORING


@pytest.mark.needs("Snakemake")
def test_scores_are_computed_again_after_a_failed_training(scored):
    write_weighted(scored, 0.25)
    run = scored.folder / "results/brief/little/weighted/seed1"
    (run / "checkpoints").rename(run / "aside")
    (run / "checkpoints").write_text("a file in place of the trainer's folder")
    failed = scored.call("--cores", "1", SCORE)
    assert failed.code == 1
    assert re.search(r"before: {'components': .*'weight': 0.5}}} now: {'components': .*'weight': 0.25}}}", failed.log)
    assert not (run / "model").exists()
    assert (run / "scores.json").exists()
    (run / "checkpoints").unlink()
    (run / "aside").rename(run / "checkpoints")
    assert scored.run(SCORE).rules == {"train_model", "translate_split", *SCORING}
    assert json.loads((run / "model/run.json").read_text())["components"]["diagonalparse"]["weight"] == 0.25
    assert scored.plan(SCORE).rules == set()


@pytest.fixture
def copied(scored, tmp_path):
    """A copy of the working directory with new times, and without Snakemake's own notes."""
    ignored = shutil.ignore_patterns(".snakemake", ".snakemake_timestamp")
    shutil.copytree(scored.folder, tmp_path / "work", ignore=ignored, copy_function=shutil.copy)
    for number, path in enumerate(sorted(tmp_path.rglob("*.*"), key=lambda path: path.name)):
        os.utime(path, (10**9 + number, 10**9 + number))
    return dataclasses.replace(scored, folder=tmp_path / "work")


@pytest.mark.needs("Snakemake")
def test_a_copy_repeats_nothing_but_what_depends_on_a_change_and_what_is_damaged_is_named(copied):
    assert copied.plan(SCORE).rules == set()
    scores = copied.folder / "results/brief/little/weighted/seed1/scores.json"
    whole = scores.read_text()
    assert "As they were made" in copied.run("verify").output
    scores.write_text(whole + " ")
    failed = copied.call("--cores", "1", "verify")
    assert failed.code == 1
    assert re.search(r"Damaged \(1\)[^\n]*\n +results/brief/little/weighted/seed1/scores\.json", failed.output)
    scores.write_text(whole)
    write_weighted(copied, 0.75)
    assert copied.plan(SCORE).rules == {"train_model", "translate_split", *SCORING}


@pytest.mark.needs("Snakemake")
def test_results_without_any_record_are_used_and_named_until_they_are_accepted(copied):
    shutil.rmtree(copied.folder / "results/logs/written")
    sentence = r"\(and the results of \d+ more jobs\): nothing says which version"
    plan = copied.plan(SCORE)
    assert plan.rules == set()
    assert re.search(sentence, plan.output)
    assert copied.call("--touch", "--cores", "1", SCORE).code == 0
    plan = copied.plan(SCORE)
    assert (plan.rules, "nothing says" in plan.output) == (set(), False)


@pytest.mark.needs("Snakemake")
def test_own_text_counts_by_its_content(empty):
    text = empty.folder / "text.en"
    text.write_text("ein Haus\n" * 30)
    files = {side: {"path": "../text.en"} for side in ("source", "target")}
    corpora = {name: {"format": "plain", "files": files} for name in ("train", "dev", "test")}
    empty.write("datasets/mine", little(corpora=corpora))
    target = "results/mine/corpus/dev.parquet"
    assert empty.run(target).rules == {"read_split", "filter_split"}
    os.utime(text)
    moved = dataclasses.replace(empty, folder=empty.folder.rename(empty.folder.parent / "moved"))
    assert moved.plan(target).rules == set()
    text = moved.folder / "text.en"
    text.write_text("ein Hund\n" * 30)
    os.utime(text, (1, 1))
    assert moved.run(target).rules == {"read_split", "filter_split"}
