"""Trees induced from scores, against enumeration of all trees."""

import itertools

import numpy as np
import pyarrow.parquet as pq
import pytest
from factories import run_settings
from inference.tiny import write_bundle

from nmtcore.config.components.settings import DepParseSettings, HeadSelectionSettings, SisaSettings, TreeHeadSettings
from nmtcore.config.recurrent import RecurrentSettings
from nmtcore.config.transforms import ParsingTaskSettings
from nmtcore.errors import UserError
from nmtcore.inference import attention
from nmtcore.inference.attention import load_observed_bundle, write_attention
from nmtcore.inference.bundle import load_bundle
from nmtcore.inference.parse import attention_parser, parse_of, parse_with_all_heads
from nmtcore.inference.parse_to_conllu import parse_text
from nmtcore.inference.schemas import PARSE_METHODS
from nmtcore.model.batch import with_root_scores
from nmtcore.syntax.annotation import tree_fault


def best_tree(scores):
    """Find the best of all trees with one root; a word's score as the root is on the diagonal."""
    n, best = len(scores), (-np.inf, ())
    for tree in itertools.product(range(n + 1), repeat=n):
        if tree_fault(tree) is None and tree.count(0) == 1:
            total = 0.0
            for word, head in enumerate(tree):
                if head == 0:
                    total += scores[word, word]
                else:
                    total += scores[word, head - 1]
            best = max(best, (total, tree))
    return best[1]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5])
def test_the_induced_tree_is_the_best_with_one_root(n):
    random = np.random.default_rng(n)
    for _ in range(20):
        scores = random.normal(size=(n, n))
        assert tuple(parse_of(with_root_scores(scores), to_root=True).one_root) == best_tree(scores)


@pytest.mark.parametrize(
    ("components", "advice"),
    [
        ([HeadSelectionSettings()], "Leave --attention out: it parses by itself."),
        ([], "Use a model of another system, for example sa_nmt_shared, which parses without --attention."),
    ],
)
def test_the_encoder_of_a_recurrent_model_has_no_heads(tmp_path, components, advice):
    run = run_settings(*components, base="recurrent", model=RecurrentSettings(width=16))
    bundle = load_observed_bundle(write_bundle(tmp_path / "model", run))
    with pytest.raises(UserError) as caught:
        attention_parser(bundle, layer=0, head=0)
    assert str(caught.value) == f"The system tiny is recurrent: its encoder has no attention heads. {advice}"


def test_a_recurrent_model_that_does_not_parse_has_no_other_heads_to_parse_with(tmp_path):
    run = run_settings(base="recurrent", model=RecurrentSettings(width=16))
    bundle = load_bundle(write_bundle(tmp_path / "model", run))
    with pytest.raises(UserError, match=r"none of its heads .* of another system, for example depparse_l1\.$"):
        list(parse_text(bundle, ["the cat"], method="argmax"))


LINES = ["the cat dog the cab.", "dog", "", "abcdegh the the", "the cat"]


@pytest.mark.parametrize("cells", [attention.MAX_CELLS, 1])
@pytest.mark.parametrize("components", [[], [DepParseSettings(layer=1)]], ids=["plain", "prefix"])
@pytest.mark.parametrize("transforms", [{}, {"parsing_task": ParsingTaskSettings()}], ids=["plain", "wrapped"])
def test_trees_of_a_head_match_its_exported_weights(tmp_path, monkeypatch, components, transforms, cells):
    """Weights are summed word by word in loops; tags around the text, `<ROOT>` and `</s>` are ignored."""
    monkeypatch.setattr(attention, "MAX_CELLS", cells)
    bundle = load_observed_bundle(write_bundle(tmp_path / "model", run_settings(*components, transforms=transforms)))
    write_attention(tmp_path / "maps.parquet", bundle, LINES)
    maps = {(row["id"], row["layer"], row["head"]): row for row in pq.read_table(tmp_path / "maps.parquet").to_pylist()}
    parser = attention_parser(bundle, layer=1, head=0)
    for method in ("argmax", "one_root"):
        blocks = list(parse_text(bundle, LINES, method=method, parser=parser))
        for number, (line, block) in enumerate(zip(LINES, blocks, strict=True)):
            words = line.split()
            heads = [int(row.split("\t")[6]) for row in block.splitlines() if row and not row.startswith("#")]
            if not words:
                assert heads == []
                continue
            row, scores = maps[number, 1, 0], np.zeros((len(words), len(words)))
            assert set(row["key_words"]) == {-1, *range(len(words))}
            for query, a in enumerate(row["key_words"]):
                for key, b in enumerate(row["key_words"]):
                    if a >= 0 and b >= 0:
                        scores[a, b] += row["weights"][query][key]
            if method == "argmax":
                assert heads == [0 if b == a else b + 1 for a, b in enumerate(scores.argmax(axis=1).tolist())]
            else:
                assert tuple(heads) == best_tree(scores)


