"""A user's mistakes give a message without internals of the workflow, and only affect targets that need the file."""

import re

import pytest

INTERNALS = ("Traceback", 'File "', "in file", ".smk", "WorkflowError", "Exception")
"""Text that reveals internals of the workflow."""


def refused(workplace, *arguments, settings=()):
    """The message of a call that must fail: the last line of its output."""
    finished = workplace.call(*arguments, settings=settings)
    assert finished.code == 1, finished.output
    assert not [word for word in INTERNALS if word in finished.output], finished.output
    *_, line = finished.output.splitlines()
    assert line.startswith("Error: ")
    assert finished.output.count("Error") == 1
    assert not list((workplace.folder / ".snakemake/locks").glob("*"))
    return line.removeprefix("Error: ")


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("anotate", "no rule makes this. Did you mean annotate"),
        ("train_model", "makes many files: ask for one of them, {root}/{dataset}/{system}/seed"),
        ("nothing_like_it", "no rule makes this. Ask for one of all, annotate, "),
        ("result/smoke/demo_en2de/transformer_base.bleu", "Did you mean results/smoke/demo_en2de/transformer_base.ble"),
        ("demo_en2de/transformer_base.bleu", "Did you mean results/demo_en2de/transformer_base.bleu?"),
        ("./results/demo_en2de/corpus/trian.parquet", "unknown split 'trian'. Did you mean train?"),
        ("results/demo_en2de/corpus/trian.json", "unknown split 'trian'. Did you mean train?"),
        ("results/demo_en2de/annotation/existing/trian.source.parquet", "unknown split 'trian'. Did you mean train?"),
        ("results/demo_en2de/corpus/train.parqet", "Did you mean results/demo_en2de/corpus/train.parquet"),
        ("results/demo_en2de/annotation/existing/train.sorce.parquet", "existing/train.source.parquet"),
        (
            "results/demo_en2de/transformer_base/seed1/modle",
            "Did you mean results/demo_en2de/transformer_base/seed1/mo",
        ),
        ("results/tables/system.md", "unknown table 'system'. Did you mean systems?"),
        ("results/smoke/tables/systems.md", "ask for results/tables/systems.md with --config scale=smoke."),
        ("downloads/multi30k/vaal.cs", "no data set or model names this file. Did you mean multi30k/val.cs"),
    ],
)
def test_impossible_targets(empty, target, sentence):
    assert sentence in refused(empty, "-n", target)


def test_a_misspelt_key_on_the_command_line(empty):
    sentence = "--config: unknown key 'sclae'. Did you mean scale?"
    assert refused(empty, "-n", "data", settings=["sclae=smoke"]) == sentence


def test_results_may_be_in_the_working_folder(empty):
    settings = ["paths={results: .}", "datasets=[demo_en2de]", "scale=smoke"]
    empty.run("./demo_en2de/corpus/raw/dev.parquet", settings=settings)
    assert {path.name for path in (empty.folder / "demo_en2de/corpus/raw").iterdir()} == {"dev.json", "dev.parquet"}
    assert (empty.folder / "logs/demo_en2de/corpus/raw.dev.log").exists()
    assert "Nothing to be done" in empty.plan("demo_en2de/corpus/raw/dev.parquet", settings=settings).output
    for target in ("demo_en2de/depparse_l1.uas", "smoke/demo_en2de/depparse_l1.uas", "train"):
        planned = empty.plan(target, settings=[*settings, "systems=[depparse_l1]"]).output
        assert re.search(r"^train_model +1$", planned, re.MULTILINE), planned
    assert "unknown split 'trian'" in refused(empty, "-n", "demo_en2de/corpus/trian.parquet", settings=settings)


def test_a_results_folder_may_begin_with_a_dot(empty):
    paths = "paths={results: ./out}"
    planned = empty.plan("./out/smoke/demo_en2de/transformer_base.bleu", settings=[paths])
    assert "summarise_seeds" in planned.rules


def test_a_number_outside_its_range_on_the_command_line(empty):
    sentence = "config.yaml: seeds[0] must be between 0 and 4294967295, not -1."
    assert refused(empty, "-n", "data", settings=["seeds=-1"]) == sentence


def test_a_gpu_must_be_called_cuda(empty):
    sentence = "config.yaml: device: 'gpu' is not valid. Did you mean cuda?"
    assert refused(empty, "-n", "data", settings=["device=gpu"]) == sentence


