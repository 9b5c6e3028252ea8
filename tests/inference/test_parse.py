"""Parses from scores, their files, and batches of sentences for inference."""

import numpy as np
import pytest
import torch
from inference.tiny import random_examples, random_model

from nmtcore.config.components.settings import DepParseSettings, DiagonalParseSettings
from nmtcore.errors import UserError
from nmtcore.inference.batches import MAX_TOKENS, batches_by_length
from nmtcore.inference.parse import parse_examples, parse_of
from nmtcore.inference.schemas import write_parses
from nmtcore.parquet import read_rows
from nmtcore.syntax.annotation import tree_fault


def test_heads_are_one_based_with_0_for_the_root():
    # Words 1 and 2 point to each other; the tree must break the cycle where it costs least.
    scores = np.log(np.array([[0.1, 0.0, 0.9], [0.3, 0.7, 0.0]]) + 1e-9)
    parse = parse_of(scores, to_root=True)
    assert parse.argmax.tolist() == [2, 1]
    assert parse.one_root.tolist() == parse.many_roots.tolist() == [2, 0]


def test_trees_with_one_root_or_many():
    scores = np.log(np.array([[0.9, 0.0, 0.1], [0.8, 0.2, 0.0]]) + 1e-9)
    parse = parse_of(scores, to_root=True)
    assert parse.many_roots.tolist() == [0, 0]
    assert parse.one_root.tolist() == [0, 1]


def test_without_an_artificial_root_only_the_argmax_is_computed():
    parse = parse_of(np.log(np.array([[0.9, 0.1], [0.8, 0.2]])), to_root=False)
    assert parse.argmax.tolist() == [1, 1]
    assert parse.one_root is None
    assert parse.many_roots is None


@pytest.mark.parametrize("to_root", [True, False])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_scores_of_a_model_that_diverged_are_an_error(to_root, value):
    scores = np.zeros((2, 3) if to_root else (2, 2))
    scores[1, 0] = value
    with pytest.raises(UserError, match="The model cannot be used, since its scores of heads are not finite"):
        parse_of(scores, to_root=to_root)
    scores[1, 0] = -np.inf
    assert parse_of(scores, to_root=to_root).argmax.tolist() == ([0, 1] if to_root else [1, 2])


@pytest.mark.parametrize("component", [DepParseSettings(layer=0), DiagonalParseSettings(layer=1)])
def test_weights_that_diverged_are_an_error(component):
    model = random_model(component)
    for parameter in model.encoder.parameters():
        parameter.data.fill_(torch.nan)
    with pytest.raises(UserError, match="training diverged"):
        parse_examples(model, random_examples(3))


@pytest.mark.parametrize("component", [DepParseSettings(layer=0), DiagonalParseSettings(layer=1)])
def test_parses_are_in_order_and_independent_of_the_batch_size(component):
    model, examples = random_model(component), random_examples(20)
    together, alone = parse_examples(model, examples), parse_examples(model, examples, batch_sentences=1)
    for row, (parse, parse_alone) in enumerate(zip(together, alone, strict=True)):
        words = set(examples.source.word_of_subword[row].tolist())
        assert parse.argmax.tolist() == parse_alone.argmax.tolist()
        assert len(parse.argmax) == len(words)
        if isinstance(component, DepParseSettings) and words:
            assert tree_fault(parse.many_roots.tolist()) is None
            assert tree_fault(parse.one_root.tolist()) is None
            assert parse.one_root.tolist().count(0) == 1


def test_parses_are_written_one_row_per_sentence(tmp_path):
    model, examples = random_model(DepParseSettings(layer=0)), random_examples(5)
    parses = parse_examples(model, examples)
    write_parses(tmp_path / "parses.parquet", examples.id, parses)
    rows = list(read_rows(tmp_path / "parses.parquet"))
    assert [row["id"] for row in rows] == examples.id.tolist()
    assert [row["one_root"] for row in rows] == [parse.one_root.tolist() for parse in parses]


def test_batches_hold_every_row_once_longest_first_and_within_the_token_limit():
    lengths = np.array([3, MAX_TOKENS * 2, 0, 9000, 9, 4000, 4000, 4000, 4000, 4000])
    batches = batches_by_length(lengths, sentences=3)
    assert sorted(np.concatenate(batches).tolist()) == list(range(10))
    assert [lengths[rows].tolist() for rows in batches] == [
        [MAX_TOKENS * 2],
        [9000],
        [4000, 4000, 4000],
        [4000, 4000, 9],
        [3, 0],
    ]
