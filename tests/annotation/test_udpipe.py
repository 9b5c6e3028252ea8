"""The UDPipe annotator."""

from itertools import islice
from types import SimpleNamespace

import pytest
from annotation.annotating import annotate_words
from annotation.test_spacy import gold
from pair_files import write_corpus

from nmtcore.annotation import udpipe
from nmtcore.annotation.base import AnnotationTask
from nmtcore.annotation.shards import annotate_shard
from nmtcore.config.annotators import UdPipeSettings
from nmtcore.errors import UserError
from nmtcore.evaluation.attachment import attachment, is_punctuation
from nmtcore.parquet import read_rows
from nmtcore.syntax.annotation import tree_fault

MODEL = "de_ud.udpipe"


@pytest.fixture(scope="module")
def models(shared):
    return shared / "models"


def annotate(sentences, models, **settings):
    task = AnnotationTask(side="source", language="de", model_folders=(models,))
    return list(annotate_words(UdPipeSettings(model=MODEL, **settings), sentences, task))


def test_the_uas_on_gold_trees_is_that_of_the_model(shared, models):
    sentences = list(islice(gold(shared / "data" / "ud" / "de_pud.conllu"), 100))
    annotations = annotate([words for words, _, _ in sentences], models)
    assert all(tree_fault(annotation.head) is None for annotation in annotations)
    marks = [is_punctuation(words, upos) for words, _, upos in sentences]
    scores = attachment([a.head for a in annotations], [heads for _, heads, _ in sentences], marks)
    assert 66 < scores["uas"] < 80  # 72.1 on all 1,000 sentences
    assert {tag for a in annotations for tag in a.upos} >= {"NOUN", "VERB", "ADP", "DET"}
    assert any("Case=" in feats for a in annotations for feats in a.feats)


def test_odd_lines_do_not_change_other_lines(tmp_path, shared, models):
    with open(shared / "data" / "multi30k" / "val.de", encoding="utf-8", newline="\n") as file:
        normal = [line.split() for line in islice(file, 8)]
    odd = [
        *([], ["\u2028"], ["a\u00a0b", "\u3000", "c"], ["x"] * 300, ["\x85", "."], ["😀", "\ufeff"]),
        *(["(", "[", "_", "#", "*"], ["y" * 300, "."]),
    ]
    mixed = [words for pair in zip(normal, odd, strict=True) for words in pair]
    corpus = write_corpus(tmp_path / "corpus.parquet", mixed)
    annotate_shard(
        UdPipeSettings(model=MODEL),
        corpus=corpus,
        raw=tmp_path / "none",
        side="source",
        language="de",
        shard=0,
        shards=1,
        output=tmp_path / "out.parquet",
        model_folders=[models],
    )
    rows = list(read_rows(tmp_path / "out.parquet"))
    assert [row["id"] for row in rows] == list(range(16))
    undisturbed = annotate(normal, models)
    assert [row["head"] for row in rows[::2]] == [a.head for a in undisturbed]
    reasons = [row["reason"] for row in rows[1::2]]
    assert reasons[0] == "the sentence has no words"
    assert reasons[3] == "more than 250 words"
    assert all(
        row["reason"] is not None or len(row["head"]) == len(words) for row, words in zip(rows[1::2], odd, strict=True)
    )


def test_changed_words_are_null(models, monkeypatch):
    read_tokens = udpipe._read_tokens
    monkeypatch.setattr(udpipe, "_read_tokens", lambda tokens, words: read_tokens(tokens, [*words[:-1], "other"]))
    (annotation,) = annotate([["Ein", "Hund", "."]], models)
    assert annotation.reason == "UDPipe changed the words"


class FailingModel:
    """A model that cannot parse sentences of two words."""

    DEFAULT = ""

    def tag(self, tokens, options, error):
        return True

    def parse(self, tokens, options, error):
        words = list(tokens.words)
        for word in words[1:]:
            tokens.setHead(word.id, word.id - 1, "root" if word.id == 1 else "dep")
        return len(words) != 3


def test_a_failure_costs_one_sentence(models, monkeypatch):
    monkeypatch.setattr("ufal.udpipe.Model", SimpleNamespace(load=lambda path: FailingModel()))
    annotations = annotate([["a"] * length for length in (1, 2, 3)], models)
    assert [annotation.head for annotation in annotations] == [[0], None, [0, 1, 2]]
    assert annotations[1].reason == "UDPipe failed: no reason given"


def test_a_missing_or_broken_model_is_an_error(tmp_path):
    with pytest.raises(UserError, match=r"no UDPipe model 'de_ud.udpipe' .*`models` in config/config.yaml"):
        annotate([["a"]], tmp_path)
    (tmp_path / MODEL).write_bytes(b"no model")
    with pytest.raises(UserError, match="no model of UDPipe 1"):
        annotate([["a"]], tmp_path)