@pytest.mark.parametrize("options", [("-n",), ("--cores", "1")])
@pytest.mark.parametrize(
    ("target", "settings", "sentence"),
    [
        ("results/tables/parsers.md", "datasets=[demo_de2en]", "None of demo_de2en has both a treebank and a parser"),
        (
            "results/czeng_sample_cs2en/features/words_100/train.target.existing.parquet",
            "seeds=1",
            "the annotator existing is not used on the target side: name it in the data set's `syntax`.",
        ),
        (
            "train",
            "systems=[depparse_l0,currey_heafield]",
            "currey_heafield on demo_de2en at scale paper: needs constituency on the source side, but the data set",
        ),
    ],
)
def test_mistakes_found_by_input_functions(empty, options, target, settings, sentence):
    settings = ["datasets=[demo_de2en]", settings]
    assert sentence in refused(empty, *options, target, settings=settings)


@pytest.mark.parametrize("name", ["config.yaml", "config.yml"])
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("datasets: []\nscale: [\n", ", line 3: not valid YAML ("),
        ("- scale: smoke\n", ": expected keys and values, found a list."),
        ("# nothing yet\n", " has no settings: write some, or delete it to use the repository's own file."),
    ],
)
def test_a_broken_config_yaml(empty, name, text, sentence):
    path = empty.folder / "config" / name
    path.parent.mkdir()
    path.write_text(text)
    assert refused(empty, "-n", "data").startswith(f"config/{name}{sentence}")


@pytest.mark.parametrize("subfolder", ["datasets", "corpora", "models", "recipes", "scales", "systems"])
def test_a_broken_file_only_affects_targets_that_need_it(empty, subfolder):
    path = empty.folder / f"config/{subfolder}/broken.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("description: [\n")
    fault = f"config/{subfolder}/broken.yaml, line 2: not valid YAML"
    for target in ("results/smoke/demo_en2de/depparse_l1.bleu", "downloads/multi30k/val.cs"):
        planned = empty.plan(target)
        assert planned.output.count(fault) == (subfolder == "systems"), "any file of systems may define the system"
    needing = {
        "datasets": "results/broken/corpus/train.parquet",
        "scales": "results/broken/demo_en2de/depparse_l1.bleu",
        "systems": "results/smoke/demo_en2de/mine.bleu",
    }
    if subfolder in needing:
        planned = empty.call("-n", needing[subfolder])
        assert planned.code == 1
        assert re.search(rf"^Error: .*{re.escape(fault)}", planned.output, re.MULTILINE), planned.output
    if subfolder == "datasets":
        assert fault in refused(empty, "-n", "downloads/mine/own.gz")


def test_a_misnamed_file_is_reported_and_does_not_affect_other_targets(empty):
    for name in (".#mine", "My-Set"):
        empty.write(f"datasets/{name}", {"extends": "demo_en2de"})
    fault = "Not read: config/datasets/My-Set.yaml: a name consists of small letters"
    planned = empty.plan("results/demo_en2de/corpus/train.parquet").output
    assert planned.count("Not read: ") == planned.count(fault) == 1
    assert fault in refused(empty, "-n", "results/My-Set/corpus/train.parquet")


def test_a_broken_configured_data_set_does_not_affect_other_targets(empty):
    path = empty.folder / "config/datasets/broken.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("description: [\n")
    settings = ["datasets=[broken]", "systems=[transformer_base]"]
    empty.plan("results/demo_en2de/corpus/train.parquet", settings=settings)
    assert "config/datasets/broken.yaml, line 2: not valid YAML" in refused(empty, "-n", "train", settings=settings)


def test_a_file_that_hides_the_repositorys_is_reported_once(empty, root):
    own = empty.folder / "config/datasets/demo_en2de.yaml"
    own.parent.mkdir(parents=True)
    own.write_text((root / "config/datasets/demo_en2de.yaml").read_text() + "# mine\n")
    finished = empty.run("results/demo_en2de/corpus/test.parquet")
    sentence = f"config/datasets/demo_en2de.yaml is used in place of {root}/config/datasets/demo_en2de.yaml."
    assert finished.output.splitlines().count(sentence) == 1, "jobs plan again without warnings"


def test_a_pattern_leaves_out_systems_without_their_annotation(empty):
    planned = empty.plan(settings=["scale=smoke", "datasets=[demo_de2en]", 'systems=["*"]'])
    lines = [line for line in planned.output.splitlines() if "left out" in line]
    assert lines == [line for line in dict.fromkeys(lines) if line.startswith("demo_de2en has no ")]
    (sentence,) = (line for line in lines if "constituency on the source side" in line)
    assert sentence.endswith(": currey_heafield_tag_attention, currey_heafield are left out.")
