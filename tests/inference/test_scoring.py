"""Log-probabilities of given translations: against loops over tokens, in any batch, of texts, and of contrasts."""

import math

import numpy as np
import pytest
import torch
from factories import examples_of, run_settings, side
from inference import test_raw
from inference.tiny import RECURRENT, random_examples, random_model, write_bundle
from oracles import Recurrent, TransformerOracle, softmax

from nmtcore.config.components import TagAttentionSettings
from nmtcore.config.features import InterleaveSettings, ParsingTaskSettings
from nmtcore.corpus.contrasts import ContrastRows
from nmtcore.errors import UserError
from nmtcore.features.examples import Examples
from nmtcore.features.transforms.parsing_task import TRANSLATE
from nmtcore.inference import scoring
from nmtcore.inference.bundle import load_bundle
from nmtcore.inference.scoring import (
    TargetScore,
    score_contrasts,
    score_targets,
    score_text_pairs,
)
from nmtcore.inference.text import read_text
from nmtcore.segmentation.vocabulary import BOS, EOS, UNK, tag_entry


def draw_pairs(count=12):
    """Draw pairs of 0 to 9 subwords, some of them unknown."""
    sources, targets = random_examples(count, seed=1), random_examples(count, seed=2)
    ids = [np.where(row == 7, UNK, row) for row in targets.source.ids]
    return Examples(id=sources.id, source=sources.source, target=side(ids))


def oracle_sum(logits_TV, target):
    """Add up the log-probabilities of single tokens."""
    return sum(math.log(softmax(logits_V)[token]) for logits_V, token in zip(logits_TV, [*target, EOS], strict=True))


@pytest.mark.parametrize(
    ("values", "oracle"), [({}, TransformerOracle), (RECURRENT, Recurrent)], ids=["transformer", "recurrent"]
)
def test_sums_equal_loops_over_tokens_in_any_batch(values, oracle):
    model, examples = random_model(**values), draw_pairs()
    scores = score_targets(model, examples)
    each_alone = [score_targets(model, examples.take(np.array([row])))[0] for row in range(len(examples))]
    for row, (score, alone) in enumerate(zip(scores, each_alone, strict=True)):
        source, target = examples.source.ids[row].tolist(), examples.target.ids[row].tolist()
        expected = oracle_sum(oracle(model).logits([*source, EOS], [BOS, *target]), target)
        assert score.log_probability == pytest.approx(expected, rel=1e-5)
        assert alone.log_probability == pytest.approx(score.log_probability, abs=1e-9)
        assert (score.tokens, score.unknown) == (len(target) + 1, target.count(UNK))
    assert any(score.unknown for score in scores)
    assert any(score.tokens == 1 for score in scores)


def test_a_model_that_diverged_is_refused():
    model = random_model()
    with torch.no_grad():
        model.target_embedding.weight[3] = math.nan
    with pytest.raises(UserError, match=r"^The model's probabilities are NaN or 0: its training has diverged"):
        score_targets(model, draw_pairs())


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    return load_bundle(write_bundle(tmp_path_factory.mktemp("logprob") / "model"))


def read(bundle, source, target):
    return list(score_text_pairs(bundle, read_text(source, where="text.en"), read_text(target, where="text.de")))


def text_score(bundle, source, target):
    """Score a pair of texts in a batch of its own, from ids."""
    segmenters = (bundle.segmenters["source"], bundle.segmenters["target"])
    pieces = [own.segment(text.split()).pieces for own, text in zip(segmenters, (source, target), strict=True)]
    source_ids, target_ids = bundle.vocabularies["source"].ids(pieces[0]), bundle.vocabularies["target"].ids(pieces[1])
    return score_targets(bundle.model, examples_of(side([source_ids]), side([target_ids])))[0]