@pytest.mark.parametrize("method", PARSE_METHODS)
@pytest.mark.parametrize("component", [DepParseSettings(layer=1, head=0), SisaSettings(layer=1), TreeHeadSettings()])
def test_the_head_that_parses_gives_the_parses_of_the_model(tmp_path, component, method):
    bundle = load_observed_bundle(write_bundle(tmp_path / "model", run_settings(component)))
    parser = attention_parser(bundle, layer=component.layer, head=component.head % 2)
    assert list(parse_text(bundle, LINES, method=method, parser=parser)) == list(
        parse_text(bundle, LINES, method=method)
    )


@pytest.mark.parametrize("cells", [attention.MAX_CELLS, 1])
@pytest.mark.parametrize("method", ["one_root", "many_roots"])
@pytest.mark.parametrize(
    ("components", "transforms"),
    [([DepParseSettings(layer=1)], {}), ([], {"parsing_task": ParsingTaskSettings()})],
    ids=["prefix", "wrapped"],
)
def test_all_heads_together_parse_like_each_head_alone(tmp_path, monkeypatch, components, transforms, method, cells):
    monkeypatch.setattr(attention, "MAX_CELLS", cells)
    run = run_settings(*components, transforms=transforms)
    bundle = load_observed_bundle(write_bundle(tmp_path / "model", run))
    passes, encode = [], bundle.model.encode
    monkeypatch.setattr(bundle.model, "encode", lambda batch: passes.append(batch) or encode(batch))
    with bundle.reader() as reader:
        examples = reader.examples_of(reader.parts([line.split() for line in LINES]))
    trees = parse_with_all_heads(bundle, examples, method=method)
    assert list(trees) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert len(passes) == len(list(attention.bounded_batches(examples.source.ids.lengths)))
    for (layer, head), own in trees.items():
        parser = attention_parser(bundle, layer=layer, head=head)
        alone = [getattr(parse, method).tolist() for parse in parser(examples, [method])]
        assert [tree.tolist() for tree in own] == alone
        assert sorted(map(len, alone)) == sorted(len(line.split()) for line in LINES if line)


def test_a_recurrent_model_has_no_heads_to_parse_with(tmp_path):
    run = run_settings(base="recurrent", model=RecurrentSettings(width=16))
    bundle = load_observed_bundle(write_bundle(tmp_path / "model", run))
    with bundle.reader() as reader:
        examples = reader.examples_of(reader.parts([["the"]]))
    with pytest.raises(UserError, match=r"is recurrent: its encoder has no attention heads\.$"):
        parse_with_all_heads(bundle, examples, method="one_root")


def test_a_missing_head_is_an_error(tmp_path):
    bundle = load_observed_bundle(write_bundle(tmp_path / "model"))
    for layer, head in [(2, 0), (0, 2)]:
        with pytest.raises(
            UserError, match=rf"no head {layer}\.{head}: its layers are 0 to 1, the heads of each 0 to 1"
        ):
            attention_parser(bundle, layer=layer, head=head)
