"""A small system from text to its score, as README describes it, and what further calls of Snakemake then do.

The first call is a process of its own, and so are its jobs. No other test of the first level calls Snakemake.
"""

import json

import pytest
from workflow.calling import BRIEF, WORDS, Workplace, little, make_workplace

SCORE = "out/brief/mine/transformer_base.bleu"
SETTINGS = [
    "scale=brief",
    "seeds=[2]",
    "datasets=[mine]",
    "systems=transformer_base",
    "paths={results: out, downloads: fetched, manual: by_hand}",
    "models=[parsers]",
    "http_hosts=[localhost]",
    "gpus=1",
]
"""Every other key of config.yaml than those that all calls have; the folder `parsers` does not exist."""
INTERNALS = ("Traceback", 'File "', "in file", ".smk", "WorkflowError", "Exception")
"""Text that reveals internals of the workflow."""


def write_text(workplace: Workplace) -> None:
    """Write training text as the user's own files, and text for dev and test to be fetched from the mirror."""
    (workplace.folder / "my").mkdir()
    for split, count, folder in (("train", 60, workplace.folder / "my"), ("dev", 8, workplace.mirror)):
        for side, words in (("en", list(WORDS)), ("de", list(WORDS.values()))):
            lines = [" ".join(words[(i * i + j) % len(words)] for j in range(3 + i % 4)) for i in range(count)]
            text = "".join(f"{split} {i} {line}\n" for i, line in enumerate(lines))
            (folder / f"{split}.{side}").write_text(text, encoding="utf-8")
    corpora = little()["corpora"]
    files = {"source": "../my/train.en", "target": "../my/train.de"}
    corpora = {"train": {"format": "plain", "files": files}, "dev": corpora["dev"]}
    splits = {"train": "train", "dev": "dev", "test": "dev"}
    segmentation = {"kind": "bpe", "joint": True, "size": 20}
    workplace.write("datasets/mine", little(corpora=corpora, splits=splits, segmentation=segmentation))


@pytest.fixture(scope="module")
def scored(root, tmp_path_factory) -> tuple[Workplace, str]:
    """A working directory in which a system has been trained and scored, and the output of the call."""
    workplace = make_workplace(tmp_path_factory.mktemp("first"), root / "Snakefile")
    write_text(workplace)
    workplace.write("scales/brief", BRIEF)
    table = {"kind": "scores", "rows": ["transformer_base", "nmt"], "columns": ["mine/test/bleu"]}
    workplace.write("tables/own", {"tables": {"t": table}})
    return workplace, workplace.run(settings=SETTINGS, forked=False).output


def test_a_system_is_scored_with_the_settings_of_the_command_line(scored):
    import sacrebleu

    workplace, output = scored
    summary = json.loads((workplace.folder / SCORE).read_text())
    run = workplace.folder / "out/brief/mine/transformer_base/seed2"
    scores = json.loads((run / "scores.json").read_text())["bleu"]
    assert summary["seeds"] == [2]
    assert summary["splits"]["test"]["bleu"]["values"] == [scores["test"]["bleu"]]
    hypotheses = (run / "hypotheses/test/translations.txt").read_text(encoding="utf-8").splitlines()
    references = (workplace.mirror / "dev.de").read_text(encoding="utf-8").splitlines()
    assert scores["test"]["bleu"] == pytest.approx(sacrebleu.corpus_bleu(hypotheses, [references]).score, abs=1e-9)
    test = scores["test"]
    shown = f"BLEU {test['bleu']:.1f}, length {test['length_ratio']:.2f}, chrF {test['chrf']:.1f}"
    # The scores of the run are printed first, then those over all seeds.
    assert [line.strip() for line in output.splitlines() if "BLEU" in line] == [
        f"{run.relative_to(workplace.folder)} test: {shown} (8 sentences)",
        f"{SCORE} test: {shown} (seed 2)",
    ]
    manifest = json.loads((run / "manifest.json").read_text())
    assert (manifest["state"], manifest["data"]["splits"]["train"]["lines"]) == ("finished", 60)
    assert output.splitlines().count("models: the folder parsers does not exist.") == 1


def test_own_files_are_not_copied_and_all_folders_are_those_of_the_settings(scored):
    workplace, output = scored
    assert {path.name for path in (workplace.folder / "fetched/little").iterdir()} >= {"dev.en", "dev.de"}
    assert "train.en" not in output.partition("To be fetched")[2].partition("\n\n")[0]
    assert not (workplace.folder / "results").exists()
    assert not (workplace.folder / "downloads").exists()
    assert workplace.partial_files() == []


def test_finished_results_are_not_computed_again(scored):
    workplace, _ = scored
    workplace.edit("datasets/mine", description="Some sentences, all of them small")
    assert "Nothing to be done" in workplace.plan(settings=SETTINGS).output
    assert "Nothing to be done" in workplace.run(settings=SETTINGS).output


def test_deleted_scores_are_computed_from_existing_translations(scored):
    workplace, _ = scored
    path = workplace.folder / "out/brief/mine/transformer_base/seed2/scores.json"
    before = path.read_bytes()
    path.unlink()
    finished = workplace.run(str(path.relative_to(workplace.folder)), SCORE, settings=SETTINGS)
    assert finished.rules == {"score_tests", "summarise_seeds"}
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "settings", "sentence"),
    [
        (["-n", "out/brief/mine/transformer_bas.bleu"], [], "unknown system 'transformer_bas'. Did you mean transf"),
        (["--cores", "1"], ["systems=currey_heafield"], "needs constituency on the source side, but the data set"),
        (["--cores", "1", "out/brief/mine/nmt.bleu"], ["device=cuda"], "device: cuda needs an NVIDIA GPU, and none is"),
        (
            ["--touch", "out/brief/mine/nmt.bleu"],
            [],
            "--touch makes no files, and none of those that it would",
        ),
        (["-n", "data"], ["sclae=smoke"], "--config: unknown key 'sclae'. Did you mean scale?"),
    ],
)
def test_a_mistake_is_one_sentence_without_internals(scored, arguments, settings, sentence, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    workplace, _ = scored
    finished = workplace.call(*arguments, settings=[*SETTINGS, *settings])
    assert finished.code == 1
    assert not [word for word in INTERNALS if word in finished.output], finished.output
    *_, line = finished.output.splitlines()
    assert line.startswith("Error: ")
    assert sentence in line
    assert finished.output.count("Error") == 1
    assert not list((workplace.folder / ".snakemake/locks").glob("*"))
