"""Analyses of sentences, against the commands that compute each part by itself."""

from itertools import product

import numpy as np
import pyarrow.parquet as pq
import pytest
from factories import run_settings
from inference.test_parse import GOLD
from inference.tiny import RECURRENT, examples_of_text, heads_of_block, parse_text, write_bundle

from nmtcore.config.components import (
    DepParseSettings,
    DiagonalParseSettings,
    HeadSelectionSettings,
    PascalSettings,
    SisaSettings,
    TagAttentionSettings,
)
from nmtcore.config.features import InterleaveSettings
from nmtcore.config.training import EvaluationSettings
from nmtcore.errors import UserError
from nmtcore.inference.analyse import analyse_sentences, translate_and_write
from nmtcore.inference.attention import load_observed_bundle
from nmtcore.inference.batches import with_targets
from nmtcore.inference.parse import make_parser
from nmtcore.inference.schemas import TREE_METHODS, is_of_decoder, tag_row
from nmtcore.inference.scoring import gate_norms
from nmtcore.inference.text import read_text, read_treebank

LINES = ["the cat", "", "the dog the do", "cat", "  ", "a b c, dog the the the"]
NUMBERS = [1, 3, 4, 6]
CCG = {"target": {"ccg_tags": "easyccg"}}
RUNS = {
    "base": run_settings(),
    "depparse": run_settings(DepParseSettings(layer=1), evaluation=EvaluationSettings(roots="many")),
    "depparse without a symbol": run_settings(DepParseSettings(layer=1, root="itself")),
    "sisa": run_settings(SisaSettings(layer=1)),
    "diagonalparse": run_settings(DiagonalParseSettings(layer=0)),
    "sa_nmt": run_settings(HeadSelectionSettings(), **RECURRENT),
    "sa_nmt_separate": run_settings(HeadSelectionSettings(annotations="separate"), **RECURRENT),
    "nmt": run_settings(**RECURRENT),
    "tag_attention": run_settings(TagAttentionSettings(width=8), features=CCG),
    "interleaved": run_settings(
        transforms={"interleave": InterleaveSettings(side="target", tags="ccg_tags")}, features=CCG
    ),
}


@pytest.fixture(scope="module", params=RUNS)
def bundle(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("analyse") / "model"
    return load_observed_bundle(write_bundle(folder, RUNS[request.param], label_names=["NP", "N"]))


def analysed(bundle, lines=LINES, limit=99):
    return analyse_sentences(bundle, (own for own in read_text(lines) if own.text.strip()), limit=limit)


def test_every_part_is_that_of_its_own_command(bundle, tmp_path):
    model = analysed(bundle)
    assert [sentence.number for sentence in model.sentences] == NUMBERS
    assert [sentence.text for sentence in model.sentences] == [LINES[number - 1] for number in NUMBERS]
    translations = list(bundle.translate(LINES))
    assert [sentence.translation for sentence in model.sentences] == [translations[number - 1] for number in NUMBERS]

    list(translate_and_write(bundle, LINES, attention=tmp_path / "maps.parquet"))
    rows = pq.read_table(tmp_path / "maps.parquet").to_pylist()
    for sentence in model.sentences:
        own = [row for row in rows if row["id"] == sentence.number - 1]
        assert [head[:3] for head in model.heads] == [(row["attention"], row["layer"], row["head"]) for row in own]
        for head, weights_QK, row in zip(model.heads, sentence.weights, own, strict=True):
            assert row["keys"] == sentence.source_tokens
            assert row["queries"] == (sentence.target_tokens if is_of_decoder(head) else sentence.source_tokens)
            np.testing.assert_allclose(weights_QK, 100 * np.array(row["weights"]), atol=0.51)


def test_trees_are_those_of_the_parser(bundle):
    model = analysed(bundle)
    roots = TREE_METHODS[bundle.run.evaluation.roots]
    parser = bundle.model.parser
    if parser:
        blocks = parse_text(bundle, LINES, method=roots if parser.points_to_root else "argmax")
        assert [sentence.parse for sentence in model.sentences] == [heads_of_block(blocks[n - 1]) for n in NUMBERS]
    else:
        assert {sentence.parse for sentence in model.sentences} == {None}
    layers, heads = bundle.model.encoder_attention
    for number, (layer, head) in enumerate(product(range(layers), range(heads))):
        blocks = parse_text(bundle, LINES, method=roots, parser=make_parser(bundle, roots, attention=(layer, head)))
        trees = [sentence.head_trees[number] for sentence in model.sentences]
        assert trees == [heads_of_block(blocks[n - 1]) for n in NUMBERS]
        if model.heads[number].component and parser.points_to_root:  # also in sisa, whose roots point to themselves
            assert trees == [sentence.parse for sentence in model.sentences]
    assert {len(sentence.head_trees) for sentence in model.sentences} == {layers * heads}


def test_tags_and_gates_are_those_of_the_translation(bundle, tmp_path):
    sentences = analysed(bundle).sentences
    if bundle.run.predicted_tags is None:
        assert {sentence.tags for sentence in sentences} == {None}
    else:
        list(translate_and_write(bundle, LINES, tags=tmp_path / "tags.parquet"))
        rows = pq.read_table(tmp_path / "tags.parquet").to_pylist()
        for sentence in sentences:
            own, row = tag_row(sentence.number - 1, sentence.tags), rows[sentence.number - 1]
            assert own.pop("probabilities") == pytest.approx(row.pop("probabilities"), abs=1e-5)
            assert own == row
    if not bundle.run.has_gates:
        assert {sentence.gates for sentence in sentences} == {None}
        return
    for sentence in sentences:
        assert sentence.gates.pieces == sentence.target_tokens[:-1]
        ids = [bundle.vocabularies["target"].entries.index(piece) for piece in sentence.gates.pieces]
        alone = with_targets(examples_of_text(bundle, [sentence.text]), [ids])
        np.testing.assert_allclose(sentence.gates.norms, gate_norms(bundle.model, alone)[0][:-1], rtol=1e-4)


@pytest.fixture
def gold(tmp_path):
    (tmp_path / "gold.conllu").write_text(GOLD)
    return tmp_path / "gold.conllu"


EXISTING = {"own": {"tool": "existing"}}


def test_a_model_that_reads_trees_of_its_corpus_reads_those_of_the_treebank(tmp_path, gold):
    run = run_settings(PascalSettings(heads=1), features={"source": {"trees": "own"}}, annotators=EXISTING)
    bundle = load_observed_bundle(write_bundle(tmp_path / "model", run, label_names=["det", "nmod", "root"]))
    first, second = analyse_sentences(bundle, read_treebank(gold), limit=9).sentences
    assert (first.number, first.text, first.words) == (1, "the catdog", ["the", "cat", "dog"])
    assert list(first.gold.labels) == ["det", "nmod", "root"]
    assert (first.gold.heads, first.gold_is_read, first.annotations) == ([3, 3, 0], True, {})
    assert (second.gold.heads, second.gold_is_read, second.annotations) == ([0, 1], True, {})
    with pytest.raises(UserError, match=r"which new text lacks\. Name a parser.*show also reads .* --treebank\.\)$"):
        analysed(bundle, ["the cat dog"])