def test_lines_are_scored_in_order(bundle, monkeypatch):
    monkeypatch.setattr(scoring, "LINES_PER_CHUNK", 2)
    source = ["the cat\n", "\n", "the dog the do\n", "cat\n", " \t\n", "cat"]
    target = [b"dog cath \xe6\xbc\xa2\n", b"the\n", b"a\n", b"  \n", b"\n", b"the cat\n"]
    scores = read(bundle, source, target)
    assert [score is None for score in scores] == [False, True, False, False, True, False]
    for line, score in enumerate(scores):
        if score is not None:
            expected = text_score(bundle, source[line], target[line].decode())
            assert score.log_probability == pytest.approx(expected.log_probability, rel=1e-5)
            assert score[1:] == expected[1:]
    assert (scores[0].unknown, scores[3].tokens) == (1, 1)
    assert read(bundle, [], []) == []


def run_with_tags(name):
    return run_settings(
        transforms={"interleave": InterleaveSettings(side=name, tags="dg_a_tags")},
        features={name: {"dg_a_tags": "parser"}},
        annotators={"parser": {"tool": "existing"}},
    )


def test_a_system_that_generates_tags_is_refused(tmp_path):
    bundle = load_bundle(write_bundle(tmp_path / "model", run_with_tags("target")))
    sentence = r"^The system tiny generates tags among the words, so the probability of a translation is a sum over"
    with pytest.raises(UserError, match=sentence):
        read(bundle, ["the"], ["the"])


@pytest.mark.parametrize(
    ("run", "source"),
    [
        (run_with_tags("source"), [tag_entry("x|root"), "the", tag_entry("x|x"), "cat"]),
        (
            run_settings(transforms={"parsing_task": ParsingTaskSettings()}),
            [tag_entry(TRANSLATE), "the", "cat", tag_entry(TRANSLATE)],
        ),
        # Tags that a component predicts need none of the target: their distribution comes from the decoder's states.
        (run_settings(TagAttentionSettings(), features={"target": {"ccg_tags": "easyccg"}}), ["the", "cat"]),
    ],
)
def test_tags_of_sources_and_of_tasks_are_added(tmp_path, monkeypatch, run, source):
    monkeypatch.setattr("nmtcore.inference.text.open_annotator", lambda settings, task: test_raw.Chain())
    bundle = load_bundle(write_bundle(tmp_path / "model", run, label_names=["x|root", "x|x"]))
    (score,) = read(bundle, ["the cat"], ["a dog"])
    ids = bundle.vocabularies["source"].ids(source)
    assert UNK not in ids
    pair = examples_of(side([ids]), side([bundle.vocabularies["target"].ids(["a", "dog"])]))
    assert score == pytest.approx(score_targets(bundle.model, pair)[0], rel=1e-5)


def test_the_same_subwords_are_a_tie_in_any_batch(monkeypatch):
    examples = examples_of(side([[7, 8]] * 3), side([[5, 1, 6], [5, 1, 6], [5, 6, 1]]))
    scores = [TargetScore(-1.0 + noise, 4, 1) for noise in (0.0, 1e-7, -1e-7)]
    monkeypatch.setattr(scoring, "score_targets", lambda model, examples: scores)
    rows = [ContrastRows(0, 1, "p", None), ContrastRows(0, 2, "p", None)]
    tie, other = score_contrasts(random_model(), examples, rows)
    assert (tie.right == tie.wrong, other.right == other.wrong) == (True, False)


def test_long_sources_have_no_score_and_long_translations_are_refused(bundle, monkeypatch, capsys):
    for module in ("features.sources", "inference.text", "inference.scoring"):
        monkeypatch.setattr(f"nmtcore.{module}.MAX_SUBWORDS", 3)
    assert [score is None for score in read(bundle, ["the the the the", "the"], ["the", "the"])] == [True, False]
    assert capsys.readouterr().err == "text.en, line 1: left out, since it has more than 3 subwords.\n"
    with pytest.raises(UserError, match=r"^text\.de, line 1: the translation has more than 3 subwords: shorten it\.$"):
        read(bundle, ["the", "the"], ["the the the the", "the"])
