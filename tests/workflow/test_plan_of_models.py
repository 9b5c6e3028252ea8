"""Messages of a plan about parser models: to download, missing, or to download by hand."""

import os
import re
import time

import pytest
from workflow.calling import little

PARSED = "results/smoke/parsed/depparse_l1.bleu"
TREES = "results/parsed/annotation/trees/dev.source.parquet"


def parsed(**annotators):
    """The data set `little` with its source parsed by `trees`; no system uses its other annotators."""
    return little(annotators=annotators, syntax={"source": {"dependencies": "trees"}})


@pytest.fixture
def workplace(empty):
    """A working directory without the models of `trees` and of an unused annotator."""
    empty.write("datasets/parsed", parsed(trees={"tool": "spacy", "model": "xx_trees"}, idle={"tool": "easyccg"}))
    return empty


def errors(finished):
    assert "Traceback" not in finished.output
    return [line for line in finished.output.splitlines() if line.startswith("Error: ")]


@pytest.mark.parametrize("options", [("-n",), ("--cores", "1")])
def test_a_missing_model_ends_planning(workplace, options):
    refused = workplace.call(*options, PARSED, settings=['models=["/my/models"]'])
    assert refused.code == 1
    assert errors(refused) == [
        "Error: parsed: the annotator trees cannot run: there is no spacy model 'xx_trees' (a folder that holds "
        "meta.json): looked for it at /my/models/xx_trees, manual/models/xx_trees, downloads/models/xx_trees. Add the "
        "folder that holds it to `models` in config/config.yaml, or use --config 'models=[\"FOLDER\"]'."
    ]
    assert not (workplace.folder / "results").exists()
    assert not (workplace.folder / "downloads").exists()


def test_all_missing_models_are_named_at_once(workplace):
    workplace.write("datasets/other", parsed(trees={"tool": "udpipe", "model": "xx.udpipe"}))
    second, first = errors(workplace.call("-n", PARSED, PARSED.replace("parsed", "other")))
    assert "parsed: the annotator trees cannot run: there is no spacy model 'xx_trees'" in first
    assert "other: the annotator trees cannot run: there is no udpipe model 'xx.udpipe' (a file)" in second
    assert "spacy download" not in second


def test_a_system_that_reads_no_trees_needs_no_model(workplace):
    planned = workplace.plan(PARSED.replace("depparse_l1", "transformer_base"))
    assert "xx_trees" not in planned.output


def test_a_model_in_the_users_folder_is_not_missing(workplace):
    folder = workplace.folder / "mine" / "xx_trees"
    folder.mkdir(parents=True)
    (folder / "meta.json").write_text("{}")
    planned = workplace.plan(PARSED, settings=['models=["mine"]'])
    assert re.search(r"^annotate_shard +3$", planned.output, re.MULTILINE)


def test_finished_results_need_no_model(workplace):
    """The model has been removed since, and so have the files between them, or not."""
    for age, target in enumerate((PARSED, TREES), start=1):
        path = workplace.folder / target
        path.parent.mkdir(parents=True)
        path.write_text("")
        os.utime(path, ns=(time.time_ns() - age * 10**12,) * 2)
    for target in (PARSED, TREES):
        planned = workplace.plan(target)
        assert "xx_trees" not in planned.output
        assert "Nothing to be done" in planned.output
    again = workplace.call("-n", TREES, "--forcerun", "read_split", "--cores", "1")
    assert again.code == 1
    assert len(errors(again)) == 1, "a job that runs again needs the model"


TAGGED = "results/tagged/annotation/tags/test.target.parquet"


@pytest.fixture
def tagged(empty):
    """A working directory with a data set whose target is tagged by EasyCCG."""
    empty.write("datasets/tagged", little(annotators={"tags": {"tool": "easyccg"}}, syntax={"target": {"ccg": "tags"}}))
    return empty


def by_hand(finished):
    return [line for line in finished.output.splitlines() if "must be fetched by hand" in line]


def test_a_model_to_download_by_hand_is_reported_and_stops_a_run_before_it_starts(tagged):
    planned = tagged.plan(TAGGED)
    (sentence,) = by_hand(planned)
    assert sentence.startswith("models/easyccg/easyccg.jar must be fetched by hand: https://")
    assert sentence.endswith("Put it at manual/models/easyccg/easyccg.jar.")
    stopped = tagged.call("--cores", "1", TAGGED)
    assert stopped.code == 1
    assert errors(stopped) == by_hand(stopped) == [f"Error: {sentence}"]
    assert not (tagged.folder / "results").exists()
    assert by_hand(tagged.plan("results/smoke/tagged/transformer_base.bleu")) == []


@pytest.mark.parametrize("folder", ["manual/models", "mine"])
def test_a_model_that_was_downloaded_by_hand_is_not_reported(tagged, folder):
    path = tagged.folder / folder / "easyccg" / "easyccg.jar"
    path.parent.mkdir(parents=True)
    path.write_text("")
    planned = tagged.plan(TAGGED, settings=['models=["mine"]'])
    assert "models/easyccg" not in planned.output


def test_a_plan_lists_exactly_its_downloads(empty):
    """Existing files, and models that no job of the plan reads, are left out."""
    settings = ["mirrors=[]"]
    target = "results/small/multi30k_cs2en/{}.bleu"
    base, trees = (
        re.findall(r"^  (\S+): .*; licence: (.{9})", empty.plan(target.format(system), settings=settings).output, re.M)
        for system in ("transformer_base", "depparse_l1")
    )
    texts = {
        (f"multi30k/{split}.{side}", "Captions ")
        for split in ("train", "val", "test_2016_flickr")
        for side in ("cs", "en")
    }
    assert set(base) == texts
    assert {name.split("/")[1] for name, _ in set(trees) - texts} == {"stanza_cs"}
    assert {licence for _, licence in set(trees) - texts} == {"Apache-2."}


def test_a_broken_file_of_a_model_only_affects_targets_that_need_it(workplace):
    workplace.write("models/xx_trees", {"descripton": "misspelt"})
    planned = workplace.plan(PARSED.replace("depparse_l1", "transformer_base"))
    assert "To be fetched: 6 files" in planned.output
    refused = workplace.call("-n", PARSED)
    assert refused.code == 1
    (error,) = errors(refused)
    assert "models/xx_trees.yaml" in error
    assert "Did you mean description?" in error


def test_a_missing_folder_is_reported_once(empty):
    (empty.folder / "parsers").mkdir()
    folders = [f'mirrors=["/nope","{empty.mirror}","file:///nor","https://a.org/b"]', 'models=["parsers","parser"]']
    ran = empty.run("results/demo_en2de/corpus/dev.parquet", settings=folders)
    warnings = [line for line in ran.output.splitlines() if "does not exist" in line]
    assert warnings == [
        "mirrors: the folder /nope does not exist.",
        "models: the folder parser does not exist.",
    ]
    assert "does not exist" not in empty.plan("data", settings=["datasets=[demo_en2de]"]).output
