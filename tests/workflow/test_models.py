"""Parser models in plans: where they are searched, which ones are downloaded, missing, or downloaded by hand."""

import os
import time

import pytest
from workflow.calling import little

from nmtcore.planning.annotation import annotators_without_models

PARSED = "results/smoke/parsed/depparse_l1.bleu"
PLAIN = "results/smoke/parsed/transformer_base.bleu"
TREES = "results/parsed/annotation/trees/dev.source.parquet"
TAGGED = "results/tagged/annotation/tags/test.target.parquet"
TAGS = little(annotators={"tags": {"tool": "easyccg"}}, syntax={"target": {"ccg": "tags"}})


def parsed(**annotators):
    """The data set `little` with its source parsed by `trees`; no system uses its other annotators."""
    return little(annotators=annotators, syntax={"source": {"dependencies": "trees"}})


SPACY = parsed(trees={"tool": "spacy", "model": "xx_trees"}, idle={"tool": "easyccg"})


def downloads_of(plan):
    return {job.outputs[0].removeprefix("downloads/") for job in plan.values() if job.rule == "download"}


def test_a_system_that_reads_no_trees_needs_no_model(planner):
    planner.write("datasets/parsed", SPACY)
    assert "annotate_shard" not in planner.rules_of(PLAIN)
    plan = planner.plan(PARSED)
    assert [job.rule for job in plan.values()].count("annotate_shard") == 3, "the unused annotator has none"


@pytest.mark.parametrize("folder", ["manual/models", "mine"])
def test_a_model_of_the_users_is_neither_downloaded_nor_missing(planner, tmp_path, folder):
    jar, parser = tmp_path / folder / "easyccg/easyccg.jar", tmp_path / folder / "xx_trees/meta.json"
    for path in (jar, parser):
        path.parent.mkdir(parents=True)
        path.write_text("{}")
    planner.write("datasets/tagged", TAGS)
    planner.write("datasets/parsed", SPACY)
    assert downloads_of(planner.plan(TAGGED, models=["mine"])) == {"little/test.en", "little/test.de"}
    assert annotators_without_models(planner.project(models=["mine"]), [("parsed", "trees")]) == []


def errors(finished):
    assert "Traceback" not in finished.output
    return [line for line in finished.output.splitlines() if line.startswith("Error: ")]


@pytest.mark.needs("Snakemake")
def test_missing_models_end_planning(empty):
    empty.write("datasets/parsed", SPACY)
    empty.write("datasets/other", parsed(trees={"tool": "udpipe", "model": "xx.udpipe"}))
    both = (PARSED, PARSED.replace("parsed", "other"))
    refused = empty.call("--cores", "1", *both, settings=['models=["/my/models"]'])
    assert refused.code == 1
    second, first = errors(refused)
    assert "parsed: the annotator trees cannot run: there is no spacy model 'xx_trees' (a folder that holds" in first
    assert "looked for it at /my/models/xx_trees, manual/models/xx_trees, downloads/models/xx_trees. Add the" in first
    assert "other: the annotator trees cannot run: there is no udpipe model 'xx.udpipe' (a file)" in second
    assert not (empty.folder / "results").exists()
    assert not (empty.folder / "downloads").exists()


@pytest.mark.needs("Snakemake")
def test_finished_results_need_no_model(empty):
    """The model has been removed since, and so have the files between them, or not."""
    empty.write("datasets/parsed", SPACY)
    for age, target in enumerate((PARSED, TREES), start=1):
        path = empty.folder / target
        path.parent.mkdir(parents=True)
        path.write_text("")
        os.utime(path, ns=(time.time_ns() - age * 10**12,) * 2)
    planned = empty.plan(PARSED, TREES)
    assert "xx_trees" not in planned.output
    assert "Nothing to be done" in planned.output
    again = empty.call("-n", TREES, "--forcerun", "read_split", "--cores", "1")
    assert again.code == 1
    assert len(errors(again)) == 1, "a job that runs again needs the model"
