"""Models trained on truecased words: their input is truecased, and sentence starts of the output are capitalised."""

from pathlib import Path

import pytest
from factories import run_settings
from inference.tiny import PIECES, write_segmentation
from named_components import by_name
from pair_files import write_corpus

from nmtcore.config.components.settings import HeadSelectionSettings
from nmtcore.config.datasets import EvaluationSettings
from nmtcore.config.recurrent import RecurrentSettings
from nmtcore.config.segmentation import WordsSettings
from nmtcore.corpus.pairs import PAIR_SCHEMA
from nmtcore.errors import UserError
from nmtcore.evaluation.references import read_references
from nmtcore.experiment.output import TextOutput
from nmtcore.features.transforms.chain import Transforms
from nmtcore.inference.bundle import load_bundle, save_bundle
from nmtcore.inference.gates import read_gates
from nmtcore.inference.scoring import TextFile
from nmtcore.inference.search import Hypothesis
from nmtcore.layout import file_name
from nmtcore.model.build import build_model
from nmtcore.parquet import write_rows
from nmtcore.segmentation.learn import learn_segmentation
from nmtcore.segmentation.segmenter import Segmenter
from nmtcore.segmentation.vocabulary import Vocabulary

SIDES = ("source", "target")
MODELS = {"source": "the (9/9)\nDOG (2/2)\n", "target": "cat (3/3)\n"}


def truecased_run(tokeniser: str = "spaces", **values):
    return run_settings(**values, words=dict.fromkeys(SIDES, WordsSettings(kind=tokeniser, truecase=True)))


def write_models(folder: Path) -> dict[str, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = {side: folder / file_name("truecaser", side=side) for side in SIDES}
    for side, path in paths.items():
        path.write_text(MODELS[side])
    return paths


def test_truecasing_models_are_copied_from_the_corpus_to_the_bundle(tmp_path):
    corpus = write_corpus(tmp_path / "train.parquet", [["the", "cat", "."], ["the", "dog"]])
    run = truecased_run()
    models = write_models(tmp_path / "corpus")
    segmentation = tmp_path / "segmentation"
    learn_segmentation(corpus, run.segmentation, segmentation, truecasers=models)
    assert all((segmentation / file_name("truecaser", side=side)).read_text() == MODELS[side] for side in SIDES)

    size = len((segmentation / "source.vocab").read_text().splitlines())
    model = build_model(run, source_size=size, target_size=size)
    save_bundle(tmp_path / "model", run=run, model=model, segmentation=segmentation)
    bundle = load_bundle(tmp_path / "model")
    assert all((tmp_path / "model" / file_name("truecaser", side=side)).read_text() == MODELS[side] for side in SIDES)
    expected = list(bundle.translate(["the cat", "the DOG"]))
    assert list(bundle.translate(["The cat", "THE dog"])) == expected
    assert all(text == text[:1].upper() + text[1:] for text in expected)


def test_a_segmentation_without_truecasing_models_is_an_error(tmp_path):
    run, size = truecased_run(), len(PIECES) + 5
    model = build_model(run, source_size=size, target_size=size)
    with pytest.raises(UserError, match=r"truecase\.source\.txt does not exist"):
        save_bundle(
            tmp_path / "model", run=run, model=model, segmentation=write_segmentation(tmp_path / "segmentation")
        )


def rows(path: Path) -> Path:
    words = {"source_words": ["a"], "target_words": ["the", "cat", "sees", "cat", "."]}
    write_rows(path, PAIR_SCHEMA, [{"id": 0, "source": "a", "target": "The Cat sees CAT.", **words, "origin": "x:1"}])
    return path


@pytest.mark.parametrize(
    ("tokeniser", "text", "hypothesis", "reference"),
    [
        ("moses", "detokenised", "The cat.", "The Cat sees CAT."),
        ("moses", "tokens", "The cat .", "The Cat sees CAT ."),
        ("given", "tokens", "The cat .", "The cat sees cat ."),
    ],
)
def test_scored_texts_have_their_capitals(tokeniser, text, hypothesis, reference, tmp_path):
    run = truecased_run(tokeniser, evaluation=EvaluationSettings(text=text))
    segmentation = write_segmentation(tmp_path / "segmentation")
    vocabulary = Vocabulary.load(segmentation / "target.vocab")
    output = TextOutput(run, vocabulary, Segmenter.load(segmentation, run.segmentation, "target"), Transforms())
    tokens = vocabulary.ids(["the", "ca@@", "t", "."])
    assert output.text(Hypothesis(tokens=tokens, score=0.0, log_probability=0.0)) == hypothesis
    assert read_references(run, rows(tmp_path / "test.parquet"), 1) == [reference]


def test_given_translations_are_truecased_for_gates(tmp_path):
    run = truecased_run(base="recurrent", model=RecurrentSettings(width=8), components=by_name(HeadSelectionSettings()))
    segmentation, size = write_segmentation(tmp_path / "segmentation"), len(PIECES) + 5
    write_models(segmentation)
    model = build_model(run, source_size=size, target_size=size)
    save_bundle(tmp_path / "model", run=run, model=model, segmentation=segmentation)
    source, target = TextFile(["The dog", "the DOG"], "en"), TextFile(["Cat", "cat"], "de")
    first, second = read_gates(load_bundle(tmp_path / "model"), source, target)
    assert first.pieces == second.pieces == ["cat"]
