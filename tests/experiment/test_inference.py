"""Translating test splits and parsing gold treebanks: the files written, and the batch size."""

from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest
from factories import run_settings
from inference.tiny import RECURRENT, write_bundle, write_tokens
from pair_files import write_corpus

from nmtcore.config.components import DiagonalParseSettings, HeadSelectionSettings, TagAttentionSettings
from nmtcore.config.corpora import SIDES
from nmtcore.config.runs import RunSettings
from nmtcore.config.stages import ScoringSettings
from nmtcore.config.training import DecodingSettings, EvaluationSettings
from nmtcore.evaluation.metrics import score_translations
from nmtcore.evaluation.scores import score_tests
from nmtcore.experiment import inference, training
from nmtcore.experiment.inference import translate_split
from nmtcore.features.examples import syntax_schema
from nmtcore.files import read_json, read_lines
from nmtcore.inference.bundle import load_bundle
from nmtcore.model import trees
from nmtcore.parquet import read_rows, write_rows

SENTENCES = [["the", "cat", "."], ["dog"], ["the", "dog"], ["a", "cat"]]


def translate(folder: Path, run: RunSettings) -> None:
    """Write files for `SENTENCES` as every test split, and translate the first three with random weights."""
    corpora = {split: write_corpus(folder / f"{split}.parquet", SENTENCES) for split in run.tests}
    for split, side in product(run.tests, SIDES):
        write_tokens(folder / f"features/{split}.{side}.parquet", SENTENCES[:3])
    model = write_bundle(folder / "model", run)
    for split, corpus in corpora.items():
        folders = {"features": folder / "features", "hypotheses": folder / "hypotheses" / split}
        translate_split(run, split=split, model=model, **folders, corpus=corpus, device="cpu", threads=1)


def validate(folder: Path, run: RunSettings) -> dict:
    """Score the model's translations of dev as a training does."""
    bundle = load_bundle(folder / "model")
    files = {"segmentation": folder / "segmentation", "features": folder / "features"}
    job = SimpleNamespace(**files, dev_corpus=folder / "dev.parquet")
    return training._validator(run, bundle.vocabularies, bundle.transforms, job)(bundle.model)


def written_files(folder: Path) -> list[str]:
    """List the files of the translations of all splits."""
    return sorted(str(path.relative_to(folder / "hypotheses")) for path in (folder / "hypotheses").glob("*/*"))


@pytest.mark.parametrize("text", ["detokenised", "tokens"])
def test_translations_are_written_next_to_their_references(tmp_path: Path, text):
    run = run_settings(DiagonalParseSettings(layer=0), evaluation=EvaluationSettings(text=text))
    translate(tmp_path, run)
    files = ["parses.parquet", "references.txt", "translations.txt"]
    assert written_files(tmp_path) == [f"test/{name}" for name in files]
    references = read_lines(tmp_path / "hypotheses/test/references.txt")
    assert references == [" ".join(words) for words in SENTENCES[:3]]
    assert [row["id"] for row in read_rows(tmp_path / "hypotheses/test/parses.parquet")] == [0, 1, 2]

    files = {"corpora": {"test": tmp_path / "test.parquet"}, "trees": {}, "scores": tmp_path / "scores.json"}
    files["counts"] = tmp_path / "counts"
    score_tests(ScoringSettings.of_tests(run), hypotheses={"test": tmp_path / "hypotheses/test"}, **files)
    translations = read_lines(tmp_path / "hypotheses/test/translations.txt")
    scores = read_json(tmp_path / "scores.json")
    assert scores["bleu"] == {"test": score_translations(translations, references, EvaluationSettings(text=text))}
    assert scores["uas"]["test"]["argmax"]["sentences"] == 3


def test_validation_counts_a_translation_as_empty_if_the_trees_of_its_source_are_too_large(
    tmp_path: Path, monkeypatch, capsys
):
    parts = {"evaluation": EvaluationSettings(text="tokens"), "decoding": DecodingSettings(beam=1), "tests": ("dev",)}
    run = run_settings(HeadSelectionSettings(), **RECURRENT, **parts)
    translate(tmp_path, run)
    texts, references = (read_lines(tmp_path / f"hypotheses/dev/{name}.txt") for name in ("translations", "references"))

    def score(lines):
        return score_translations(lines, references, EvaluationSettings(text="tokens"))

    assert validate(tmp_path, run)["bleu"] == score(texts)["bleu"]
    monkeypatch.setattr(trees, "LARGEST_INVERSE", 0.0)  # every sentence is eliminated
    monkeypatch.setattr(trees, "LONGEST_ELIMINATED", 2)
    assert validate(tmp_path, run)["bleu"] == score(["", *texts[1:]])["bleu"]
    says = "A validation translates no sentence of more than 2 subwords: the memory is too small for the trees of the"
    assert capsys.readouterr().out.startswith(says)


def test_the_tags_of_translations_are_written_if_the_system_predicts_them(tmp_path: Path):
    settings = {"features": {"target": {"ccg_tags": "easyccg"}}, "tests": ("test", "dev")}
    folders = {weight: tmp_path / f"weight{weight}" for weight in (1.0, 0.0)}
    for weight, folder in folders.items():
        tags = [{"id": i, "ccg": [2] * len(words)} for i, words in enumerate(SENTENCES[:3])]
        for split in settings["tests"]:
            write_rows(folder / f"features/{split}.target.easyccg.parquet", syntax_schema(["ccg_tags"]), tags)
        translate(folder, run_settings(TagAttentionSettings(width=8, weight=weight), **settings))
    for split in settings["tests"]:
        rows = list(read_rows(folders[1.0] / f"hypotheses/{split}/tags.parquet"))
        assert [row["id"] for row in rows] == [0, 1, 2]
        texts = read_lines(folders[1.0] / f"hypotheses/{split}/translations.txt")
        assert [" ".join(row["words"]) for row in rows] == texts
        assert all(len(row["words"]) == len(row["tags"]) for row in rows)
    assert not any("tags" in name for name in written_files(folders[0.0])), "these tags mean nothing"


def test_the_untrained_model_parses_treebanks_if_trees_are_induced(tmp_path: Path):
    """The tiny bundle has the weights of its seed 2, the untrained model those of the run's seed 1."""
    run = run_settings(HeadSelectionSettings(), **RECURRENT, gold=("gold_a",))
    write_tokens(tmp_path / "features/gold_a.source.parquet", SENTENCES)
    bundles = {seed: write_bundle(tmp_path / f"model{seed}", run, seed=seed) for seed in (1, 2)}
    parses = {}
    for seed, bundle in bundles.items():
        folders = {"model": bundle, "features": tmp_path / "features", "parses": tmp_path / f"gold{seed}"}
        inference.parse_gold(run, split="gold_a", **folders, device="cpu", threads=1)
        for name in ("parses.parquet", "untrained.parquet"):
            parses[seed, name] = list(read_rows(tmp_path / f"gold{seed}" / name))
    untrained = parses[1, "untrained.parquet"]
    assert untrained == parses[2, "untrained.parquet"] == parses[1, "parses.parquet"]
    assert untrained != parses[2, "parses.parquet"]
    assert [len(row["one_root"]) for row in untrained] == [len(words) for words in SENTENCES]
