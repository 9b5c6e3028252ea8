"""Translating test splits and parsing gold treebanks: the files written, and the batch size."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from factories import run_settings
from inference.tiny import RECURRENT, write_bundle, write_tokens
from pair_files import write_corpus

from nmtcore.config.components import DiagonalParseSettings, HeadSelectionSettings, TagAttentionSettings
from nmtcore.config.corpora import SIDES
from nmtcore.config.runs import RunSettings
from nmtcore.config.stages import ScoringSettings
from nmtcore.config.training import EvaluationSettings
from nmtcore.errors import UserError
from nmtcore.evaluation.metrics import score_translations
from nmtcore.evaluation.scores import score_tests
from nmtcore.experiment.inference import ModelOnSplit, parse_gold, translate_split
from nmtcore.features.examples import syntax_schema
from nmtcore.files import read_json, read_lines
from nmtcore.parquet import read_rows, write_rows

SENTENCES = [["the", "cat", "."], ["dog"], ["the", "dog"], ["a", "cat"]]


def translate(folder: Path, run: RunSettings) -> None:
    """Write files for `SENTENCES` as every test split, and translate the first three with random weights."""
    corpora = {split: write_corpus(folder / f"{split}.parquet", SENTENCES) for split in run.tests}
    for split, side in product(run.tests, SIDES):
        write_tokens(folder / f"features/{split}.{side}.parquet", SENTENCES[:3])
    write_bundle(folder / "model", run)
    for split, corpus in corpora.items():
        translate_split(model_on(folder, run, split), corpus=corpus, hypotheses=folder / "hypotheses" / split)


def model_on(folder: Path, run: RunSettings, split: str) -> ModelOnSplit:
    """Name the files of a run in a folder."""
    files = {"model": folder / "model", "features": folder / "features"}
    return ModelOnSplit(run=run, **files, split=split, device="cpu", threads=1)


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


def test_the_tags_of_translations_are_written_if_the_system_predicts_them(tmp_path: Path):
    """Tags that no loss has trained mean nothing."""
    for weight in (1.0, 0.0):
        folder = tmp_path / f"weight{weight}"
        tags = [{"id": i, "ccg": [2] * len(words)} for i, words in enumerate(SENTENCES[:3])]
        write_rows(folder / "features/test.target.easyccg.parquet", syntax_schema(["ccg_tags"]), tags)
        components = TagAttentionSettings(width=8, weight=weight)
        translate(folder, run_settings(components, features={"target": {"ccg_tags": "easyccg"}}))
        assert ("test/tags.parquet" in written_files(folder)) == (weight > 0)


def test_the_untrained_model_parses_treebanks_if_trees_are_induced(tmp_path: Path):
    """The tiny bundle has the weights of its seed 2, the untrained model those of the run's seed 1."""
    run = run_settings(HeadSelectionSettings(), **RECURRENT, gold=("gold_a",))
    write_tokens(tmp_path / "features/gold_a.source.parquet", SENTENCES)
    bundles = {seed: write_bundle(tmp_path / f"model{seed}", run, seed=seed) for seed in (1, 2)}
    parses = {}
    for seed, bundle in bundles.items():
        parse_gold(replace(model_on(tmp_path, run, "gold_a"), model=bundle), parses=tmp_path / f"gold{seed}")
        for name in ("parses.parquet", "untrained.parquet"):
            parses[seed, name] = list(read_rows(tmp_path / f"gold{seed}" / name))
    untrained = parses[1, "untrained.parquet"]
    assert untrained == parses[2, "untrained.parquet"] == parses[1, "parses.parquet"]
    assert untrained != parses[2, "parses.parquet"]
    assert [len(row["one_root"]) for row in untrained] == [len(words) for words in SENTENCES]


def test_a_model_of_another_data_set_is_refused(tmp_path: Path):
    write_bundle(tmp_path / "model", run_settings())
    measured = model_on(tmp_path, replace(run_settings(), dataset="other"), "test")
    with pytest.raises(UserError, match=r"/model was trained on the data set \w+, not on other"):
        measured.load()
